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
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Takes snapshots of tables that were just split, and clones snapshots to tables. The snapshot
 * of the table {@code ns:t} is {@code of-ns-t}.
 */
final class Snapshots {
  private static final long PROCEDURE_S = 120;
  /** In the middle of those that {@link Worker} writes. */
  private static final byte[] ROW = Bytes.toBytes("row0200");

  private Snapshots() {}

  /**
   * Splits a region of the table in the middle of its rows and takes a snapshot before anything is
   * compacted, so that the snapshot has references to the files of the region that was split.
   */
  static void take(Connection connection, TableName table) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (!admin.isTableEnabled(table)) {
        admin.enableTable(table);
      }
      admin.flush(table);
      admin.compactionSwitch(false, List.of());
      for (RegionInfo region : admin.getRegions(table)) {
        if (region.containsRow(ROW) && !Arrays.equals(region.getStartKey(), ROW)) {
          admin.splitRegionAsync(region.getRegionName(), ROW).get(PROCEDURE_S, TimeUnit.SECONDS);
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

  private static String nameOf(TableName table) {
    return "of-" + table.getNamespaceAsString() + '-' + table.getQualifierAsString();
  }
}
