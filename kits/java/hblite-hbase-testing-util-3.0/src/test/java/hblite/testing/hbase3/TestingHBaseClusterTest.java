package hblite.testing.hbase3;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testing.TestingHBaseCluster;
import org.apache.hadoop.hbase.testing.TestingHBaseClusterOption;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** A test that was written for HBase's TestingHBaseCluster. */
public class TestingHBaseClusterTest {
  private static final TestingHBaseCluster CLUSTER =
      TestingHBaseCluster.create(TestingHBaseClusterOption.builder().numRegionServers(2).build());
  private static final TableName NAME = TableName.valueOf("t");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("r");

  @BeforeClass
  public static void start() throws Exception {
    CLUSTER.start();
  }

  @AfterClass
  public static void stop() throws Exception {
    CLUSTER.stop();
    assertFalse(CLUSTER.isClusterRunning());
  }

  @Test
  public void aTableOutlivesARegionServer() throws Exception {
    assertTrue(CLUSTER.isClusterRunning());
    assertEquals(2, CLUSTER.getRegionServerAddresses().size());
    try (Connection connection = ConnectionFactory.createConnection(CLUSTER.getConf());
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(NAME)) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build());
      table.put(new Put(ROW).addColumn(FAMILY, FAMILY, ROW));
      ServerName server = CLUSTER.getRegionServerAddresses().get(0);
      CLUSTER.stopRegionServer(server).get();
      assertEquals(1, CLUSTER.getRegionServerAddresses().size());
      assertArrayEquals(ROW, table.get(new Get(ROW)).getValue(FAMILY, FAMILY));
      CLUSTER.startRegionServer();
      assertEquals(2, CLUSTER.getRegionServerAddresses().size());
    }
    assertThrows(UnsupportedOperationException.class, CLUSTER::startMaster);
  }
}
