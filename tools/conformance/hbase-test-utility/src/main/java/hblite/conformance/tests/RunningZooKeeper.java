package hblite.conformance.tests;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/** The ZooKeeper of a cluster in another process, which it starts and ends. */
final class RunningZooKeeper extends MiniZooKeeperCluster {
  private final int port;

  RunningZooKeeper(Configuration configuration, int port) {
    super(configuration);
    this.port = port;
    addClientPort(port);
  }

  @Override
  public int getClientPort() {
    return port;
  }

  @Override
  public int getZooKeeperServerNum() {
    return 1;
  }

  @Override
  public void shutdown() {
    // It ends with the cluster.
  }
}
