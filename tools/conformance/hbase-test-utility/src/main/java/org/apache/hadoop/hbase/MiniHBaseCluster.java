package org.apache.hadoop.hbase;

import hblite.conformance.tests.OtherProcess;
import hblite.conformance.tests.RemoteServers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos.AdminService;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ClientService;
import org.apache.hadoop.hbase.shaded.protobuf.generated.MasterProtos.MasterService;
import org.apache.hadoop.hbase.util.JVMClusterUtil.MasterThread;
import org.apache.hadoop.hbase.util.JVMClusterUtil.RegionServerThread;

/**
 * Replaces HBase's cluster in one process, for tests whose cluster is in another process.
 *
 * <p>What a client can do it does through a client; what needs the objects of a server skips the
 * test.
 */
public class MiniHBaseCluster extends HBaseCluster {
  private final RemoteServers servers;
  private Connection connection;

  public MiniHBaseCluster(Configuration configuration) {
    super(configuration);
    servers = new RemoteServers(configuration, () -> connection().getAdmin());
  }

  private synchronized Connection connection() throws IOException {
    if (connection == null || connection.isClosed()) {
      connection = ConnectionFactory.createConnection(conf);
    }
    return connection;
  }

  public Configuration getConfiguration() {
    return conf;
  }

  @Override
  public ClusterMetrics getClusterMetrics() throws IOException {
    try (Admin admin = connection().getAdmin()) {
      return admin.getClusterMetrics();
    }
  }

  public ClusterStatus getClusterStatus() throws IOException {
    return new ClusterStatus(getClusterMetrics());
  }

  private List<ServerName> regionServers() throws IOException {
    try (Admin admin = connection().getAdmin()) {
      return new ArrayList<>(admin.getRegionServers());
    }
  }

  public int getNumLiveRegionServers() {
    try {
      return regionServers().size();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public ServerName getServerHoldingRegion(TableName table, byte[] regionName)
      throws IOException {
    try (RegionLocator locator = connection().getRegionLocator(table)) {
      for (HRegionLocation location : locator.getAllRegionLocations()) {
        if (Arrays.equals(location.getRegion().getRegionName(), regionName)) {
          return location.getServerName();
        }
      }
    }
    return null;
  }

  public int getServerWith(byte[] regionName) {
    try {
      List<ServerName> names = regionServers();
      TableName table = RegionInfo.getTable(regionName);
      return names.indexOf(getServerHoldingRegion(table, regionName));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  public int getServerWithMeta() {
    return getServerWith(RegionInfoBuilder.FIRST_META_REGIONINFO.getRegionName());
  }

  public void flushcache() throws IOException {
    try (Admin admin = connection().getAdmin()) {
      for (TableDescriptor table : admin.listTableDescriptors()) {
        if (admin.isTableEnabled(table.getTableName())) {
          admin.flush(table.getTableName());
        }
      }
    }
  }

  public void flushcache(TableName table) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      admin.flush(table);
    }
  }

  public void compact(boolean isMajor) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      for (TableDescriptor table : admin.listTableDescriptors()) {
        compact(table.getTableName(), isMajor);
      }
    }
  }

  public void compact(TableName table, boolean isMajor) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      if (isMajor) {
        admin.majorCompact(table);
      } else {
        admin.compact(table);
      }
    }
  }

  @Override
  public boolean waitForActiveAndReadyMaster(long timeoutMs) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      return admin.getMaster() != null;
    }
  }

  @Override
  public void shutdown() throws IOException {
    close();
  }

  @Override
  public synchronized void close() throws IOException {
    if (connection != null) {
      connection.close();
    }
  }

  @Override
  public void waitUntilShutDown() {
    // The process that started the cluster ends it.
  }

  public HMaster getMaster() {
    try {
      return servers.master();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public HMaster getMaster(int index) {
    throw OtherProcess.has("HMaster");
  }

  public MasterThread getMasterThread() {
    throw OtherProcess.has("HMaster");
  }

  public List<MasterThread> getMasterThreads() {
    throw OtherProcess.has("HMaster");
  }

  public List<MasterThread> getLiveMasterThreads() {
    throw OtherProcess.has("HMaster");
  }

  public MasterThread startMaster() {
    throw OtherProcess.has("HMaster");
  }

  public MasterThread stopMaster(int index) {
    throw OtherProcess.has("HMaster");
  }

  public MasterThread stopMaster(int index, boolean shutsFileSystemDown) {
    throw OtherProcess.has("HMaster");
  }

  public String waitOnMaster(int index) {
    throw OtherProcess.has("HMaster");
  }

  public HRegionServer getRegionServer(int index) {
    throw OtherProcess.has("HRegionServer");
  }

  public HRegionServer getRegionServer(ServerName name) {
    throw OtherProcess.has("HRegionServer");
  }

  public List<RegionServerThread> getRegionServerThreads() {
    return getLiveRegionServerThreads();
  }

  public List<RegionServerThread> getLiveRegionServerThreads() {
    try {
      return servers.regionServers();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Restarts the region servers that a test killed. Returns whether there were any. */
  public boolean restartDeadRegionServers() throws IOException {
    return servers.restartDead();
  }

  /** Starts a region server that was stopped again: the cluster is never larger than it began. */
  public RegionServerThread startRegionServer() throws IOException {
    return servers.start(0);
  }

  public RegionServerThread startRegionServerAndWait(long timeoutMs) throws IOException {
    return startRegionServer();
  }

  public RegionServerThread stopRegionServer(int index) {
    return stopRegionServer(index, true);
  }

  public RegionServerThread stopRegionServer(int index, boolean shutsFileSystemDown) {
    RegionServerThread thread = getRegionServerThreads().get(index);
    try {
      servers.stop(thread.getRegionServer().getServerName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return thread;
  }

  public String abortRegionServer(int index) {
    return stopRegionServer(index).getName();
  }

  /** A region server that was stopped has ended already. */
  public String waitOnRegionServer(int index) {
    return "RegionServer:" + index;
  }

  public List<HRegion> getRegions(byte[] table) {
    throw OtherProcess.has("HRegion");
  }

  public List<HRegion> getRegions(TableName table) {
    throw OtherProcess.has("HRegion");
  }

  public List<HRegion> findRegionsForTable(TableName table) {
    throw OtherProcess.has("HRegion");
  }

  @Override
  public MasterService.BlockingInterface getMasterAdminService() {
    throw OtherProcess.has("the master's service");
  }

  @Override
  public AdminService.BlockingInterface getAdminProtocol(ServerName server) {
    throw OtherProcess.has("the server's service");
  }

  @Override
  public ClientService.BlockingInterface getClientProtocol(ServerName server) {
    throw OtherProcess.has("the server's service");
  }

  @Override
  public void startRegionServer(String host, int port) throws IOException {
    servers.start(port);
  }

  @Override
  public void startMaster(String host, int port) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void startZkNode(String host, int port) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void killRegionServer(ServerName name) throws IOException {
    servers.stop(name);
  }

  @Override
  public void stopRegionServer(ServerName name) throws IOException {
    servers.stop(name);
  }

  @Override
  public void suspendRegionServer(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void resumeRegionServer(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void killZkNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void stopZkNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void startDataNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void killDataNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void stopDataNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void startNameNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void killNameNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void stopNameNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void startJournalNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void killJournalNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void stopJournalNode(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void killMaster(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void stopMaster(ServerName name) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForRegionServerToStop(ServerName name, long timeoutMs) throws IOException {
    if (regionServers().contains(name)) {
      throw new IOException(name + " was not stopped");
    }
  }

  @Override
  public void waitForZkNodeToStart(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForZkNodeToStop(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForDataNodeToStart(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForDataNodeToStop(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForNameNodeToStart(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForNameNodeToStop(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForJournalNodeToStart(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForJournalNodeToStop(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public void waitForMasterToStop(ServerName name, long timeoutMs) {
    throw OtherProcess.has("the process");
  }

  @Override
  public boolean isKilledRS(ServerName name) {
    return false;
  }
}
