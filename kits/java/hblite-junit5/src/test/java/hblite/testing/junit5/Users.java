package hblite.testing.junit5;

import java.io.IOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** A table for tests. */
final class Users {
  static final TableName NAME = TableName.valueOf("users");
  private static final byte[] INFO = Bytes.toBytes("info");
  private static final byte[] QUALIFIER = Bytes.toBytes("name");

  private Users() {}

  static void create(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(INFO))
              .build());
    }
  }

  static void drop(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.disableTable(NAME);
      admin.deleteTable(NAME);
    }
  }

  static void put(Connection connection, String row, String name) throws IOException {
    try (Table users = connection.getTable(NAME)) {
      users.put(new Put(Bytes.toBytes(row)).addColumn(INFO, QUALIFIER, Bytes.toBytes(name)));
    }
  }

  /** A user's name, or null. */
  static String get(Connection connection, String row) throws IOException {
    try (Table users = connection.getTable(NAME)) {
      return Bytes.toString(users.get(new Get(Bytes.toBytes(row))).getValue(INFO, QUALIFIER));
    }
  }
}
