package hblite.oracle.directory;

import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.codec.KeyValueCodecWithTags;

/** Works on the tables of a cluster, or prints all that is in it, whichever server it is. */
public final class Main {
  private static final String REGISTRY = "hbase.client.registry.impl";

  private Main() {}

  /**
   * Works or prints. The status is 1 if a call fails.
   *
   * @param arguments {@code host:port} of ZooKeeper and {@code print} or {@code fixture}; or {@code
   *     work}, a seed and the number of operations
   */
  public static void main(String[] arguments) {
    boolean prints = arguments.length == 2 && arguments[1].equals("print");
    boolean isFixture = arguments.length == 2 && arguments[1].equals("fixture");
    if (!prints && !isFixture && !(arguments.length == 4 && arguments[1].equals("work"))) {
      System.err.println("usage: Main HOST:PORT print|fixture | Main HOST:PORT work SEED OPERATIONS");
      System.exit(2);
    }
    try (Connection connection = ConnectionFactory.createConnection(configuration(arguments[0]))) {
      if (prints) {
        new Printer(connection, System.out).print();
      } else if (isFixture) {
        Fixture.fill(connection);
      } else {
        Random random = new Random(Long.parseLong(arguments[2]));
        new Worker(connection, random).work(Integer.parseInt(arguments[3]));
      }
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      System.exit(1);
    }
    System.out.flush();
    // Threads of HBase may still be there.
    System.exit(0);
  }

  private static Configuration configuration(String zooKeeper) {
    String[] hostAndPort = zooKeeper.split(":");
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, hostAndPort[0]);
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, hostAndPort[1]);
    // HBase 3 would look for a master at its usual port.
    configuration.set(REGISTRY, "org.apache.hadoop.hbase.client.ZKConnectionRegistry");
    // Times to live are tags, which a client gets through this codec alone.
    configuration.set(HConstants.RPC_CODEC_CONF_KEY, KeyValueCodecWithTags.class.getName());
    return configuration;
  }
}
