package org.apache.hadoop.hbase.testing;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.OnlineRegions;
import org.apache.hadoop.hbase.regionserver.Region;

/**
 * HBase's interface for clusters in tests, which starts hblite: it precedes HBase's own on the
 * class path. What needs server objects in this process throws {@link
 * UnsupportedOperationException}.
 */
public interface TestingHBaseCluster {
  /** A cluster that has not started. */
  static TestingHBaseCluster create(TestingHBaseClusterOption option) {
    return new HBliteCluster(option);
  }

  /** Settings with which a client connects. Complete once the cluster has started. */
  Configuration getConf();

  /** hblite has one master: not supported. */
  void startMaster() throws Exception;

  /** hblite has one master: not supported. */
  void startMaster(String hostname, int port) throws Exception;

  /** hblite has one master, which cannot be stopped alone: not supported. */
  CompletableFuture<Void> stopMaster(ServerName serverName) throws Exception;

  /** Brings back the region server that was stopped last. */
  void startRegionServer() throws Exception;

  /** Brings back the region server that was stopped and had this port. */
  void startRegionServer(String hostname, int port) throws Exception;

  /** Crashes a region server, whose regions move to the others. */
  CompletableFuture<Void> stopRegionServer(ServerName serverName) throws Exception;

  /** As {@link #stop}. */
  void stopHBaseCluster() throws Exception;

  /** hblite keeps no data for a restart: not supported after {@link #stopHBaseCluster}. */
  void startHBaseCluster() throws Exception;

  /** Whether it runs. */
  boolean isHBaseClusterRunning();

  /** Starts it, and returns when it is ready. */
  void start() throws Exception;

  /** The master. */
  Optional<ServerName> getActiveMasterAddress();

  /** Empty: hblite has no backup masters. */
  List<ServerName> getBackupMasterAddresses();

  /** The live region servers. */
  List<ServerName> getRegionServerAddresses();

  /** Empty: regions are in another process. */
  Optional<Region> getRegion(RegionInfo regionInfo);

  /** Empty: regions are in another process. */
  Optional<OnlineRegions> getOnlineRegionsInterface(ServerName serverName);

  /** Whether it runs. */
  boolean isClusterRunning();

  /** Ends it. */
  void stop() throws Exception;
}
