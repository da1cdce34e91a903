package hblite.oracle.directory;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Fills an empty cluster with the little that {@code tests/fixtures/hbase-root/mob} holds: a table
 * whose larger values are in files of their own, split, with some cells in the log alone, and a
 * table cloned from its snapshot, which refers to the files of the first.
 */
final class MobFixture {
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final int ROWS = 20;
  private static final int THRESHOLD = 100;
  private static final long LONG_MS = 10_000_000_000_000L;
  private static final TableName NAME = TableName.valueOf("m");
  private static final TableName CLONE = TableName.valueOf("clone");

  private MobFixture() {}

  static void fill(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin();
        Table table = connection.getTable(NAME)) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(
                  ColumnFamilyDescriptorBuilder.newBuilder(F)
                      .setMaxVersions(3)
                      .setMobEnabled(true)
                      .setMobThreshold(THRESHOLD)
                      .build())
              .build());
      for (int version = 1; version <= 2; version++) {
        for (int row = 0; row < ROWS; row += version) {
          table.put(put(row, version));
        }
        admin.flush(NAME);
      }
      admin.snapshot("of-m", NAME);
      admin.cloneSnapshot("of-m", CLONE);
      admin.split(NAME, Bytes.toBytes("row10"));
      while (admin.getRegions(NAME).size() < 2) {
        Thread.onSpinWait();
      }
      for (int row = 0; row < ROWS; row += 3) {
        table.put(put(row, 3));
      }
    }
  }

  /** Every other row has a value above the threshold; it repeats the number of its version. */
  private static Put put(int row, int version) {
    byte[] value = new byte[row % 2 == 0 ? THRESHOLD * 4 + row : row];
    Arrays.fill(value, (byte) ('0' + version));
    Put put = new Put(Bytes.toBytes(String.format("row%02d", row))).addColumn(F, Q, version, value);
    if (row % 4 == 0) {
      put.setTTL(LONG_MS + row);
    }
    return put;
  }
}
