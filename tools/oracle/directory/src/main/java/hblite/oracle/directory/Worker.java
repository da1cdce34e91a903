package hblite.oracle.directory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;

/** Random operations of all kinds on a handful of tables. */
final class Worker {
  private static final int TABLES = 6;
  private static final int ROWS = 400;
  private static final long LONG_MS = 1_000_000_000_000L;
  private static final long PROCEDURE_S = 120;
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] OTHER = Bytes.toBytes("g");
  private static final Compression.Algorithm[] CODECS = {
    Compression.Algorithm.NONE, Compression.Algorithm.GZ
  };

  private final Connection connection;
  private final Random random;

  Worker(Connection connection, Random random) {
    this.connection = connection;
    this.random = random;
  }

  void work(int operations) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (List.of(admin.listNamespaces()).stream().noneMatch("ns"::equals)) {
        admin.createNamespace(NamespaceDescriptor.create("ns").addConfiguration("a", "b").build());
      }
      for (int number = 0; number < TABLES; number++) {
        if (!admin.tableExists(name(number))) {
          create(admin, number);
        }
      }
      for (int operation = 0; operation < operations; operation++) {
        int number = random.nextInt(TABLES);
        if (random.nextInt(10) == 0) {
          administer(admin, number);
        } else if (admin.isTableEnabled(name(number))) {
          write(name(number));
        }
      }
    }
  }

  private TableName name(int number) {
    return TableName.valueOf(number % 2 == 0 ? "default" : "ns", "table" + number);
  }

  private <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private ColumnFamilyDescriptor family(byte[] name, boolean hasMediumObjects) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name)
        .setMaxVersions(1 + random.nextInt(5))
        .setDataBlockEncoding(pick(DataBlockEncoding.values()))
        .setCompressionType(pick(CODECS))
        .setBloomFilterType(pick(new BloomType[] {BloomType.NONE, BloomType.ROW, BloomType.ROWCOL}))
        .setKeepDeletedCells(pick(KeepDeletedCells.values()))
        .setBlocksize(1 << (10 + random.nextInt(7)))
        .setMobEnabled(hasMediumObjects)
        .setMobThreshold(500)
        .build();
  }

  private void create(Admin admin, int number) throws IOException {
    TableDescriptor table =
        TableDescriptorBuilder.newBuilder(name(number))
            .setColumnFamily(family(FAMILY, random.nextInt(4) == 0))
            .setColumnFamily(family(OTHER, random.nextInt(4) == 0))
            .setValue("number", Integer.toString(number))
            .build();
    if (random.nextBoolean()) {
      admin.createTable(table);
    } else {
      admin.createTable(table, new byte[][] {row(ROWS / 3), row(ROWS / 2)});
    }
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("row%04d", number));
  }

  private byte[] qualifier() {
    return random.nextInt(8) == 0 ? new byte[] {(byte) random.nextInt(256)}
        : Bytes.toBytes("q" + random.nextInt(4));
  }

  private byte[] value() {
    byte[] value = new byte[random.nextInt(random.nextInt(20) == 0 ? 20_000 : 60)];
    random.nextBytes(value);
    return value;
  }

  private void write(TableName name) throws IOException {
    try (Table table = connection.getTable(name)) {
      byte[] row = row(random.nextInt(ROWS));
      byte[] family = random.nextInt(3) == 0 ? OTHER : FAMILY;
      switch (random.nextInt(8)) {
        case 0 -> table.delete(delete(row, family));
        case 1 -> table.increment(new Increment(row).addColumn(FAMILY, Bytes.toBytes("count"), 3));
        case 2 -> table.append(new Append(row).addColumn(OTHER, Bytes.toBytes("text"), value()));
        case 3 -> {
          Put put = new Put(row).addColumn(family, qualifier(), value());
          put.setTTL(LONG_MS + random.nextInt());
          table.put(put);
        }
        default -> {
          List<Put> puts = new ArrayList<>();
          for (int count = 1 + random.nextInt(30); count > 0; count--) {
            byte[] other = row(random.nextInt(ROWS));
            puts.add(new Put(other).addColumn(family, qualifier(), value()));
          }
          table.batch(puts, new Object[puts.size()]);
        }
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private Delete delete(byte[] row, byte[] family) {
    return switch (random.nextInt(4)) {
      case 0 -> new Delete(row);
      case 1 -> new Delete(row).addFamily(family);
      case 2 -> new Delete(row).addColumns(family, qualifier());
      default -> new Delete(row).addColumn(family, qualifier());
    };
  }

  private void administer(Admin admin, int number) throws IOException {
    TableName name = name(number);
    boolean isEnabled = admin.isTableEnabled(name);
    try {
      switch (random.nextInt(9)) {
        case 0 -> {
          if (isEnabled) {
            admin.disableTable(name);
          } else {
            admin.enableTable(name);
          }
        }
        case 1 -> {
          // Without the setting, HBase returns the references that are left instead of the values.
          boolean hasMediumObjects =
              admin.getDescriptor(name).getColumnFamily(FAMILY).isMobEnabled();
          admin.modifyColumnFamily(name, family(FAMILY, hasMediumObjects));
        }
        case 2 -> {
          if (isEnabled) {
            admin.flush(name);
          }
        }
        case 3 -> {
          if (isEnabled) {
            admin.flush(name);
            admin.majorCompact(name);
          }
        }
        case 4 -> split(admin, name, isEnabled);
        case 5 -> merge(admin, name, isEnabled);
        case 6 -> admin.snapshot("snapshot-" + Long.toUnsignedString(random.nextLong(), 36), name);
        case 7 -> {
          if (random.nextInt(3) == 0) {
            if (isEnabled) {
              admin.disableTable(name);
            }
            admin.deleteTable(name);
            create(admin, number);
          }
        }
        default -> {
          if (isEnabled && random.nextInt(3) == 0 && !hasSplitParent(name)) {
            admin.disableTable(name);
            admin.truncateTable(name, random.nextBoolean());
          }
        }
      }
    } catch (HBaseIOException e) {
      // Regions that cannot be split or merged now: the state is unchanged.
      System.err.println("refused: " + e.getMessage());
    }
  }

  /**
   * Whether a region of the table was split and its files are still there. Truncating such a table,
   * HBase 2.6.1 deletes them instead of archiving them, even if a snapshot needs them: its
   * TruncateTableProcedure archives the regions in service only, and deletes the rest.
   */
  private boolean hasSplitParent(TableName name) throws IOException {
    // The comma ends the name, and the hyphen follows the comma.
    Scan rows =
        new Scan()
            .withStartRow(Bytes.toBytes(name.getNameAsString() + ","))
            .withStopRow(Bytes.toBytes(name.getNameAsString() + "-"));
    rows.addColumn(HConstants.CATALOG_FAMILY, HConstants.REGIONINFO_QUALIFIER);
    try (Table meta = connection.getTable(TableName.META_TABLE_NAME);
        ResultScanner regions = meta.getScanner(rows)) {
      for (Result region : regions) {
        RegionInfo info = RegionInfo.parseFromOrNull(region.value());
        if (info != null && info.isSplit()) {
          return true;
        }
      }
      return false;
    }
  }

  private void split(Admin admin, TableName name, boolean isEnabled) throws IOException {
    if (!isEnabled) {
      return;
    }
    List<RegionInfo> regions = admin.getRegions(name);
    RegionInfo region = regions.get(random.nextInt(regions.size()));
    byte[] key = row(random.nextInt(ROWS));
    if (region.containsRow(key) && !Bytes.equals(region.getStartKey(), key)) {
      await(admin.splitRegionAsync(region.getRegionName(), key));
    }
  }

  private void merge(Admin admin, TableName name, boolean isEnabled) throws IOException {
    List<RegionInfo> regions = admin.getRegions(name);
    if (!isEnabled || regions.size() < 2) {
      return;
    }
    int left = random.nextInt(regions.size() - 1);
    byte[][] names = {
      regions.get(left).getEncodedNameAsBytes(), regions.get(left + 1).getEncodedNameAsBytes()
    };
    await(admin.mergeRegionsAsync(names, false));
  }

  private static void await(java.util.concurrent.Future<Void> procedure) throws IOException {
    try {
      procedure.get(PROCEDURE_S, TimeUnit.SECONDS);
    } catch (InterruptedException | TimeoutException e) {
      throw new IOException(e);
    } catch (ExecutionException e) {
      System.err.println("refused: " + e.getCause().getMessage());
    }
  }
}
