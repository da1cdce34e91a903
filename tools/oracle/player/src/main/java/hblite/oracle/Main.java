package hblite.oracle;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * Plays golden operations against a real HBase: records its answers, or compares them with recorded
 * ones. Exits with 0 if all agree, 1 if some differ, 2 if the comparison failed.
 */
public final class Main {
  private static final int TRIES = 6;
  private static final int PAUSE_MS = 30;
  private static final int TIMEOUT_MS = 60_000;

  private Main() {}

  /** Runs the command line. */
  public static void main(String[] arguments) throws InterruptedException {
    System.exit(run(arguments));
  }

  private static int run(String[] arguments) throws InterruptedException {
    try {
      Options options = Options.parse(arguments);
      try (Connection connection = ConnectionFactory.createConnection(configuration(options));
          Admin admin = connection.getAdmin()) {
        Run run = new Run(connection, admin, options.records(), System.out);
        for (Path file : options.files()) {
          run.play(file);
        }
        System.out.println(run.summary());
        return run.hasFailed() ? 1 : 0;
      }
    } catch (Options.Wrong e) {
      System.err.println(e.getMessage() + "\n" + Options.USAGE);
    } catch (IOException e) {
      System.err.println("oracle: " + e.getMessage());
    }
    return 2;
  }

  private static Configuration configuration(Options options) throws Options.Wrong, IOException {
    Configuration configuration = HBaseConfiguration.create();
    if (options.settings() != null) {
      configuration.addResource(options.settings().toUri().toURL());
    }
    if (options.zooKeeper() != null) {
      int colon = options.zooKeeper().lastIndexOf(':');
      if (colon < 0) {
        throw new Options.Wrong("no port in " + options.zooKeeper());
      }
      configuration.set(HConstants.ZOOKEEPER_QUORUM, options.zooKeeper().substring(0, colon));
      configuration.set(
          HConstants.ZOOKEEPER_CLIENT_PORT, options.zooKeeper().substring(colon + 1));
    }
    // Recorded errors say whether the client tried again, so it tries as often everywhere.
    configuration.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, TRIES - 1);
    configuration.setInt(HConstants.HBASE_CLIENT_PAUSE, PAUSE_MS);
    configuration.setInt(HConstants.HBASE_CLIENT_OPERATION_TIMEOUT, TIMEOUT_MS);
    configuration.setInt(HConstants.HBASE_CLIENT_SCANNER_TIMEOUT_PERIOD, TIMEOUT_MS);
    configuration.setInt(HConstants.HBASE_RPC_TIMEOUT_KEY, TIMEOUT_MS);
    return configuration;
  }
}
