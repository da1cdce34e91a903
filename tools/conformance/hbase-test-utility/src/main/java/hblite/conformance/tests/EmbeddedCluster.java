package hblite.conformance.tests;

import hblite.embedded.EmbeddedHBlite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/** A cluster in this process: no ports, no ZooKeeper. */
final class EmbeddedCluster implements Cluster {
  /** The setting by which connections and requests find it. */
  private static final String STORE = "hblite.embedded.store";

  private static final Map<String, EmbeddedHBlite> OPEN = new ConcurrentHashMap<>();

  private final EmbeddedHBlite hblite;
  private final Path directory;

  private EmbeddedCluster(EmbeddedHBlite hblite, Path directory) {
    this.hblite = hblite;
    this.directory = directory;
    OPEN.put(hblite.settings().get(STORE), hblite);
  }

  static Cluster start(int regionServers, Configuration configuration) throws IOException {
    Path directory = Files.createTempDirectory("hbase-tests");
    EmbeddedHBlite.Builder builder = EmbeddedHBlite.builder().regionServers(regionServers);
    Settings.known(configuration).forEach(builder::set);
    return new EmbeddedCluster(builder.open(directory.resolve("store")), directory);
  }

  /** The store of the cluster with these settings, or null if that is in another process. */
  static EmbeddedHBlite of(Configuration configuration) {
    return OPEN.get(configuration.get(STORE, ""));
  }

  @Override
  public void configure(Configuration configuration) {
    hblite.settings().forEach(configuration::set);
  }

  @Override
  public MiniZooKeeperCluster zooKeeper(Configuration configuration) {
    return null;
  }

  @Override
  public Path store() {
    return directory.resolve("store");
  }

  @Override
  public void close() throws IOException {
    OPEN.values().remove(hblite);
    hblite.close();
    Cluster.remove(directory);
  }
}
