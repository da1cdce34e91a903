package hblite.conformance.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/** The cluster of a test. */
interface Cluster extends AutoCloseable {
  /**
   * Starts one and waits until it accepts requests: in this process if the environment variable
   * {@code HBLITE_IN_PROCESS} is 1, otherwise in its own.
   *
   * @param regionServers how many region servers it shows
   * @param configuration the test's settings
   */
  static Cluster start(int regionServers, Configuration configuration) throws IOException {
    return "1".equals(System.getenv("HBLITE_IN_PROCESS"))
        ? EmbeddedCluster.start(regionServers, configuration)
        : ProcessCluster.start(regionServers, configuration);
  }

  /** Makes connections with these settings lead to it. */
  void configure(Configuration configuration) throws IOException;

  /** Its ZooKeeper, or null if it has none. */
  MiniZooKeeperCluster zooKeeper(Configuration configuration);

  /** The directory of its files. */
  Path store();

  @Override
  void close() throws IOException;

  /** Removes a directory with all that is in it. */
  static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
