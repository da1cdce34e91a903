package hblite.limits;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What a server costs: its memory before and after a load and a flush, and its time for lists of
 * many filters.
 */
public final class Main {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 200_000;
  private static final int VALUE_BYTES = 700;
  private static final int ROUNDS = 2;
  private static final int IDLE_MS = 30_000;
  private static final int FILTERED_ROWS = 1000;
  private static final int[] FILTERS = {1000, 10_000, 99_999, 1_000_000};
  private static final long TICKS_PER_SECOND = 100;

  private final Connection connection;
  private final Path process;

  private Main(Connection connection, Path process) {
    this.connection = connection;
    this.process = process;
  }

  /**
   * Runs both.
   *
   * @param arguments the ports of ZooKeeper and the process id of a server on this machine
   */
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "localhost");
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, arguments[0]);
    configuration.setInt(HConstants.HBASE_CLIENT_SCANNER_TIMEOUT_PERIOD, 600_000);
    try (Connection connection = ConnectionFactory.createConnection(configuration)) {
      Main main = new Main(connection, Path.of("/proc", arguments[1]));
      main.load();
      main.filter();
    }
    System.exit(0);
  }

  private void load() throws IOException, InterruptedException {
    TableName name = TableName.valueOf("loaded");
    create(name);
    System.out.println("memory of the idle server: " + memory());
    byte[] value = new byte[VALUE_BYTES];
    Arrays.fill(value, (byte) 'v');
    for (int round = 1; round <= ROUNDS; round++) {
      try (BufferedMutator mutator = connection.getBufferedMutator(name)) {
        for (int row = 0; row < ROWS; row++) {
          mutator.mutate(put(row * 7919L % ROWS, value));
        }
      }
      System.out.println("after load " + round + " of " + ROWS + " rows: " + memory());
      try (Admin admin = connection.getAdmin()) {
        admin.flush(name);
      }
      System.out.println("after its flush: " + memory());
      Thread.sleep(IDLE_MS);
      System.out.println("half a minute later: " + memory());
    }
  }

  private void filter() throws IOException {
    TableName name = TableName.valueOf("filtered");
    create(name);
    try (Table table = connection.getTable(name)) {
      for (int row = 0; row < FILTERED_ROWS; row++) {
        table.put(put(row, Bytes.toBytes(row)));
      }
      for (FilterList.Operator operator : FilterList.Operator.values()) {
        for (int count : FILTERS) {
          long before = ticks();
          String found = scan(table, list(operator, count));
          double seconds = (ticks() - before) / (double) TICKS_PER_SECOND;
          System.out.printf("%s of %d: %s, %.2f s of the server%n", operator, count, found, seconds);
        }
      }
    }
    System.out.println("highest memory: " + status("VmHWM:"));
  }

  /** Every row is shown to every filter: no row passes one of them, or all pass all. */
  private static FilterList list(FilterList.Operator operator, int count) {
    List<Filter> filters = new ArrayList<>(count);
    for (int filter = 0; filter < count; filter++) {
      boolean isAny = operator == FilterList.Operator.MUST_PASS_ONE;
      filters.add(new PrefixFilter(Bytes.toBytes(isAny ? "x" + filter : "r")));
    }
    return new FilterList(operator, filters);
  }

  private static String scan(Table table, FilterList filter) throws IOException {
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(new Scan().setFilter(filter))) {
      while (scanner.next() != null) {
        rows++;
      }
    } catch (DoNotRetryIOException | UncheckedIOException e) {
      return "refused";
    }
    return rows + " rows";
  }

  private void create(TableName name) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build());
    }
  }

  private static Put put(long row, byte[] value) {
    return new Put(Bytes.toBytes(String.format("r%08d", row))).addColumn(FAMILY, QUALIFIER, value);
  }

  /** Resident memory that belongs to no file. */
  private String memory() throws IOException {
    return status("RssAnon:");
  }

  private String status(String field) throws IOException {
    for (String line : Files.readAllLines(process.resolve("status"))) {
      if (line.startsWith(field)) {
        String[] words = line.split("\\s+");
        return Long.parseLong(words[1]) / 1024 + " MiB";
      }
    }
    throw new IOException("no " + field);
  }

  /** Processor time of the server so far. */
  private long ticks() throws IOException {
    String line = Files.readString(process.resolve("stat"), StandardCharsets.US_ASCII);
    // The name, in parentheses, may have spaces.
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }
}
