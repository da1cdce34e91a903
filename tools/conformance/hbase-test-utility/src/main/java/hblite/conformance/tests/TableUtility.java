package hblite.conformance.tests;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder.ModifyableTableDescriptor;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;

/** Creates, changes and removes tables in the forms that HBase's tests use. */
public abstract class TableUtility extends WaitingUtility {
  private static final String NEW_VERSION_BEHAVIOR = "hbase.tests.new.version.behavior";
  private static final int VERSIONS_OF_TEST_TABLES = 3;
  private static final int DEFAULT_VERSIONS = 1;
  /** The middle regions of {@code createMultiRegionTable} lie between these. */
  private static final byte[] FIRST_SPLIT = Bytes.toBytes("aaaaa");
  private static final byte[] LAST_SPLIT = Bytes.toBytes("zzzzz");
  private static final byte[][] FAMILIES_OF_TEST_TABLES = {
    Bytes.toBytes("colfamily11"), Bytes.toBytes("colfamily21"), Bytes.toBytes("colfamily31")
  };

  protected TableUtility(Configuration configuration) {
    super(configuration);
  }

  public boolean isNewVersionBehaviorEnabled() {
    return Boolean.parseBoolean(System.getProperty(NEW_VERSION_BEHAVIOR, "false"));
  }

  private static byte[][] letters(char first, char last) {
    byte[][] keys = new byte[last - first + 1][];
    for (int index = 0; index < keys.length; index++) {
      byte[] key = new byte[3];
      Arrays.fill(key, (byte) (first + index));
      keys[index] = key;
    }
    return keys;
  }

  /** The split keys of tables of many regions: {@code bbb} to {@code yyy}, and {@code zzz}. */
  protected static byte[][] splitKeys(boolean withLast) {
    return letters('b', withLast ? 'z' : 'y');
  }

  private ColumnFamilyDescriptorBuilder family(byte[] name, int versions) {
    ColumnFamilyDescriptorBuilder family =
        ColumnFamilyDescriptorBuilder.newBuilder(name).setMaxVersions(versions);
    return isNewVersionBehaviorEnabled() ? family.setNewVersionBehavior(true) : family;
  }

  private Table create(TableDescriptor table, byte[][] splitKeys) throws IOException {
    if (splitKeys == null) {
      getAdmin().createTable(table);
    } else {
      getAdmin().createTable(table, splitKeys);
    }
    waitUntilAllRegionsAssigned(table.getTableName());
    return getConnection().getTable(table.getTableName());
  }

  private TableDescriptorBuilder table(TableName name, byte[][] families, int versions) {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    for (byte[] family : families) {
      table.setColumnFamily(family(family, versions).build());
    }
    return table;
  }

  public Table createTable(TableName name, String family) throws IOException {
    return createTable(name, new String[] {family});
  }

  public Table createTable(TableName name, String[] families) throws IOException {
    return createTable(name, Arrays.stream(families).map(Bytes::toBytes).toArray(byte[][]::new));
  }

  public Table createTable(TableName name, byte[] family) throws IOException {
    return createTable(name, new byte[][] {family});
  }

  public Table createTable(TableName name, byte[][] families) throws IOException {
    return createTable(name, families, (byte[][]) null);
  }

  public Table createTable(TableName name, byte[] family, byte[][] splitKeys) throws IOException {
    return createTable(name, new byte[][] {family}, splitKeys);
  }

  public Table createTable(TableName name, byte[][] families, byte[][] splitKeys)
      throws IOException {
    return createTable(name, families, splitKeys, 1);
  }

  public Table createTable(TableName name, byte[][] families, byte[][] splitKeys, int replicas)
      throws IOException {
    return createTable(name, families, splitKeys, replicas, conf);
  }

  public Table createTable(
      TableName name, byte[][] families, byte[][] splitKeys, int replicas, Configuration unused)
      throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    table.setRegionReplication(replicas);
    return createTable(table.build(), families, splitKeys, unused);
  }

  public Table createTable(TableDescriptor table, byte[][] families, Configuration unused)
      throws IOException {
    return createTable(table, families, null, unused);
  }

  public Table createTable(
      TableDescriptor table, byte[][] families, byte[][] splitKeys, Configuration unused)
      throws IOException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    for (byte[] name : families) {
      ColumnFamilyDescriptorBuilder family = family(name, DEFAULT_VERSIONS);
      builder.setColumnFamily(family.setBloomFilterType(BloomType.NONE).build());
    }
    return create(builder.build(), splitKeys);
  }

  public Table createTable(TableDescriptor table, byte[][] splitKeys) throws IOException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    if (isNewVersionBehaviorEnabled()) {
      for (var family : table.getColumnFamilies()) {
        builder.modifyColumnFamily(
            ColumnFamilyDescriptorBuilder.newBuilder(family).setNewVersionBehavior(true).build());
      }
    }
    return create(builder.build(), splitKeys);
  }

  public Table createTable(TableName name, byte[] family, int versions) throws IOException {
    return createTable(name, new byte[][] {family}, versions);
  }

  public Table createTable(TableName name, byte[][] families, int versions) throws IOException {
    return createTable(name, families, versions, (byte[][]) null);
  }

  public Table createTable(TableName name, byte[][] families, int versions, byte[][] splitKeys)
      throws IOException {
    return create(table(name, families, versions).build(), splitKeys);
  }

  public Table createTable(TableName name, byte[][] families, int[] versions) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    for (int index = 0; index < families.length; index++) {
      table.setColumnFamily(family(families[index], versions[index]).build());
    }
    return create(table.build(), null);
  }

  public Table createTable(TableName name, byte[][] families, int versions, int blockSize)
      throws IOException {
    return createTable(name, families, versions, blockSize, null);
  }

  public Table createTable(
      TableName name, byte[][] families, int versions, int blockSize, String coprocessor)
      throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    for (byte[] family : families) {
      table.setColumnFamily(family(family, versions).setBlocksize(blockSize).build());
    }
    if (coprocessor != null) {
      table.setCoprocessor(coprocessor);
    }
    return create(table.build(), null);
  }

  public Table createTable(
      TableName name, byte[][] families, int versions, byte[] first, byte[] last, int regions)
      throws IOException {
    getAdmin().createTable(table(name, families, versions).build(), first, last, regions);
    waitUntilAllRegionsAssigned(name);
    return getConnection().getTable(name);
  }

  public Table createMultiRegionTable(TableName name, byte[] family) throws IOException {
    return createTable(name, family, splitKeys(true));
  }

  public Table createMultiRegionTable(TableName name, byte[][] families) throws IOException {
    return createTable(name, families, splitKeys(true));
  }

  public Table createMultiRegionTable(TableName name, int replicas, byte[][] families)
      throws IOException {
    return createTable(name, families, splitKeys(true), replicas);
  }

  public Table createMultiRegionTable(TableName name, byte[][] families, int versions)
      throws IOException {
    return createTable(name, families, versions, splitKeys(true));
  }

  public Table createMultiRegionTable(TableName name, byte[] family, int regions)
      throws IOException {
    if (regions < 3) {
      throw new IOException("a table of many regions has at least 3");
    }
    byte[][] splitKeys = Bytes.split(FIRST_SPLIT, LAST_SPLIT, regions - 3);
    return createTable(name, new byte[][] {family}, splitKeys);
  }

  public void deleteTable(TableName name) throws IOException {
    if (getAdmin().isTableEnabled(name)) {
      getAdmin().disableTable(name);
    }
    getAdmin().deleteTable(name);
  }

  public void deleteTableIfAny(TableName name) throws IOException {
    if (getAdmin().tableExists(name)) {
      deleteTable(name);
    }
  }

  public Table truncateTable(TableName name) throws IOException {
    return truncateTable(name, false);
  }

  public Table truncateTable(TableName name, boolean keepsSplits) throws IOException {
    if (getAdmin().isTableEnabled(name)) {
      getAdmin().disableTable(name);
    }
    getAdmin().truncateTable(name, keepsSplits);
    return getConnection().getTable(name);
  }

  public static void modifyTableSync(Admin admin, TableDescriptor table) throws IOException {
    admin.modifyTable(table);
  }

  public static void setReplicas(Admin admin, TableName name, int replicas) throws IOException {
    TableDescriptor table = admin.getDescriptor(name);
    admin.modifyTable(
        TableDescriptorBuilder.newBuilder(table).setRegionReplication(replicas).build());
  }

  public static void setReplicas(AsyncAdmin admin, TableName name, int replicas)
      throws InterruptedException, ExecutionException {
    TableDescriptor table = admin.getDescriptor(name).get();
    admin
        .modifyTable(
            TableDescriptorBuilder.newBuilder(table).setRegionReplication(replicas).build())
        .get();
  }

  public ModifyableTableDescriptor createModifyableTableDescriptor(String name) {
    return createModifyableTableDescriptor(
        TableName.valueOf(name),
        ColumnFamilyDescriptorBuilder.DEFAULT_MIN_VERSIONS,
        VERSIONS_OF_TEST_TABLES,
        HConstants.FOREVER,
        ColumnFamilyDescriptorBuilder.DEFAULT_KEEP_DELETED);
  }

  public ModifyableTableDescriptor createModifyableTableDescriptor(
      TableName name, int minVersions, int versions, int secondsToLive, KeepDeletedCells keeps) {
    ModifyableTableDescriptor table = new ModifyableTableDescriptor(name);
    for (byte[] family : FAMILIES_OF_TEST_TABLES) {
      table.setColumnFamily(
          family(family, versions)
              .setMinVersions(minVersions)
              .setKeepDeletedCells(keeps)
              .setBlockCacheEnabled(false)
              .setTimeToLive(secondsToLive)
              .build());
    }
    return table;
  }

  public HTableDescriptor createTableDescriptor(String name) {
    return createTableDescriptor(TableName.valueOf(name));
  }

  public HTableDescriptor createTableDescriptor(TableName name) {
    return createTableDescriptor(
        name,
        HColumnDescriptor.DEFAULT_MIN_VERSIONS,
        VERSIONS_OF_TEST_TABLES,
        HConstants.FOREVER,
        HColumnDescriptor.DEFAULT_KEEP_DELETED);
  }

  public HTableDescriptor createTableDescriptor(
      String name, int minVersions, int versions, int secondsToLive, KeepDeletedCells keeps) {
    return createTableDescriptor(
        TableName.valueOf(name), minVersions, versions, secondsToLive, keeps);
  }

  public HTableDescriptor createTableDescriptor(
      TableName name, int minVersions, int versions, int secondsToLive, KeepDeletedCells keeps) {
    return new HTableDescriptor(
        createModifyableTableDescriptor(name, minVersions, versions, secondsToLive, keeps));
  }

  public HTableDescriptor createTableDescriptor(TableName name, byte[] family) {
    return createTableDescriptor(name, new byte[][] {family}, DEFAULT_VERSIONS);
  }

  public HTableDescriptor createTableDescriptor(TableName name, byte[][] families, int versions) {
    return new HTableDescriptor(table(name, families, versions).build());
  }

  /** Asserts that two tables differ in nothing but the name. */
  public void verifyTableDescriptorIgnoreTableName(TableDescriptor one, TableDescriptor other) {
    assertEquals(one.getValues(), other.getValues());
    assertEquals(
        Arrays.asList(one.getColumnFamilies()), Arrays.asList(other.getColumnFamilies()));
  }
}
