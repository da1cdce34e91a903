package hblite.soak;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/**
 * Mixed load at a steady rate. Each second it writes {@code second,calls,p50,p99} to a file, times
 * in microseconds.
 */
public final class Main {
  private static final TableName NAME = TableName.valueOf("clients");
  private static final byte[] F = bytes("f");
  private static final byte[] Q = bytes("q");
  private static final int THREADS = 4;
  private static final int ROWS = 50_000;

  private final Connection connection;
  private long[] times = new long[1_000];
  private int count;

  private Main(Connection connection) {
    this.connection = connection;
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 4) {
      throw new IllegalArgumentException("ZooKeeper's port, seconds, calls per second, file");
    }
    Configuration configuration = HBaseConfiguration.create();
    configuration.set("hbase.zookeeper.quorum", "127.0.0.1");
    configuration.set("hbase.zookeeper.property.clientPort", arguments[0]);
    long seconds = Long.parseLong(arguments[1]);
    long rate = Long.parseLong(arguments[2]);
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        PrintStream out = new PrintStream(arguments[3])) {
      new Main(connection).run(seconds, rate, out);
    }
  }

  private void run(long seconds, long rate, PrintStream out) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    long begin = System.nanoTime();
    long end = begin + seconds * 1_000_000_000L;
    List<Future<Void>> work = IntStream.range(0, THREADS)
        .mapToObj(number -> threads.submit(() -> load(number, rate, end)))
        .toList();
    for (long second = 1; second <= seconds; second++) {
      Thread.sleep(Math.max(0, (begin + second * 1_000_000_000L - System.nanoTime()) / 1_000_000));
      report(second, out);
    }
    for (Future<Void> one : work) {
      one.get();
    }
    threads.shutdown();
  }

  private synchronized void report(long second, PrintStream out) {
    Arrays.sort(times, 0, count);
    long p50 = count == 0 ? 0 : times[count / 2];
    long p99 = count == 0 ? 0 : times[count * 99 / 100];
    out.printf("%d,%d,%d,%d%n", second, count, p50, p99);
    out.flush();
    count = 0;
  }

  private synchronized void add(long micros) {
    if (count == times.length) {
      times = Arrays.copyOf(times, 2 * count);
    }
    times[count++] = micros;
  }

  private Void load(int number, long rate, long end) throws Exception {
    Random random = new Random(number);
    long period = THREADS * 1_000_000_000L / rate;
    long next = System.nanoTime();
    try (Table table = connection.getTable(NAME)) {
      while (next < end) {
        Thread.sleep(Math.max(0, (next - System.nanoTime()) / 1_000_000));
        long began = System.nanoTime();
        call(table, random);
        add((System.nanoTime() - began) / 1_000);
        // Calls that could not be made in time are not made up for later.
        next = Math.max(next + period, began);
      }
    }
    return null;
  }

  private static void call(Table table, Random random) throws Exception {
    byte[] row = bytes("r%05d".formatted(random.nextInt(ROWS)));
    int kind = random.nextInt(100);
    if (kind < 40) {
      byte[] value = new byte[1 + random.nextInt(500)];
      random.nextBytes(value);
      table.put(new Put(row).addColumn(F, Q, value));
    } else if (kind < 80) {
      table.get(new Get(row));
    } else if (kind < 90) {
      try (ResultScanner scanner = table.getScanner(new Scan().withStartRow(row).setLimit(50))) {
        scanner.forEach(result -> { });
      }
    } else if (kind < 95) {
      byte[] counter = bytes("r9c" + random.nextInt(100));
      table.increment(new Increment(counter).addColumn(F, bytes("n"), 1));
    } else {
      table.delete(new Delete(row));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
