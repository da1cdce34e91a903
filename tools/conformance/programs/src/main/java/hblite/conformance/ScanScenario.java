package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.G;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan.ReadType;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** Scans in both directions over several regions, with limits of every kind. */
final class ScanScenario implements Scenario {
  private static final int ROWS = 30;

  @Override
  public void run(Store store, Answers answers) throws Exception {
    TableName name = store.name("scans");
    byte[][] splits = {bytes("r10"), bytes("r20")};
    store.admin.createTable(Store.descriptor(name, 3, "f", "g"), splits);
    try (Table table = store.connection.getTable(name)) {
      fill(table);
      bounds(table, answers);
      limits(table, answers);
      partial(table, answers);
      others(table, answers);
    }
  }

  private static void fill(Table table) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      puts.add(
          Store.put("r%02d".formatted(row), "q", 1, "v" + row)
              .addColumn(F, bytes("p"), 2, bytes("p"))
              .addColumn(G, Q, 3, bytes("g")));
    }
    table.put(puts);
  }

  private static Scan from(String row) {
    return new Scan().withStartRow(bytes(row));
  }

  private static void bounds(Table table, Answers answers) {
    answers.ask("all rows", () -> Store.rows(table, new Scan()));
    answers.ask("from a row", () -> Store.rows(table, from("r25")));
    answers.ask("behind a row", () -> Store.rows(table, new Scan().withStartRow(bytes("r25"), false)));
    answers.ask("to a row", () -> Store.rows(table, new Scan().withStopRow(bytes("r03"))));
    answers.ask("with the last row", () -> Store.rows(table, new Scan().withStopRow(bytes("r03"), true)));
    answers.ask("over a border",
        () -> Store.rows(table, from("r08").withStopRow(bytes("r12"))));
    answers.ask("one row",
        () -> Store.rows(table, from("r08").withStopRow(bytes("r08"), true)));
    answers.ask("between rows", () -> Store.rows(table, from("r081").withStopRow(bytes("r089"))));
    answers.ask("a prefix", () -> Store.rows(table, new Scan().setStartStopRowForPrefixScan(bytes("r1"))));
    answers.ask("backwards", () -> Store.rows(table, new Scan().setReversed(true)));
    answers.ask("backwards from a row", () -> Store.rows(table, from("r21").setReversed(true).setLimit(4)));
    answers.ask("backwards to a row",
        () -> Store.rows(table, from("r12").withStopRow(bytes("r08")).setReversed(true)));
    answers.ask("backwards with the last row",
        () -> Store.rows(table, from("r12").withStopRow(bytes("r08"), true).setReversed(true)));
    answers.ask("backwards from behind a row",
        () -> Store.rows(table,
            new Scan().withStartRow(bytes("r20"), false).setReversed(true).setLimit(2)));
    answers.ask("backwards from the start", () -> Store.rows(table, from("r00").setReversed(true)));
  }

  private static void limits(Table table, Answers answers) {
    for (int limit : new int[] {1, 10, 11, 100}) {
      answers.ask("limit " + limit, () -> Store.rows(table, new Scan().setLimit(limit)).size());
    }
    for (int caching : new int[] {1, 7, 1000}) {
      answers.ask("caching " + caching, () -> Store.rows(table, new Scan().setCaching(caching)).size());
    }
    answers.ask("answers of one byte", () -> Store.rows(table, new Scan().setMaxResultSize(1)).size());
    answers.ask("one row at once", () -> Store.rows(table, new Scan().setOneRowLimit()));
    answers.ask("read as pread", () -> Store.rows(table, new Scan().setReadType(ReadType.PREAD)).size());
    answers.ask("read as stream", () -> Store.rows(table, new Scan().setReadType(ReadType.STREAM)).size());
    answers.ask("cells of a family",
        () -> Store.scan(table, from("r29").setMaxResultsPerColumnFamily(1)));
    answers.ask("cells of a family from an offset",
        () -> Store.scan(table,
            from("r29").setMaxResultsPerColumnFamily(1).setRowOffsetPerColumnFamily(1)));
  }

  private static void partial(Table table, Answers answers) {
    answers.ask("a batch of cells", () -> Store.scan(table, from("r28").setBatch(2)));
    answers.ask("a batch of one cell, backwards",
        () -> Store.scan(table, from("r28").setBatch(1).setReversed(true).setLimit(3)));
    answers.ask("parts of rows",
        () -> Store.scan(table, from("r29").setAllowPartialResults(true).setMaxResultSize(1)));
    answers.ask("next of several",
        () -> {
          try (ResultScanner scanner = table.getScanner(new Scan().setCaching(4))) {
            Result[] five = scanner.next(5);
            scanner.renewLease();
            return five.length + scanner.next(100).length;
          }
        });
    answers.ask("next after the end",
        () -> {
          try (ResultScanner scanner = table.getScanner(from("r29"))) {
            scanner.next();
            return scanner.next();
          }
        });
    answers.ask("closed in the middle",
        () -> {
          ResultScanner scanner = table.getScanner(new Scan().setCaching(2));
          scanner.next();
          scanner.close();
          return scanner.next();
        });
  }

  private static void others(Table table, Answers answers) throws Exception {
    answers.ask("a column", () -> Store.scan(table, from("r29").addColumn(G, Q)));
    answers.ask("a family", () -> Store.scan(table, from("r29").addFamily(F)));
    answers.ask("a time", () -> Store.scan(table, from("r29").setTimestamp(2)));
    answers.ask("a time range", () -> Store.scan(table, from("r29").setTimeRange(2, 4)));
    for (int version = 10; version < 15; version++) {
      table.put(Store.put("r29", "q", version, "v" + version));
    }
    answers.ask("versions", () -> Store.scan(table, from("r29").addColumn(F, Q).readVersions(2)));
    answers.ask("all versions", () -> Store.scan(table, from("r29").addColumn(F, Q).readAllVersions()));
    answers.ask("a column raw", () -> Store.scan(table, from("r29").addColumn(F, Q).setRaw(true).readAllVersions()));
    answers.ask("raw", () -> Store.scan(table, from("r29").setRaw(true).readAllVersions()));
    answers.ask("with metrics",
        () -> {
          Scan scan = new Scan().setScanMetricsEnabled(true);
          try (ResultScanner scanner = table.getScanner(scan)) {
            scanner.forEach(result -> {});
            var metrics = scanner.getScanMetrics();
            return List.of(metrics.countOfRowsScanned.get(), metrics.countOfRegions.get());
          }
        });
    answers.ask("with a cursor",
        () -> Store.scan(table, new Scan().setNeedCursorResult(true).setLimit(3)).size());
  }
}
