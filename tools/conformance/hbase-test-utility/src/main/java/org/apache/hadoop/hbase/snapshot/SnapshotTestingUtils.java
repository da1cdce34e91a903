package org.apache.hadoop.hbase.snapshot;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import hblite.conformance.tests.OtherProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionReplicaUtil;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.SnapshotType;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Helpers for tests of snapshots, through a client: it precedes HBase's own on the class path.
 *
 * <p>The files of a snapshot differ between clusters. The tests clone a snapshot to a table to
 * check that it is complete.
 */
public final class SnapshotTestingUtils {
  /** The first bytes of rows; all but the first are split keys. */
  private static final byte[] FIRST_BYTES = Bytes.toBytes("0123456");

  private static final long WAITS_MS = 60_000;

  private SnapshotTestingUtils() {}

  public static void assertNoSnapshots(Admin admin) throws IOException {
    assertEquals(List.of(), admin.listSnapshots());
  }

  public static List<SnapshotDescription> assertExistsMatchingSnapshot(
      Admin admin, String name, TableName table) throws IOException {
    List<SnapshotDescription> found = new ArrayList<>(admin.listSnapshots());
    found.removeIf(each -> !name.equals(each.getName()) || !table.equals(each.getTableName()));
    assertTrue("no snapshot " + name + " of " + table, !found.isEmpty());
    return found;
  }

  public static List<SnapshotDescription> assertOneSnapshotThatMatches(
      Admin admin, String name, TableName table) throws IOException {
    assertEquals(1, admin.listSnapshots().size());
    return assertExistsMatchingSnapshot(admin, name, table);
  }

  public static List<SnapshotDescription> assertOneSnapshotThatMatches(
      Admin admin, byte[] name, TableName table) throws IOException {
    return assertOneSnapshotThatMatches(admin, Bytes.toString(name), table);
  }

  public static void assertOneSnapshotThatMatches(
      Admin admin, SnapshotProtos.SnapshotDescription snapshot) throws IOException {
    TableName table = TableName.valueOf(snapshot.getTable());
    assertOneSnapshotThatMatches(admin, snapshot.getName(), table);
  }

  public static void confirmSnapshotValid(
      SnapshotProtos.SnapshotDescription snapshot,
      TableName table,
      byte[] family,
      Path root,
      Admin admin,
      FileSystem files)
      throws IOException {
    confirmSnapshotValid(snapshot, table, List.of(family), null, root, admin, files);
  }

  /** The snapshot is there and has the families that the table has. */
  public static void confirmSnapshotValid(
      SnapshotProtos.SnapshotDescription snapshot,
      TableName table,
      List<byte[]> familiesWithFiles,
      List<byte[]> familiesWithout,
      Path root,
      Admin admin,
      FileSystem files)
      throws IOException {
    assertExistsMatchingSnapshot(admin, snapshot.getName(), table);
    List<byte[]> families = new ArrayList<>();
    families.addAll(familiesWithFiles == null ? List.of() : familiesWithFiles);
    families.addAll(familiesWithout == null ? List.of() : familiesWithout);
    for (byte[] family : families) {
      assertTrue(Bytes.toString(family), admin.getDescriptor(table).hasColumnFamily(family));
    }
  }

  public static void createSnapshotAndValidate(
      Admin admin,
      TableName table,
      String family,
      String name,
      Path root,
      FileSystem files,
      boolean isOnline)
      throws Exception {
    List<byte[]> families = List.of(Bytes.toBytes(family));
    createSnapshotAndValidate(admin, table, families, null, name, root, files, isOnline);
  }

  /** Leaves the table disabled unless the snapshot is to be of an enabled one. */
  public static void createSnapshotAndValidate(
      Admin admin,
      TableName table,
      List<byte[]> familiesWithFiles,
      List<byte[]> familiesWithout,
      String name,
      Path root,
      FileSystem files,
      boolean isOnline)
      throws Exception {
    if (!isOnline && !admin.isTableDisabled(table)) {
      admin.disableTable(table);
    }
    admin.snapshot(name, table);
    assertEquals(1, assertExistsMatchingSnapshot(admin, name, table).size());
  }

  public static void snapshot(
      Admin admin, String name, TableName table, SnapshotType type, int tries)
      throws IOException {
    snapshot(admin, name, table, type, tries, null);
  }

  public static void snapshot(
      Admin admin,
      String name,
      TableName table,
      SnapshotType type,
      int tries,
      Map<String, Object> properties)
      throws IOException {
    admin.snapshot(name, table, type, properties);
  }

  public static void cleanupSnapshot(Admin admin, byte[] name) throws IOException {
    cleanupSnapshot(admin, Bytes.toString(name));
  }

  public static void cleanupSnapshot(Admin admin, String name) throws IOException {
    admin.deleteSnapshot(name);
    assertNoSnapshots(admin);
  }

  public static void deleteAllSnapshots(Admin admin) throws IOException {
    for (SnapshotDescription snapshot : admin.listSnapshots()) {
      admin.deleteSnapshot(snapshot.getName());
    }
    assertNoSnapshots(admin);
  }

  /** The files that remain of dropped tables differ between clusters. */
  public static void deleteArchiveDirectory(HBaseTestingUtility utility) {}

  public static ArrayList<?> corruptSnapshot(HBaseTestingUtility utility, String name) {
    throw OtherProcess.has("the cluster's directory");
  }

  public static byte[][] getSplitKeys() {
    return getSplitKeys(FIRST_BYTES.length);
  }

  /** The split keys for this many regions; at most one fewer than there are first bytes. */
  public static byte[][] getSplitKeys(int regions) {
    int count = Math.min(regions, FIRST_BYTES.length - 1);
    int distance = FIRST_BYTES.length / count;
    byte[][] keys = new byte[count - 1][];
    for (int index = 0; index < keys.length; index++) {
      keys[index] = new byte[] {FIRST_BYTES[1 + index * distance]};
    }
    return keys;
  }

  public static void createTable(HBaseTestingUtility utility, TableName table, byte[]... families)
      throws IOException {
    createTable(utility, table, 1, families);
  }

  public static void createTable(
      HBaseTestingUtility utility, TableName table, int replicas, byte[]... families)
      throws IOException {
    createTable(utility, table, replicas, FIRST_BYTES.length, families);
  }

  public static void createPreSplitTable(
      HBaseTestingUtility utility, TableName table, int regions, byte[]... families)
      throws IOException {
    createTable(utility, table, 1, regions, families);
  }

  public static void createTable(
      HBaseTestingUtility utility,
      TableName name,
      int replicas,
      int regions,
      byte[]... families)
      throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    table.setRegionReplication(replicas);
    for (byte[] family : families) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.of(family));
    }
    byte[][] keys = getSplitKeys(regions);
    utility.createTable(table.build(), keys);
    assertEquals((keys.length + 1) * replicas, utility.getAdmin().getRegions(name).size());
  }

  public static void loadData(
      HBaseTestingUtility utility, TableName table, int rows, byte[]... families)
      throws IOException {
    try (BufferedMutator mutator = utility.getConnection().getBufferedMutator(table)) {
      loadData(utility, mutator, rows, families);
    }
  }

  /** Puts this many new rows, at least one with each of the first bytes. */
  public static void loadData(
      HBaseTestingUtility utility, BufferedMutator mutator, int rows, byte[]... families)
      throws IOException {
    assertTrue(rows >= FIRST_BYTES.length);
    Set<String> names = new HashSet<>();
    for (int number = 0; names.size() < rows; number++) {
      String name = Long.toHexString(ThreadLocalRandom.current().nextLong());
      if (number < FIRST_BYTES.length) {
        name = (char) FIRST_BYTES[number] + name;
      }
      if (!names.add(name)) {
        continue;
      }
      byte[] row = Bytes.toBytes(name);
      Put put = new Put(row);
      for (byte[] family : families) {
        put.addColumn(family, Bytes.toBytes("q"), row);
      }
      mutator.mutate(put);
    }
    mutator.flush();
    waitForTableToBeOnline(utility, mutator.getName());
  }

  public static void waitForTableToBeOnline(HBaseTestingUtility utility, TableName table)
      throws IOException {
    utility.waitTableAvailable(table, WAITS_MS);
  }

  public static void verifyRowCount(HBaseTestingUtility utility, TableName name, long rows)
      throws IOException {
    try (Table table = utility.getConnection().getTable(name)) {
      assertEquals(rows, utility.countRows(table));
    }
  }

  public static void verifyReplicasCameOnline(TableName table, Admin admin, int replicas)
      throws IOException {
    List<RegionInfo> regions = admin.getRegions(table);
    Set<RegionInfo> primaries = new HashSet<>();
    for (RegionInfo region : regions) {
      primaries.add(RegionReplicaUtil.getRegionInfoForDefaultReplica(region));
      for (int replica = 0; replica < replicas; replica++) {
        RegionInfo wanted = RegionReplicaUtil.getRegionInfoForReplica(region, replica);
        assertTrue(wanted + " is not there", regions.contains(wanted));
      }
    }
    assertEquals(getSplitKeys().length + 1, primaries.size());
  }
}
