package hblite.conformance;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Measures the first batch of puts after a change that leaves the client with stale locations. */
public final class StaleRegions {
  private static final TableName NAME = TableName.valueOf("stale");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[][] SPLITS = {Bytes.toBytes("g"), Bytes.toBytes("p")};
  private static final int ROUNDS = 21;

  private StaleRegions() {}

  private interface Change {
    void make() throws IOException;
  }

  /**
   * Prints a line for each change.
   *
   * @param arguments host and port of ZooKeeper
   */
  public static void main(String[] arguments) throws IOException {
    String[] address = arguments[0].split(":");
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, address[0]);
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, address[1]);
    TableDescriptor descriptor =
        TableDescriptorBuilder.newBuilder(NAME)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
            .build();
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(NAME)) {
      Map<String, Change> changes = new LinkedHashMap<>();
      changes.put("nothing", () -> {});
      changes.put("disable, enable", () -> admin.enableTable(NAME));
      changes.put("truncate_preserve", () -> admin.truncateTable(NAME, true));
      changes.put("truncate", () -> admin.truncateTable(NAME, false));
      changes.put("drop, create", () -> {
        admin.deleteTable(NAME);
        admin.createTable(descriptor, SPLITS);
      });
      admin.createTable(descriptor, SPLITS);
      batch(table);
      for (var change : changes.entrySet()) {
        double[] took = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
          batch(table);
          if (!change.getKey().equals("nothing")) {
            admin.disableTable(NAME);
          }
          change.getValue().make();
          took[round] = batch(table);
        }
        Arrays.sort(took);
        System.out.printf(
            "%-18s median %6.1f ms, slowest %6.1f ms of %d%n",
            change.getKey(), took[ROUNDS / 2], took[ROUNDS - 1], ROUNDS);
      }
      admin.disableTable(NAME);
      admin.deleteTable(NAME);
    }
  }

  /** Puts a row for each letter. Returns how long that took, in milliseconds. */
  private static double batch(Table table) throws IOException {
    List<Put> puts = new ArrayList<>();
    for (char row = 'a'; row <= 'z'; row++) {
      puts.add(new Put(Bytes.toBytes(String.valueOf(row))).addColumn(FAMILY, FAMILY, FAMILY));
    }
    long start = System.nanoTime();
    table.put(puts);
    return (System.nanoTime() - start) / 1e6;
  }
}
