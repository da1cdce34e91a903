package hblite.oracle.local;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.hbck.HbckReport;
import org.apache.hadoop.hbase.master.janitor.CatalogJanitorReport;
import org.apache.hadoop.hbase.util.JVMClusterUtil;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * A standalone HBase in this process: ZooKeeper, one master and region servers on local files.
 *
 * <p>When it accepts requests, it prints {@code ZooKeeper at localhost:PORT} and {@code master at
 * HOST,PORT,START} on its standard output. It answers each line of its standard input with what
 * HBase finds inconsistent, and stops when the input ends, so it never outlives its parent. Its
 * store needs an empty directory, which can be deleted afterwards.
 */
public final class LocalHBase {
  private static final int LOOK_AGAIN_MS = 100;
  private static final int NEVER_BY_ITSELF = 10_000;
  private static final int FILES_GO_AFTER_MS = 1_000;

  private LocalHBase() {}

  /**
   * Runs until the standard input ends. The status is 1 if HBase could not be started.
   *
   * @param arguments the directory for the store, and the number of region servers if not one
   */
  public static void main(String[] arguments) {
    if (arguments.length < 1 || arguments.length > 2) {
      System.err.println("usage: LocalHBase DIRECTORY [REGION-SERVERS]");
      System.exit(2);
    }
    try {
      run(
          Path.of(arguments[0]).toAbsolutePath(),
          arguments.length == 1 ? 1 : Integer.parseInt(arguments[1]));
    } catch (IOException | InterruptedException | RuntimeException | LinkageError e) {
      e.printStackTrace();
      System.exit(1);
    }
    // Threads of HBase and Hadoop may still run.
    System.exit(0);
  }

  private static void run(Path directory, int regionServers)
      throws IOException, InterruptedException {
    Configuration configuration = configuration(directory);
    MiniZooKeeperCluster zooKeeper = new MiniZooKeeperCluster(configuration);
    int port = zooKeeper.startup(Files.createDirectories(directory.resolve("zookeeper")).toFile());
    configuration.setInt(HConstants.ZOOKEEPER_CLIENT_PORT, port);
    // Several servers in a process have metrics of the same names.
    DefaultMetricsSystem.setMiniClusterMode(regionServers > 1);
    LocalHBaseCluster cluster = new LocalHBaseCluster(configuration, 1, regionServers);
    cluster.startup();
    waitUntilReady(cluster, regionServers);
    System.out.println("ZooKeeper at localhost:" + port);
    System.out.println("master at " + cluster.getMasters().get(0).getMaster().getServerName());
    answer(cluster.getMasters().get(0).getMaster());
    cluster.shutdown();
    cluster.join();
    zooKeeper.shutdown();
  }

  /** Until the input ends. A line, whatever it says, asks for what HBase finds inconsistent. */
  private static void answer(HMaster master) throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (lines.readLine() != null) {
      master.getCatalogJanitor().scan();
      CatalogJanitorReport catalog = master.getCatalogJanitor().getLastReport();
      master.getHbckChore().runChore();
      HbckReport regions = master.getHbckChore().getLastReport();
      System.out.println(
          "inconsistencies: "
              + (catalog.isEmpty() ? "" : catalog.toString())
              + String.join(" ", regions.getOrphanRegionsOnFS().keySet())
              + String.join(" ", regions.getOrphanRegionsOnRS().keySet())
              + String.join(" ", regions.getInconsistentRegions().keySet()));
    }
  }

  private static void waitUntilReady(LocalHBaseCluster cluster, int regionServers)
      throws InterruptedException {
    JVMClusterUtil.MasterThread master = cluster.getMasters().get(0);
    while (!master.getMaster().isInitialized()
        || master.getMaster().getServerManager().countOfRegionServers() < regionServers) {
      if (!master.isAlive()) {
        throw new IllegalStateException("the master did not start: see its log");
      }
      Thread.sleep(LOOK_AGAIN_MS);
    }
  }

  private static Configuration configuration(Path directory) {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.HBASE_DIR, directory.resolve("hbase").toUri().toString());
    configuration.set("hadoop.tmp.dir", directory.resolve("hadoop").toString());
    configuration.set("hbase.tmp.dir", directory.resolve("tmp").toString());
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "localhost");
    // The local file system lacks guarantees of HDFS.
    configuration.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    for (String port : new String[] {HConstants.MASTER_PORT, HConstants.REGIONSERVER_PORT}) {
      configuration.setInt(port, 0);
    }
    for (String page : new String[] {"hbase.master.info.port", "hbase.regionserver.info.port"}) {
      configuration.setInt(page, -1);
    }
    // Files change only when an operation says so, and files that a compaction replaced are removed
    // immediately: a region with leftovers can be neither split nor merged.
    configuration.setInt("hbase.hstore.compaction.min", NEVER_BY_ITSELF);
    configuration.setInt(HConstants.MAJOR_COMPACTION_PERIOD, 0);
    configuration.setInt("hbase.hfile.compaction.discharger.interval", FILES_GO_AFTER_MS);
    // Settings can be given as system properties.
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith("hbase.")) {
        configuration.set(name, System.getProperty(name));
      }
    }
    return configuration;
  }
}
