package hblite.oracle.directory;

import java.io.IOException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Fills an empty cluster with the little that {@code tests/fixtures/hbase-root} holds: a table in a
 * namespace with two regions, cells in files and cells in the log alone; and a disabled table.
 */
final class Fixture {
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] G = Bytes.toBytes("g");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final int ROWS = 20;
  private static final long LONG_MS = 1_000_000_000_000L;

  private Fixture() {}

  static void fill(Connection connection) throws IOException {
    TableName name = TableName.valueOf("n:t");
    TableName disabled = TableName.valueOf("d");
    try (Admin admin = connection.getAdmin();
        Table table = connection.getTable(name);
        Table other = connection.getTable(disabled)) {
      admin.createNamespace(NamespaceDescriptor.create("n").addConfiguration("a", "b").build());
      create(admin, disabled, new byte[0][]);
      other.put(put("x", "1"));
      admin.disableTable(disabled);
      create(admin, name, new byte[][] {Bytes.toBytes("row10")});
      table.put(put("row00", "flushed"));
      table.put(put("row11", "flushed"));
      admin.flush(name);
      for (int row = 0; row < ROWS; row++) {
        Put put = put(String.format("row%02d", row), "logged" + row);
        if (row % 4 == 0) {
          put.setTTL(LONG_MS + row % 8);
        }
        table.put(put);
      }
      table.put(new Put(Bytes.toBytes("row05")).addColumn(G, Q, Bytes.toBytes("other")));
      table.delete(new Delete(Bytes.toBytes("row07")).addColumns(F, Q));
      table.delete(new Delete(Bytes.toBytes("row11")));
      Increment increment = new Increment(Bytes.toBytes("row13")).addColumn(G, Q, 4);
      table.increment(increment);
      table.increment(increment);
    }
  }

  private static Put put(String row, String value) {
    return new Put(Bytes.toBytes(row)).addColumn(F, Q, Bytes.toBytes(value));
  }

  private static void create(Admin admin, TableName name, byte[][] splits) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    for (byte[] family : new byte[][] {F, G}) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(family).setMaxVersions(3).build());
    }
    if (splits.length == 0) {
      admin.createTable(table.build());
    } else {
      admin.createTable(table.build(), splits);
    }
  }
}
