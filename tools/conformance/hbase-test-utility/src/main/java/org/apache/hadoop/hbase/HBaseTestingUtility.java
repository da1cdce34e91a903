package org.apache.hadoop.hbase;

import hblite.conformance.tests.TableUtility;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.Assert;

/**
 * The utility of HBase's tests for a cluster in another process: it precedes HBase's own on
 * the class path. This class has the rows; what it inherits has clusters, waits and tables.
 */
public class HBaseTestingUtility extends TableUtility {
  public static final byte[] fam1 = Bytes.toBytes("colfamily11");
  public static final byte[] fam2 = Bytes.toBytes("colfamily21");
  public static final byte[] fam3 = Bytes.toBytes("colfamily31");
  public static final byte[][] COLUMNS = {fam1, fam2, fam3};
  public static final char FIRST_CHAR = 'a';
  public static final char LAST_CHAR = 'z';
  public static final byte[] START_KEY_BYTES = {FIRST_CHAR, FIRST_CHAR, FIRST_CHAR};
  public static final String START_KEY = new String(START_KEY_BYTES, HConstants.UTF8_CHARSET);
  /** {@code aaa} to {@code zzz}. */
  public static final byte[][] ROWS = rows();
  /** The start keys of a table of many regions. */
  public static final byte[][] KEYS = startKeys();
  public static final byte[][] KEYS_FOR_HBA_CREATE_TABLE = splitKeys(true);

  public HBaseTestingUtility() {
    this(defaultConfiguration());
  }

  public HBaseTestingUtility(Configuration configuration) {
    super(configuration);
  }

  private static byte[][] rows() {
    List<byte[]> rows = new ArrayList<>();
    for (byte first = FIRST_CHAR; first <= LAST_CHAR; first++) {
      for (byte second = FIRST_CHAR; second <= LAST_CHAR; second++) {
        for (byte third = FIRST_CHAR; third <= LAST_CHAR; third++) {
          rows.add(new byte[] {first, second, third});
        }
      }
    }
    return rows.toArray(byte[][]::new);
  }

  private static byte[][] startKeys() {
    List<byte[]> keys = new ArrayList<>(List.of(splitKeys(false)));
    keys.add(0, HConstants.EMPTY_BYTE_ARRAY);
    return keys.toArray(byte[][]::new);
  }

  public int loadTable(Table table, byte[] family) throws IOException {
    return loadTable(table, new byte[][] {family});
  }

  public int loadTable(Table table, byte[] family, boolean isLogged) throws IOException {
    return loadTable(table, new byte[][] {family}, null, isLogged);
  }

  public int loadTable(Table table, byte[][] families) throws IOException {
    return loadTable(table, families, null);
  }

  public int loadTable(Table table, byte[][] families, byte[] value) throws IOException {
    return loadTable(table, families, value, true);
  }

  /** Puts all {@link #ROWS}; if no value is given, the row is the value. */
  public int loadTable(Table table, byte[][] families, byte[] value, boolean isLogged)
      throws IOException {
    List<Put> puts = new ArrayList<>();
    for (byte[] row : ROWS) {
      Put put = new Put(row);
      put.setDurability(isLogged ? Durability.USE_DEFAULT : Durability.SKIP_WAL);
      for (byte[] family : families) {
        put.addColumn(family, family, value == null ? row : value);
      }
      puts.add(put);
    }
    table.put(puts);
    return puts.size();
  }

  public void loadNumericRows(Table table, byte[] family, int first, int end)
      throws IOException {
    for (int number = first; number < end; number++) {
      byte[] data = Bytes.toBytes(String.valueOf(number));
      table.put(new Put(data).addColumn(family, null, data));
    }
  }

  public void loadRandomRows(Table table, byte[] family, int rowSize, int count)
      throws IOException {
    byte[] row = new byte[rowSize];
    for (int index = 0; index < count; index++) {
      ThreadLocalRandom.current().nextBytes(row);
      table.put(new Put(row).addColumn(family, new byte[] {0}, new byte[] {0}));
    }
  }

  public void verifyNumericRows(Table table, byte[] family, int first, int end, int replica)
      throws IOException {
    for (int number = first; number < end; number++) {
      byte[] data = Bytes.toBytes(String.valueOf(number));
      Result result = table.get(new Get(data).setReplicaId(replica));
      Assert.assertArrayEquals(data, result.getValue(family, null));
    }
  }

  public void deleteNumericRows(Table table, byte[] family, int first, int end)
      throws IOException {
    for (int number = first; number < end; number++) {
      table.delete(new Delete(Bytes.toBytes(String.valueOf(number))).addFamily(family));
    }
  }

  /** Deletes all rows of a table. */
  public Table deleteTableData(TableName name) throws IOException {
    Table table = getConnection().getTable(name);
    try (ResultScanner results = table.getScanner(new Scan())) {
      for (Result result : results) {
        table.delete(new Delete(result.getRow()));
      }
    }
    return table;
  }

  public int countRows(Table table) throws IOException {
    return countRows(table, new Scan());
  }

  public int countRows(Table table, Scan scan) throws IOException {
    try (ResultScanner results = table.getScanner(scan)) {
      int count = 0;
      while (results.next() != null) {
        count++;
      }
      return count;
    }
  }

  public int countRows(Table table, byte[]... families) throws IOException {
    Scan scan = new Scan();
    for (byte[] family : families) {
      scan.addFamily(family);
    }
    return countRows(table, scan);
  }

  public int countRows(TableName name) throws IOException {
    try (Table table = getConnection().getTable(name)) {
      return countRows(table);
    }
  }

  /** Waits until something holds. */
  public static void await(long sleepMs, BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(sleepMs);
    }
  }
}
