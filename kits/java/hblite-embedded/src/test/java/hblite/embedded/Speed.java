package hblite.embedded;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/**
 * Goal: rows per second of one thread with the store in its process, and with a server.
 *
 * <p>Method: the same work on both in turn, the best of some rounds. Arguments: the port of the
 * server's master, and the seconds of each measurement. Rows have a key of 10 bytes and a value of
 * 100, in memory.
 */
final class Speed {
  private static final byte[] FAMILY = bytes("f");
  private static final byte[] VALUE = new byte[100];
  private static final int ROWS = 100_000;
  private static final byte[][] KEYS = keys();
  private static final int BATCH = 100;
  private static final int ROUNDS = 3;
  private static final TableName NAME = TableName.valueOf("speed");

  /** Some rows; returns how many. */
  private interface Work {
    int run(Table table, int number) throws Exception;
  }

  private Speed() {}

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] key(int number) {
    return KEYS[number % ROWS];
  }

  /** Neighbors in time are not neighbors in order. */
  private static byte[][] keys() {
    byte[][] keys = new byte[ROWS][];
    for (int number = 0; number < ROWS; number++) {
      keys[number] = bytes(String.format("%010d", number * 48_271L % ROWS));
    }
    return keys;
  }

  private static Put put(int number) {
    return new Put(key(number)).addColumn(FAMILY, FAMILY, VALUE);
  }

  private static Map<String, Work> works() {
    Map<String, Work> works = new LinkedHashMap<>();
    works.put(
        "puts in batches of 100",
        (table, number) -> {
          List<Put> puts = new ArrayList<>();
          for (int each = 0; each < BATCH; each++) {
            puts.add(put(number * BATCH + each));
          }
          table.put(puts);
          return BATCH;
        });
    works.put(
        "puts",
        (table, number) -> {
          table.put(put(number));
          return 1;
        });
    works.put(
        "gets",
        (table, number) -> {
          if (table.get(new Get(key(number))).isEmpty()) {
            throw new IOException("a row is missing");
          }
          return 1;
        });
    works.put(
        "gets in batches of 100",
        (table, number) -> {
          List<Get> gets = new ArrayList<>();
          for (int each = 0; each < BATCH; each++) {
            gets.add(new Get(key(number * BATCH + each)));
          }
          return table.get(gets).length;
        });
    works.put(
        "rows of a scan",
        (table, number) -> {
          int rows = 0;
          try (ResultScanner scanner = table.getScanner(new Scan())) {
            for (Result row = scanner.next(); row != null; row = scanner.next()) {
              rows++;
            }
          }
          return rows;
        });
    return works;
  }

  private static double rate(Table table, Work work, double seconds) throws Exception {
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    long rows = 0;
    for (int number = 0; System.nanoTime() < end; number++) {
      rows += work.run(table, number);
    }
    return rows * 1e9 / (System.nanoTime() - start);
  }

  private static void load(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin();
        Table table = connection.getTable(NAME)) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build());
      for (int first = 0; first < ROWS; first += 1000) {
        List<Put> puts = new ArrayList<>();
        for (int number = first; number < first + 1000; number++) {
          puts.add(put(number));
        }
        table.put(puts);
      }
      admin.flush(NAME);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Configuration remote = HBaseConfiguration.create();
    remote.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry");
    remote.set("hbase.masters", "127.0.0.1:" + arguments[0]);
    double seconds = Double.parseDouble(arguments[1]);
    long start = System.nanoTime();
    try (EmbeddedHBlite store = EmbeddedHBlite.inMemory();
        Connection local = store.connect();
        Connection far = ConnectionFactory.createConnection(remote)) {
      load(local);
      long millis = (System.nanoTime() - start) / 1_000_000;
      System.out.printf("%,d rows are loaded %d ms after the start%n", ROWS, millis);
      load(far);
      try (Table here = local.getTable(NAME);
          Table there = far.getTable(NAME)) {
        for (Map.Entry<String, Work> work : works().entrySet()) {
          double inProcess = 0;
          double server = 0;
          for (int round = 0; round < ROUNDS; round++) {
            inProcess = Math.max(inProcess, rate(here, work.getValue(), seconds));
            server = Math.max(server, rate(there, work.getValue(), seconds));
          }
          System.out.printf(
              "%-24s in process %,10.0f/s   server %,10.0f/s   %5.1f times%n",
              work.getKey(), inProcess, server, inProcess / server);
        }
      }
    }
    System.exit(0);
  }
}
