package hblite.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Opens and closes stores many times, and fails unless threads, descriptors and memory stay as they
 * are. Its arguments: an empty directory, and how often.
 */
public final class Opens {
  private static final TableName NAME = TableName.valueOf("t");
  private static final byte[] F = Bytes.toBytes("f");

  private Opens() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Paths.get(arguments[0], "opened");
    int count = Integer.parseInt(arguments[1]);
    // Classes are loaded, pools filled and caches grown by the first fifth.
    Use settled = null;
    for (int i = 0; i < count; i++) {
      if (i == count / 5) {
        settled = Use.now();
      }
      try (EmbeddedHBlite store =
              i % 2 == 0 ? EmbeddedHBlite.inMemory() : EmbeddedHBlite.open(directory);
          Connection connection = ConnectionFactory.createConnection(store.configuration())) {
        use(connection, i);
      }
    }
    Use last = Use.now();
    System.out.println(count + " opens: " + last + " (" + settled + " after a fifth of them)");
    // Memory that allocators keep is not what an open leaves, which would add up.
    boolean grows =
        last.threads > settled.threads + 8
            || last.descriptors > settled.descriptors + 8
            || last.residentKib > settled.residentKib + 64 * 1024;
    System.exit(grows ? 1 : 0);
  }

  private static void use(Connection connection, int number) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (!admin.tableExists(NAME)) {
        admin.createTable(
            TableDescriptorBuilder.newBuilder(NAME)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
                .build());
      }
    }
    byte[] row = Bytes.toBytes(number);
    try (Table table = connection.getTable(NAME)) {
      table.put(new Put(row).addColumn(F, F, row));
      if (!Bytes.equals(row, table.get(new Get(row)).getValue(F, F))) {
        throw new AssertionError("row " + number + " is not what was put");
      }
    }
  }

  /** What this process holds. */
  private static final class Use {
    final long threads;
    final long descriptors;
    final long residentKib;

    private Use(long threads, long descriptors, long residentKib) {
      this.threads = threads;
      this.descriptors = descriptors;
      this.residentKib = residentKib;
    }

    static Use now() throws IOException {
      System.gc();
      return new Use(status("Threads:"), descriptors(), status("VmRSS:"));
    }

    private static long descriptors() throws IOException {
      try (Stream<Path> open = Files.list(Paths.get("/proc/self/fd"))) {
        return open.count();
      }
    }

    private static long status(String name) throws IOException {
      for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
        if (line.startsWith(name)) {
          return Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
      }
      throw new IOException("/proc/self/status has no " + name);
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d threads, %d descriptors, %d MiB",
          threads,
          descriptors,
          residentKib / 1024);
    }
  }
}
