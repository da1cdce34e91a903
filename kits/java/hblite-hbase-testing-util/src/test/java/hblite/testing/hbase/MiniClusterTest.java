package hblite.testing.hbase;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.Assume;
import org.junit.BeforeClass;
import org.junit.Test;

/** A test that was written for HBase's mini cluster. */
public class MiniClusterTest {
  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("r");

  @BeforeClass
  public static void start() throws Exception {
    UTIL.startMiniCluster(2);
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @Test
  public void aTableIsWrittenAndRead() throws Exception {
    assertEquals(2, UTIL.getAdmin().getRegionServers().size());
    try (Table table = UTIL.createTable(TableName.valueOf("t"), FAMILY)) {
      table.put(new Put(ROW).addColumn(FAMILY, FAMILY, ROW));
      assertArrayEquals(ROW, table.get(new Get(ROW)).getValue(FAMILY, FAMILY));
    }
  }

  @Test
  public void itsZooKeeperIsKnown() throws Exception {
    Assume.assumeFalse("no ports", "1".equals(System.getenv("HBLITE_IN_PROCESS")));
    int port = UTIL.getZkCluster().getClientPort();
    assertEquals(UTIL.getConfiguration().getInt("hbase.zookeeper.property.clientPort", 0), port);
    assertEquals(port, UTIL.getZkCluster().getAddress().getPort());
  }

  @Test
  public void aRegionServerStopsAndStartsAgain() throws Exception {
    MiniHBaseCluster cluster = UTIL.getMiniHBaseCluster();
    try (Table table = UTIL.createTable(TableName.valueOf("u"), FAMILY)) {
      table.put(new Put(ROW).addColumn(FAMILY, FAMILY, ROW));
      ServerName stopped = cluster.stopRegionServer(0).getRegionServer().getServerName();
      cluster.waitOnRegionServer(0);
      cluster.waitForRegionServerToStop(stopped, 10_000);
      assertEquals(1, cluster.getNumLiveRegionServers());
      assertArrayEquals(ROW, table.get(new Get(ROW)).getValue(FAMILY, FAMILY));
      ServerName started = cluster.startRegionServer().getRegionServer().getServerName();
      assertEquals(stopped.getPort(), started.getPort());
      assertEquals(2, cluster.getNumLiveRegionServers());
      cluster.stopRegionServer(started);
      cluster.startRegionServer(started.getHostname(), started.getPort());
      cluster.waitForRegionServerToStart(started.getHostname(), started.getPort(), 10_000);
      assertArrayEquals(ROW, table.get(new Get(ROW)).getValue(FAMILY, FAMILY));
    }
  }
}
