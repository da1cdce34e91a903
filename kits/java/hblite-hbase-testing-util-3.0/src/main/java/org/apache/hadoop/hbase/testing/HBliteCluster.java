package org.apache.hadoop.hbase.testing;

import hblite.testing.HBliteServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.OnlineRegions;
import org.apache.hadoop.hbase.regionserver.Region;

/** A cluster that is a process of hblite. One thread at a time. */
final class HBliteCluster implements TestingHBaseCluster {
  private final Configuration configuration;
  private final int regionServers;
  private HBliteServer server;
  private Connection connection;
  /** Ports of region servers, in the order of their numbers. */
  private List<Integer> ports = List.of();
  /** Numbers of those that were stopped. */
  private final Deque<Integer> stopped = new ArrayDeque<>();

  HBliteCluster(TestingHBaseClusterOption option) {
    configuration = HBaseConfiguration.create();
    if (option.conf() != null) {
      HBaseConfiguration.merge(configuration, option.conf());
    }
    regionServers = option.getNumRegionServers();
  }

  @Override
  public Configuration getConf() {
    return configuration;
  }

  @Override
  public void start() throws Exception {
    if (server != null) {
      throw new IllegalStateException("the cluster was already started");
    }
    server = HBliteServer.builder().regionServers(regionServers).start();
    server.settings().forEach(configuration::set);
    connection = ConnectionFactory.createConnection(configuration);
    ports = new ArrayList<>();
    getRegionServerAddresses().forEach(name -> ports.add(name.getPort()));
    ports.sort(null);
  }

  @Override
  public void stop() throws Exception {
    if (server == null) {
      return;
    }
    try {
      if (connection != null) {
        connection.close();
      }
    } finally {
      server.close();
      server = null;
    }
  }

  @Override
  public void startHBaseCluster() {
    throw unsupported("its data is gone when it stops");
  }

  @Override
  public void stopHBaseCluster() throws Exception {
    stop();
  }

  @Override
  public boolean isHBaseClusterRunning() {
    return server != null;
  }

  @Override
  public boolean isClusterRunning() {
    return server != null;
  }

  @Override
  public void startMaster() {
    throw unsupported("it has one master");
  }

  @Override
  public void startMaster(String hostname, int port) {
    throw unsupported("it has one master");
  }

  @Override
  public CompletableFuture<Void> stopMaster(ServerName serverName) {
    throw unsupported("it has one master");
  }

  @Override
  public void startRegionServer() {
    if (stopped.isEmpty()) {
      throw unsupported("region servers are started with it, and can only be brought back");
    }
    server.restart(stopped.pop());
  }

  @Override
  public void startRegionServer(String hostname, int port) {
    int number = ports.indexOf(port);
    if (!stopped.remove(number)) {
      throw unsupported("no region server with port " + port + " was stopped");
    }
    server.restart(number);
  }

  @Override
  public CompletableFuture<Void> stopRegionServer(ServerName serverName) {
    int number = ports.indexOf(serverName.getPort());
    if (number < 0 || stopped.contains(number)) {
      throw new IllegalArgumentException(serverName + " is not a region server that runs");
    }
    server.crash(number);
    stopped.push(number);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public Optional<ServerName> getActiveMasterAddress() {
    return Optional.of(ask(Admin::getMaster));
  }

  @Override
  public List<ServerName> getBackupMasterAddresses() {
    return List.of();
  }

  @Override
  public List<ServerName> getRegionServerAddresses() {
    return List.copyOf(ask(Admin::getRegionServers));
  }

  @Override
  public Optional<Region> getRegion(RegionInfo regionInfo) {
    return Optional.empty();
  }

  @Override
  public Optional<OnlineRegions> getOnlineRegionsInterface(ServerName serverName) {
    return Optional.empty();
  }

  private interface Question<T> {
    T of(Admin admin) throws IOException;
  }

  private <T> T ask(Question<T> question) {
    try (Admin admin = connection.getAdmin()) {
      return question.of(admin);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static UnsupportedOperationException unsupported(String why) {
    return new UnsupportedOperationException("hblite cannot do this: " + why);
  }
}
