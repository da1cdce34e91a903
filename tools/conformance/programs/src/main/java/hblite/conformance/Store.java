package hblite.conformance;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** The server, and the tables of one scenario, which are dropped at its end. */
final class Store implements AutoCloseable {
  static final byte[] F = Bytes.toBytes("f");
  static final byte[] G = Bytes.toBytes("g");
  static final byte[] Q = Bytes.toBytes("q");

  final Connection connection;
  final AsyncConnection async;
  final Admin admin;
  private final Deque<TableName> created = new ArrayDeque<>();

  Store(Connection connection, AsyncConnection async) throws IOException {
    this.connection = connection;
    this.async = async;
    this.admin = connection.getAdmin();
  }

  /** Tables of this name are dropped at the end, whichever client created them. */
  TableName name(String name) {
    TableName table = TableName.valueOf(name);
    created.push(table);
    return table;
  }

  static TableDescriptor descriptor(TableName name, int versions, String... families) {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    for (String family : families) {
      table.setColumnFamily(
          ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family))
              .setMaxVersions(versions)
              .build());
    }
    return table.build();
  }

  Table create(String name, int versions, String... families) throws IOException {
    TableName table = name(name);
    admin.createTable(descriptor(table, versions, families));
    return connection.getTable(table);
  }

  static Put put(String row, String qualifier, long time, String value) {
    return new Put(Bytes.toBytes(row))
        .addColumn(F, Bytes.toBytes(qualifier), time, Bytes.toBytes(value));
  }

  static List<Result> scan(Table table, Scan scan) throws IOException {
    List<Result> results = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(scan)) {
      scanner.forEach(results::add);
    }
    return results;
  }

  static List<String> rows(Table table, Scan scan) throws IOException {
    return scan(table, scan).stream().map(result -> Bytes.toString(result.getRow())).toList();
  }

  @Override
  public void close() throws IOException {
    while (!created.isEmpty()) {
      TableName table = created.pop();
      if (admin.tableExists(table)) {
        if (admin.isTableEnabled(table)) {
          admin.disableTable(table);
        }
        admin.deleteTable(table);
      }
    }
    admin.close();
  }
}
