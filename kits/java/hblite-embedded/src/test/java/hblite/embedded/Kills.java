package hblite.embedded;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Kills a JVM that writes to a store in its process, again and again, and fails if anything that was
 * acknowledged is lost, or anything is there twice. Its arguments: an empty directory, how often,
 * and a seed.
 *
 * <p>Each writer puts rows with ascending numbers and counts them in a row of its own, one after the
 * other. So of each there is at most one more than was acknowledged.
 */
public final class Kills {
  private static final TableName NAME = TableName.valueOf("t");
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final int WRITERS = 4;

  private Kills() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Paths.get(arguments[0], "killed");
    if (arguments.length == 2) {
      write(directory, Long.parseLong(arguments[1]));
      return;
    }
    int kills = Integer.parseInt(arguments[1]);
    Random random = new Random(Long.parseLong(arguments[2]));
    try (EmbeddedHBlite store = EmbeddedHBlite.open(directory);
        Connection connection = ConnectionFactory.createConnection(store.configuration());
        Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
              .build(),
          new byte[][] {Bytes.toBytes("writer1"), Bytes.toBytes("writer3")});
    }
    long[] written = new long[WRITERS];
    long[] counted = new long[WRITERS];
    for (int kill = 0; kill < kills; kill++) {
      check(directory, writeAndKill(arguments[0], random), written, counted);
    }
    System.out.println(kills + " kills, " + Arrays.stream(written).sum() + " writes, none lost");
    System.exit(0);
  }

  /** Returns how many writes of each writer were acknowledged, 0 for none. */
  private static long[] writeAndKill(String directory, Random random) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Kills.class.getName());
    command.add(directory);
    command.add(Long.toString(random.nextLong()));
    Path lines = Paths.get(directory, "acknowledged");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(lines.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    long bytes = 1 + random.nextInt(40_000);
    while (Files.size(lines) < bytes) {
      if (!process.isAlive()) {
        throw new AssertionError("the writing JVM ended by itself: " + process.exitValue());
      }
      Thread.sleep(1);
    }
    process.destroyForcibly().waitFor();
    long[] acknowledged = new long[WRITERS];
    for (String line : Files.readAllLines(lines)) {
      // The last line may be cut.
      if (line.endsWith(".")) {
        int space = line.indexOf(' ');
        int writer = Integer.parseInt(line.substring(0, space));
        acknowledged[writer] = Long.parseLong(line.substring(space + 1, line.length() - 1));
      }
    }
    return acknowledged;
  }

  /** Updates how many rows there are of each writer, and how many were counted. */
  private static void check(
      Path directory, long[] acknowledged, long[] written, long[] counted) throws IOException {
    try (EmbeddedHBlite store = EmbeddedHBlite.open(directory);
        Connection connection = ConnectionFactory.createConnection(store.configuration());
        Table table = connection.getTable(NAME)) {
      for (int writer = 0; writer < WRITERS; writer++) {
        long rowCount = 0;
        byte[] prefix = Bytes.toBytes("writer" + writer + "-");
        try (ResultScanner rows = table.getScanner(new Scan().setRowPrefixFilter(prefix))) {
          for (Result row : rows) {
            rowCount++;
            if (!Bytes.equals(row.getRow(), row(writer, rowCount))) {
              throw new AssertionError("a row is missing before " + row);
            }
          }
        }
        long count = counted(table, writer);
        long acknowledgedCount = acknowledged[writer];
        long least = Math.max(acknowledgedCount, written[writer]);
        boolean isLost = rowCount < least || count < Math.max(acknowledgedCount, counted[writer]);
        boolean isCounted = count == rowCount || count == rowCount - 1;
        if (isLost || !isCounted || count > acknowledgedCount + 1 && count > counted[writer] + 1) {
          throw new AssertionError(
              String.format(
                  Locale.ROOT,
                  "writer %d: %d writes were acknowledged; there are %d rows, of which %d were counted",
                  writer,
                  acknowledgedCount,
                  rowCount,
                  count));
        }
        written[writer] = rowCount;
        counted[writer] = count;
      }
    }
  }

  private static long counted(Table table, int writer) throws IOException {
    byte[] counter = table.get(new Get(Bytes.toBytes("counter" + writer))).getValue(F, Q);
    return counter == null ? 0 : Bytes.toLong(counter);
  }

  private static byte[] row(int writer, long number) {
    return Bytes.toBytes(String.format(Locale.ROOT, "writer%d-%010d", writer, number));
  }

  /** Writes until it is killed. */
  private static void write(Path directory, long seed) throws Exception {
    EmbeddedHBlite store = EmbeddedHBlite.open(directory);
    Connection connection = ConnectionFactory.createConnection(store.configuration());
    endWithParent();
    List<Thread> threads = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      int number = writer;
      threads.add(new Thread(() -> write(connection, number)));
    }
    threads.add(new Thread(() -> change(connection, new Random(seed))));
    threads.forEach(Thread::start);
  }

  /** The other end of its standard input is the parent's. */
  private static void endWithParent() {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {
                  // The parent writes nothing.
                }
              } catch (IOException e) {
                e.printStackTrace();
              }
              Runtime.getRuntime().halt(1);
            });
    thread.setDaemon(true);
    thread.start();
  }

  private static void write(Connection connection, int writer) {
    try (Table table = connection.getTable(NAME)) {
      // The row may be there without having been counted.
      long next = counted(table, writer) + 1;
      byte[] counter = Bytes.toBytes("counter" + writer);
      while (true) {
        table.put(new Put(row(writer, next)).addColumn(F, Q, Bytes.toBytes(next)));
        table.increment(new Increment(counter).addColumn(F, Q, 1));
        // One call, so that the lines of two threads do not mix.
        System.out.println(writer + " " + next + ".");
        next++;
      }
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  /** Flushes and compacts, so that the process is killed meanwhile. */
  private static void change(Connection connection, Random random) {
    try (Admin admin = connection.getAdmin()) {
      while (true) {
        if (random.nextInt(3) == 0) {
          admin.majorCompact(NAME);
        } else {
          admin.flush(NAME);
        }
        Thread.sleep(random.nextInt(30));
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      e.printStackTrace();
      System.exit(1);
    }
  }
}
