package hblite.oracle.directory;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Takes snapshots of tables that were just split, clones snapshots to tables, and truncates tables.
 * The snapshot of the table {@code ns:t} is {@code of-ns-t}.
 */
final class Snapshots {
  private static final long PROCEDURE_S = 120;
  private static final long LOOK_AGAIN_MS = 500;
  /** Rows among those that {@link Worker} writes. */
  private static final byte[] ROW = Bytes.toBytes("row0200");

  private static final byte[] OTHER_ROW = Bytes.toBytes("row0300");

  private Snapshots() {}

  /**
   * Splits a region of the table among its rows and takes a snapshot before anything is compacted,
   * so that the snapshot has references to the files of the region that was split.
   */
  static void take(Connection connection, TableName table) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (!admin.isTableEnabled(table)) {
        admin.enableTable(table);
      }
      admin.flush(table);
      admin.compactionSwitch(false, List.of());
      for (RegionInfo region : admin.getRegions(table)) {
        if (region.containsRow(ROW)) {
          // A region cannot be split at its first row, where the Worker's tables have a boundary.
          byte[] key = Arrays.equals(region.getStartKey(), ROW) ? OTHER_ROW : ROW;
          admin.splitRegionAsync(region.getRegionName(), key).get(PROCEDURE_S, TimeUnit.SECONDS);
        }
      }
      admin.snapshot(nameOf(table), table);
      admin.compactionSwitch(true, List.of());
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new IOException(e);
    }
  }

  /** Clones the table from its snapshot, and creates its namespace if it is missing. */
  static void makeTable(Connection connection, TableName table) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      String namespace = table.getNamespaceAsString();
      if (!List.of(admin.listNamespaces()).contains(namespace)) {
        admin.createNamespace(NamespaceDescriptor.create(namespace).build());
      }
      admin.cloneSnapshot(nameOf(table), table);
    }
  }

  /** Drops the table, so that its snapshot can be cloned under its name. */
  static void drop(Connection connection, TableName table) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.disableTable(table);
      admin.deleteTable(table);
    }
  }

  /**
   * Truncates the table in such a way that HBase 2.6 loses no file of a snapshot of it: it deletes
   * the files of a region that was split and that the catalog janitor has not archived, which in
   * turn needs daughters without references to them.
   */
  static void truncate(Connection connection, TableName table) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.majorCompact(table);
      do {
        Thread.sleep(LOOK_AGAIN_MS);
      } while (admin.getCompactionState(table) != CompactionState.NONE);
      admin.disableTable(table);
      if (admin.runCatalogJanitor() == 0) {
        throw new IOException("the catalog janitor archived no region of " + table);
      }
      admin.truncateTable(table, true);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static String nameOf(TableName table) {
    return "of-" + table.getNamespaceAsString() + '-' + table.getQualifierAsString();
  }
}
