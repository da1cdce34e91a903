package hblite.conformance.tests;

import java.io.IOException;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Coprocessor;
import org.apache.hadoop.hbase.HBaseCluster;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HBaseZKTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.HBaseAdmin;
import org.apache.hadoop.hbase.coprocessor.CoprocessorHost;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.hbase.zookeeper.ZKConfig;

/** Starts and stops the cluster of a test, and connects to it. */
public abstract class ClusterUtility extends HBaseZKTestingUtility {
  private Cluster cluster;
  private MiniHBaseCluster miniCluster;
  private Connection connection;
  private HBaseAdmin admin;

  protected ClusterUtility(Configuration configuration) {
    super(configuration);
  }

  protected static Configuration defaultConfiguration() {
    return HBaseConfiguration.addHbaseResources(new TestConfiguration());
  }

  public MiniHBaseCluster startMiniCluster() throws Exception {
    return startMiniCluster(1);
  }

  public MiniHBaseCluster startMiniCluster(int regionServers) throws Exception {
    if (miniCluster != null) {
      throw new IllegalStateException("a cluster is already running");
    }
    cluster = Cluster.start(regionServers, conf);
    cluster.configure(conf);
    conf.set(HConstants.HBASE_DIR, cluster.store().toUri().toString());
    MiniZooKeeperCluster zooKeeper = cluster.zooKeeper(conf);
    if (zooKeeper != null) {
      setZkCluster(zooKeeper);
    }
    startMasterCoprocessors();
    miniCluster = new MiniHBaseCluster(conf);
    return miniCluster;
  }

  /** Some tests check whether their own were started; the cluster does not know them. */
  private void startMasterCoprocessors() {
    for (String name : conf.getTrimmedStrings(CoprocessorHost.MASTER_COPROCESSOR_CONF_KEY)) {
      try {
        Class<?> type = Class.forName(name);
        ((Coprocessor) type.getDeclaredConstructor().newInstance()).start(null);
      } catch (ReflectiveOperationException | IOException | RuntimeException e) {
        // It needs a master.
        continue;
      }
    }
  }

  public MiniHBaseCluster startMiniCluster(int masters, int regionServers) throws Exception {
    return startMiniCluster(regionServers);
  }

  public MiniHBaseCluster startMiniCluster(StartMiniClusterOption option) throws Exception {
    return startMiniCluster(option.getNumRegionServers());
  }

  public void shutdownMiniCluster() throws IOException {
    closeConnection();
    if (miniCluster != null) {
      miniCluster.close();
      miniCluster = null;
    }
    if (cluster != null) {
      cluster.close();
      cluster = null;
      conf.setInt(Endpoint.PORT, 0);
    }
    cleanupTestDir();
  }

  public void shutdownMiniHBaseCluster() {
    throw OtherProcess.has("the cluster");
  }

  public void killMiniHBaseCluster() {
    throw OtherProcess.has("the cluster");
  }

  public void restartHBaseCluster(int regionServers) {
    throw OtherProcess.has("the cluster");
  }

  public MiniHBaseCluster getMiniHBaseCluster() {
    if (miniCluster == null) {
      throw new IllegalStateException("no cluster is running");
    }
    return miniCluster;
  }

  public MiniHBaseCluster getHBaseCluster() {
    return getMiniHBaseCluster();
  }

  public HBaseCluster getHBaseClusterInterface() {
    return getMiniHBaseCluster();
  }

  public synchronized Connection getConnection() throws IOException {
    if (connection == null || connection.isClosed()) {
      connection = ConnectionFactory.createConnection(conf);
    }
    return connection;
  }

  public synchronized void invalidateConnection() throws IOException {
    closeConnection();
  }

  public synchronized void closeConnection() throws IOException {
    if (admin != null) {
      admin.close();
      admin = null;
    }
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  public synchronized HBaseAdmin getHBaseAdmin() throws IOException {
    if (admin == null) {
      admin = (HBaseAdmin) getConnection().getAdmin();
    }
    return admin;
  }

  public Admin getAdmin() throws IOException {
    return getHBaseAdmin();
  }

  public String getClusterKey() {
    return ZKConfig.getZooKeeperClusterKey(conf);
  }

  public static UUID getRandomUUID() {
    return HBaseZKTestingUtility.getRandomUUID();
  }

  public FileSystem getTestFileSystem() throws IOException {
    return FileSystem.get(conf);
  }

  public Path getDataTestDirOnTestFS() {
    return getDataTestDir();
  }

  public Path getDataTestDirOnTestFS(String name) {
    return getDataTestDir(name);
  }

  public Path getDefaultRootDirPath() {
    throw OtherProcess.has("the cluster's directory");
  }

  public HRegionServer getRSForFirstRegionInTable(TableName table) {
    throw OtherProcess.has("HRegionServer");
  }

  public HRegionServer getOtherRegionServer(HRegionServer server) {
    throw OtherProcess.has("HRegionServer");
  }

  public boolean ensureSomeRegionServersAvailable(int count) throws IOException {
    if (getAdmin().getRegionServers().size() >= count) {
      return false;
    }
    boolean wereAnyDead = getMiniHBaseCluster().restartDeadRegionServers();
    if (getAdmin().getRegionServers().size() < count) {
      throw OtherProcess.has("a region server to add");
    }
    return wereAnyDead;
  }

  public boolean ensureSomeNonStoppedRegionServersAvailable(int count) throws IOException {
    return ensureSomeRegionServersAvailable(count);
  }

  public void flush() throws IOException {
    getMiniHBaseCluster().flushcache();
  }

  public void flush(TableName table) throws IOException {
    getMiniHBaseCluster().flushcache(table);
  }

  public void compact(boolean isMajor) throws IOException {
    getMiniHBaseCluster().compact(isMajor);
  }

  public void compact(TableName table, boolean isMajor) throws IOException {
    getMiniHBaseCluster().compact(table, isMajor);
  }
}
