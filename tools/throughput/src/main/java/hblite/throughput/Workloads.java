package hblite.throughput;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Typical work on two tables: one is read, the other written. */
final class Workloads {
  private static final TableName READ = TableName.valueOf("read");
  private static final TableName WRITTEN = TableName.valueOf("written");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int VALUE_BYTES = 100;
  private static final int BATCH_ROWS = 100;
  private static final int WRITTEN_ROWS = 1_000_000;

  private final int rows;
  private final int[] threads;

  /**
   * Workloads on tables.
   *
   * @param rows the number of rows of the table that is read
   * @param threads the numbers of threads with which each runs
   */
  Workloads(int rows, int... threads) {
    this.rows = rows;
    this.threads = threads;
  }

  /** Creates the tables; the rows of the one that is read are in a file. */
  void prepare(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      for (TableName name : List.of(READ, WRITTEN)) {
        admin.createTable(
            TableDescriptorBuilder.newBuilder(name)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
                .build());
      }
      Random random = new Random(1);
      List<Put> puts = new ArrayList<>();
      try (Table table = connection.getTable(READ)) {
        for (int row = 0; row < rows; row++) {
          puts.add(put(row, random));
          if (puts.size() == 1000 || row == rows - 1) {
            table.put(puts);
            puts.clear();
          }
        }
      }
      admin.flush(READ);
    }
  }

  /** All workloads, with their numbers of threads. */
  List<Workload> all() {
    List<Workload> workloads = new ArrayList<>();
    add(workloads, "put", "puts", this::put);
    add(workloads, "get", "gets", (connection, thread) -> get(connection, thread, 0));
    add(workloads, "get of a missing row", "gets", (connection, thread) -> get(connection, thread, rows));
    add(workloads, "increment", "increments", this::increment);
    add(workloads, "put of a list of 100", "rows", this::putList);
    add(workloads, "get of a list of 100", "rows", this::getList);
    add(workloads, "scan of 100 rows", "rows", (connection, thread) -> scan(connection, BATCH_ROWS));
    add(workloads, "scan of the table", "rows", (connection, thread) -> scan(connection, rows));
    return workloads;
  }

  private void add(
      List<Workload> workloads, String name, String unit, Workload.Worker worker) {
    for (int count : threads) {
      workloads.add(new Workload(name, unit, count, worker));
    }
  }

  private Workload.Operation put(Connection connection, int thread) throws IOException {
    Table table = connection.getTable(WRITTEN);
    Random random = new Random(thread);
    return () -> {
      table.put(put(random.nextInt(WRITTEN_ROWS), random));
      return 1;
    };
  }

  private Workload.Operation putList(Connection connection, int thread) throws IOException {
    Table table = connection.getTable(WRITTEN);
    Random random = new Random(thread);
    return () -> {
      List<Put> puts = new ArrayList<>(BATCH_ROWS);
      for (int index = 0; index < BATCH_ROWS; index++) {
        puts.add(put(random.nextInt(WRITTEN_ROWS), random));
      }
      table.put(puts);
      return BATCH_ROWS;
    };
  }

  private Workload.Operation get(Connection connection, int thread, int first) throws IOException {
    Table table = connection.getTable(READ);
    Random random = new Random(thread);
    return () -> {
      Result result = table.get(new Get(key(first + random.nextInt(rows))));
      expect(result.isEmpty() == (first == rows), "a get");
      return 1;
    };
  }

  private Workload.Operation getList(Connection connection, int thread) throws IOException {
    Table table = connection.getTable(READ);
    Random random = new Random(thread);
    return () -> {
      List<Get> gets = new ArrayList<>(BATCH_ROWS);
      for (int index = 0; index < BATCH_ROWS; index++) {
        gets.add(new Get(key(random.nextInt(rows))));
      }
      for (Result result : table.get(gets)) {
        expect(!result.isEmpty(), "a list of gets");
      }
      return BATCH_ROWS;
    };
  }

  private Workload.Operation increment(Connection connection, int thread) throws IOException {
    Table table = connection.getTable(WRITTEN);
    byte[] row = Bytes.toBytes("counter " + thread);
    return () -> {
      table.incrementColumnValue(row, FAMILY, QUALIFIER, 1);
      return 1;
    };
  }

  private Workload.Operation scan(Connection connection, int count) throws IOException {
    Table table = connection.getTable(READ);
    Random random = new Random(count);
    return () -> {
      Scan scan = new Scan().withStartRow(key(random.nextInt(rows - count + 1)));
      long found = 0;
      try (ResultScanner scanner = table.getScanner(count < rows ? scan.setLimit(count) : scan)) {
        while (scanner.next() != null) {
          found++;
        }
      }
      expect(found == count, "a scan");
      return found;
    };
  }

  private static byte[] key(int row) {
    return Bytes.toBytes(String.format("row%013d", row));
  }

  private static Put put(int row, Random random) {
    byte[] value = new byte[VALUE_BYTES];
    random.nextBytes(value);
    return new Put(key(row)).addColumn(FAMILY, QUALIFIER, value);
  }

  private static void expect(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what + " found something else than was written");
    }
  }
}
