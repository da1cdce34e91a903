package hblite.embedded;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
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
 * The work of {@code tools/overhead/overhead.c} with HBase's client in the process. Prints the
 * processor time of an operation, in nanoseconds, once the code is compiled: of all threads, since
 * HBase's client scans in another one. Arguments: {@code put}, {@code get} or {@code scan}, and how
 * often.
 */
final class Overhead {
  private static final int ROWS = 20_000;
  private static final byte[] FAMILY = bytes("f");
  private static final byte[] QUALIFIER = bytes("q");
  private static final byte[] VALUE = new byte[100];

  private Overhead() {}

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static void main(String[] arguments) throws Exception {
    int count = Integer.parseInt(arguments[1]);
    byte[][] keys = new byte[ROWS][];
    for (int row = 0; row < ROWS; row++) {
      keys[row] = bytes(String.format("row%09d", row));
    }
    TableName name = TableName.valueOf("t");
    try (EmbeddedHBlite store = EmbeddedHBlite.inMemory();
        Connection connection = ConnectionFactory.createConnection(store.configuration());
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(name)) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build());
      for (byte[] key : keys) {
        table.put(new Put(key).addColumn(FAMILY, QUALIFIER, VALUE));
      }
      run(table, keys, arguments[0], count);
      OperatingSystemMXBean process =
          ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
      long begun = process.getProcessCpuTime();
      long done = run(table, keys, arguments[0], count);
      System.out.println((process.getProcessCpuTime() - begun) / done);
    }
  }

  private static long run(Table table, byte[][] keys, String operation, int count)
      throws Exception {
    long done = 0;
    while (done < count) {
      byte[] key = keys[(int) (done % ROWS)];
      switch (operation) {
        case "put":
          table.put(new Put(key).addColumn(FAMILY, QUALIFIER, VALUE));
          done++;
          break;
        case "get":
          if (table.get(new Get(key)).getValue(FAMILY, QUALIFIER).length != VALUE.length) {
            throw new AssertionError("a value is of another length");
          }
          done++;
          break;
        default:
          // The rows of a scan are counted.
          try (ResultScanner scanner = table.getScanner(new Scan())) {
            for (Result row = scanner.next(); row != null; row = scanner.next()) {
              done++;
            }
          }
      }
    }
    return done;
  }
}
