package example;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Orders of customers, by customer and number. */
public final class Orders {
  public static final TableName TABLE = TableName.valueOf("orders");
  private static final byte[] INFO = Bytes.toBytes("info");
  private static final byte[] STATE = Bytes.toBytes("state");
  private static final byte[] VIEWS = Bytes.toBytes("views");
  private static final int VERSIONS = 3;

  private final Connection connection;

  public Orders(Connection connection) {
    this.connection = connection;
  }

  public static void createTable(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(TABLE)
              .setColumnFamily(
                  ColumnFamilyDescriptorBuilder.newBuilder(INFO).setMaxVersions(VERSIONS).build())
              .build());
    }
  }

  private static byte[] key(String customer, int number) {
    return Bytes.toBytes(String.format("%s/%06d", customer, number));
  }

  public void place(String customer, int number) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      table.put(new Put(key(customer, number)).addColumn(INFO, STATE, Bytes.toBytes("new")));
    }
  }

  /** The state of an order, or null if there is none. */
  public String state(String customer, int number) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      return Bytes.toString(table.get(new Get(key(customer, number))).getValue(INFO, STATE));
    }
  }

  /** Changes the state if it is the expected one. */
  public boolean change(String customer, int number, String expected, String state)
      throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      byte[] key = key(customer, number);
      return table
          .checkAndMutate(
              CheckAndMutate.newBuilder(key)
                  .ifEquals(INFO, STATE, Bytes.toBytes(expected))
                  .build(new Put(key).addColumn(INFO, STATE, Bytes.toBytes(state))))
          .isSuccess();
    }
  }

  /** The states that an order has had, newest first. */
  public List<String> history(String customer, int number) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      Result order = table.get(new Get(key(customer, number)).readAllVersions());
      List<String> states = new ArrayList<>();
      order
          .getColumnCells(INFO, STATE)
          .forEach(
              cell ->
                  states.add(
                      Bytes.toString(
                          cell.getValueArray(), cell.getValueOffset(), cell.getValueLength())));
      return states;
    }
  }

  public long view(String customer, int number) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      Increment increment = new Increment(key(customer, number)).addColumn(INFO, VIEWS, 1);
      return Bytes.toLong(table.increment(increment).getValue(INFO, VIEWS));
    }
  }

  public void remove(String customer, int number) throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      table.delete(new Delete(key(customer, number)));
    }
  }

  /** Keys of the last orders of a customer, newest first. */
  public List<String> last(String customer, int count) throws IOException {
    Scan scan = new Scan().setReversed(true).setLimit(count);
    scan.withStartRow(Bytes.toBytes(customer + "0")).withStopRow(Bytes.toBytes(customer + "/"));
    List<String> keys = new ArrayList<>();
    try (Table table = connection.getTable(TABLE);
        ResultScanner orders = table.getScanner(scan)) {
      orders.forEach(order -> keys.add(Bytes.toString(order.getRow())));
    }
    return keys;
  }
}
