package hblite.oracle.directory;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.codec.KeyValueCodecWithTags;

/** Works on the tables of a cluster, or prints all of its content, for any server. */
public final class Main {
  private static final String USAGE =
      "usage: Main HOST:PORT print [TABLE...] | fixture | mob-fixture | work SEED OPERATIONS"
          + " | snapshot TABLE... | clone TABLE... | drop TABLE... | truncate TABLE...";
  private static final String REGISTRY = "hbase.client.registry.impl";

  private Main() {}

  /**
   * Runs one command. The status is 1 if a call fails.
   *
   * @param arguments {@code host:port} of ZooKeeper and a command of {@link #USAGE}
   */
  public static void main(String[] arguments) {
    if (arguments.length < 2) {
      exitWithUsage();
    }
    List<String> rest = List.of(arguments).subList(2, arguments.length);
    try (Connection connection = ConnectionFactory.createConnection(configuration(arguments[0]))) {
      run(connection, arguments[1], rest);
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      System.exit(1);
    }
    System.out.flush();
    // Threads of HBase may still be running.
    System.exit(0);
  }

  private static void run(Connection connection, String command, List<String> arguments)
      throws IOException {
    switch (command) {
      case "print" -> {
        Printer printer = new Printer(connection, System.out);
        if (arguments.isEmpty()) {
          printer.print();
        }
        for (String table : arguments) {
          printer.print(TableName.valueOf(table));
        }
      }
      case "fixture" -> Fixture.fill(connection);
      case "mob-fixture" -> MobFixture.fill(connection);
      case "work" -> {
        Random random = new Random(Long.parseLong(arguments.get(0)));
        new Worker(connection, random).work(Integer.parseInt(arguments.get(1)));
      }
      case "snapshot" -> {
        for (String table : arguments) {
          Snapshots.take(connection, TableName.valueOf(table));
        }
      }
      case "clone" -> {
        for (String table : arguments) {
          Snapshots.makeTable(connection, TableName.valueOf(table));
        }
      }
      case "drop" -> {
        for (String table : arguments) {
          Snapshots.drop(connection, TableName.valueOf(table));
        }
      }
      case "truncate" -> {
        for (String table : arguments) {
          Snapshots.truncate(connection, TableName.valueOf(table));
        }
      }
      default -> exitWithUsage();
    }
  }

  private static void exitWithUsage() {
    System.err.println(USAGE);
    System.exit(2);
  }

  private static Configuration configuration(String zooKeeper) {
    String[] hostAndPort = zooKeeper.split(":");
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, hostAndPort[0]);
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, hostAndPort[1]);
    // HBase 3 would look for a master at its usual port.
    configuration.set(REGISTRY, "org.apache.hadoop.hbase.client.ZKConnectionRegistry");
    // Times to live are tags, which a client receives only through this codec.
    configuration.set(HConstants.RPC_CODEC_CONF_KEY, KeyValueCodecWithTags.class.getName());
    return configuration;
  }
}
