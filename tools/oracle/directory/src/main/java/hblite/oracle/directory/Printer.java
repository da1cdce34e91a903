package hblite.oracle.directory;

import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Prints a cluster, one line for each thing: namespaces, tables with their settings, regions, all
 * versions of all cells, and snapshots. Two servers with the same content give the same lines.
 */
final class Printer {
  private static final int ROWS_PER_FETCH = 1_000;

  private final Connection connection;
  private final PrintStream out;

  Printer(Connection connection, PrintStream out) {
    this.connection = connection;
    this.out = out;
  }

  void print() throws IOException {
    try (Admin admin = connection.getAdmin()) {
      NamespaceDescriptor[] namespaces = admin.listNamespaceDescriptors();
      Arrays.sort(namespaces, Comparator.comparing(NamespaceDescriptor::getName));
      for (NamespaceDescriptor namespace : namespaces) {
        out.println("namespace " + namespace.getName() + ' ' + sorted(namespace.getConfiguration()));
      }
      List<TableDescriptor> tables = admin.listTableDescriptors();
      tables.sort(Comparator.comparing(TableDescriptor::getTableName));
      for (TableDescriptor table : tables) {
        print(admin, table);
      }
      List<SnapshotDescription> snapshots = admin.listSnapshots();
      snapshots.sort(Comparator.comparing(SnapshotDescription::getName));
      for (SnapshotDescription snapshot : snapshots) {
        out.println("snapshot " + snapshot.getName() + " of " + snapshot.getTableNameAsString());
      }
    }
  }

  /** Prints the settings of one table and all versions of its cells. */
  void print(TableName name) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      TableDescriptor table = admin.getDescriptor(name);
      printSettings(table, "");
      printCells(name);
    }
  }

  private void print(Admin admin, TableDescriptor table) throws IOException {
    boolean isEnabled = admin.isTableEnabled(table.getTableName());
    printSettings(table, isEnabled ? " enabled" : " disabled");
    if (!isEnabled) {
      return;
    }
    for (RegionInfo region : admin.getRegions(table.getTableName())) {
      out.println("region " + region.getRegionNameAsString());
    }
    printCells(table.getTableName());
  }

  private void printSettings(TableDescriptor table, String state) {
    out.println("table " + table.getTableName() + state + ' ' + sortedBytes(table.getValues()));
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
      out.println(
          "family " + Bytes.toStringBinary(family.getName()) + ' ' + sortedBytes(family.getValues())
              + ' ' + sorted(family.getConfiguration()));
    }
  }

  private void printCells(TableName table) throws IOException {
    Scan scan = new Scan().readAllVersions().setCaching(ROWS_PER_FETCH);
    try (Table cells = connection.getTable(table);
        ResultScanner rows = cells.getScanner(scan)) {
      for (Result row : rows) {
        row.listCells().forEach(cell -> out.println(line(cell)));
      }
    }
  }

  private static String line(Cell cell) {
    String time =
        PrivateCellUtil.getTag(cell, TagType.TTL_TAG_TYPE)
            .map(tag -> " for " + Tag.getValueAsLong(tag))
            .orElse("");
    return "cell " + Bytes.toStringBinary(CellUtil.cloneRow(cell)) + ' '
        + Bytes.toStringBinary(CellUtil.cloneFamily(cell)) + ':'
        + Bytes.toStringBinary(CellUtil.cloneQualifier(cell)) + ' ' + cell.getTimestamp() + time
        + ' ' + Bytes.toStringBinary(CellUtil.cloneValue(cell));
  }

  private static String sorted(Map<String, String> values) {
    return new TreeMap<>(values).toString();
  }

  private static String sortedBytes(Map<org.apache.hadoop.hbase.util.Bytes, ?> values) {
    Map<String, String> sorted = new TreeMap<>();
    values.forEach(
        (key, value) -> sorted.put(Bytes.toStringBinary(key.copyBytes()), value.toString()));
    return sorted.toString();
  }
}
