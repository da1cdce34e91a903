package hblite.conformance.older;

import static hblite.conformance.Text.bytes;

import hblite.conformance.Answers;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.CompareFilter.CompareOp;

/** Reads, writes, counters, conditions, batches and scans. */
@SuppressWarnings("deprecation")
final class Rows {
  static final byte[] F = bytes("f");
  static final byte[] G = bytes("g");
  static final byte[] Q = bytes("q");
  private static final TableName NAME = TableName.valueOf("older");

  private final Connection connection;
  private final Admin admin;
  private final Answers answers;

  Rows(Connection connection, Admin admin, Answers answers) {
    this.connection = connection;
    this.admin = admin;
    this.answers = answers;
  }

  static HTableDescriptor descriptor(TableName name) {
    HTableDescriptor table = new HTableDescriptor(name);
    table.addFamily(new HColumnDescriptor(F).setMaxVersions(3));
    table.addFamily(new HColumnDescriptor(G));
    return table;
  }

  static Put put(String row, String qualifier, long time, String value) {
    return new Put(bytes(row)).addColumn(F, bytes(qualifier), time, bytes(value));
  }

  static List<Result> scan(Table table, Scan scan) throws Exception {
    List<Result> all = new ArrayList<>();
    try (ResultScanner results = table.getScanner(scan)) {
      results.forEach(all::add);
    }
    return all;
  }

  void run() throws Exception {
    admin.createTable(descriptor(NAME), new byte[][] {bytes("m")});
    try (Table table = connection.getTable(NAME)) {
      gets(table);
      deletes(table);
      counters(table);
      conditions(table);
      batches(table);
      scans(table);
    } finally {
      admin.disableTable(NAME);
      admin.deleteTable(NAME);
    }
  }

  private void gets(Table table) throws Exception {
    for (int time = 1; time <= 4; time++) {
      table.put(put("r", "q", time, "v" + time));
    }
    table.put(put("r", "other", 7, "o").addColumn(G, Q, 8, bytes("g")));
    table.put(put("z", "q", 9, "z").setDurability(Durability.ASYNC_WAL));
    byte[] row = bytes("r");
    answers.ask("a row", () -> table.get(new Get(row)));
    answers.ask("all versions", () -> table.get(new Get(row).setMaxVersions()));
    answers.ask("two versions", () -> table.get(new Get(row).setMaxVersions(2)));
    answers.ask("a family", () -> table.get(new Get(row).addFamily(G)));
    answers.ask("a column", () -> table.get(new Get(row).addColumn(F, Q)));
    answers.ask("a time", () -> table.get(new Get(row).setTimeStamp(3)));
    answers.ask("a range of times",
        () -> table.get(new Get(row).setMaxVersions().setTimeRange(2, 4)));
    answers.ask("two columns of a family",
        () -> table.get(new Get(row).setMaxResultsPerColumnFamily(2).setMaxVersions()));
    answers.ask("from an offset", () -> table.get(new Get(row).setRowOffsetPerColumnFamily(1)));
    answers.ask("nothing", () -> table.get(new Get(bytes("none"))));
    answers.ask("existence", () -> table.exists(new Get(row)));
    answers.ask("existence of many",
        () -> table.existsAll(List.of(new Get(row), new Get(bytes("none")))));
    answers.ask("existence only", () -> table.get(new Get(row).setCheckExistenceOnly(true)));
    answers.ask("many", () -> table.get(List.of(new Get(bytes("z")), new Get(row))));
    answers.ask("a family that is missing", () -> table.get(new Get(row).addFamily(bytes("x"))));
    answers.ask("a write to it", () -> {
      table.put(new Put(row).addColumn(bytes("x"), Q, Q));
      return "done";
    });
    answers.ask("a long row", () -> {
      byte[] longRow = new byte[30_000];
      table.put(new Put(longRow).addColumn(F, Q, 1, Q));
      int length = table.get(new Get(longRow)).getRow().length;
      table.delete(new Delete(longRow));
      return length;
    });
    answers.ask("a value of two megabytes", () -> {
      table.put(new Put(bytes("big")).addColumn(F, Q, new byte[2 << 20]));
      int length = table.get(new Get(bytes("big"))).getValue(F, Q).length;
      table.delete(new Delete(bytes("big")));
      return length;
    });
  }

  private void deletes(Table table) throws Exception {
    for (String row : List.of("version", "versions", "newest", "family", "time", "row")) {
      for (int time = 1; time <= 3; time++) {
        table.put(put(row, "q", time, "v" + time).addColumn(G, Q, time, bytes("g" + time)));
      }
    }
    List<Delete> deletes =
        List.of(
            new Delete(bytes("version")).addColumn(F, Q, 2),
            new Delete(bytes("versions")).addColumns(F, Q, 2),
            new Delete(bytes("newest")).addColumn(F, Q),
            new Delete(bytes("family")).addFamily(F),
            new Delete(bytes("time")).addFamilyVersion(F, 2),
            new Delete(bytes("row")));
    for (Delete delete : deletes) {
      String name = new String(delete.getRow());
      answers.ask("deleted: " + name, () -> {
        table.delete(delete);
        return table.get(new Get(delete.getRow()).setMaxVersions());
      });
      answers.ask("deleted, raw: " + name,
          () -> scan(table,
              new Scan(delete.getRow(), bytes(name + "\0")).setRaw(true).setMaxVersions()));
    }
    answers.ask("put, delete, put", () -> {
      byte[] row = bytes("again");
      table.put(new Put(row).addColumn(F, Q, bytes("1")));
      table.delete(new Delete(row));
      table.put(new Put(row).addColumn(F, Q, bytes("2")));
      return table.get(new Get(row));
    });
    answers.ask("many deleted", () -> {
      table.delete(new ArrayList<>(List.of(new Delete(bytes("version")),
          new Delete(bytes("versions")), new Delete(bytes("newest")), new Delete(bytes("family")),
          new Delete(bytes("time")), new Delete(bytes("row")), new Delete(bytes("again")))));
      return scan(table, new Scan()).size();
    });
  }

  private void counters(Table table) {
    byte[] row = bytes("count");
    answers.ask("count", () -> table.incrementColumnValue(row, F, bytes("c"), 5));
    answers.ask("count down", () -> table.incrementColumnValue(row, F, bytes("c"), -7));
    answers.ask("count without a log",
        () -> table.incrementColumnValue(row, F, bytes("c"), 1, Durability.SKIP_WAL));
    answers.ask("count two",
        () -> table.increment(
            new Increment(row).addColumn(F, bytes("c"), 2).addColumn(G, bytes("c"), 3)));
    answers.ask("count what is not a number", () -> table.incrementColumnValue(bytes("r"), F, Q, 1));
    answers.ask("append", () -> table.append(new Append(row).add(F, Q, bytes("a"))));
    answers.ask("append more", () -> table.append(new Append(row).add(F, Q, bytes("b"))));
    answers.ask("append without an answer",
        () -> table.append(new Append(row).add(F, Q, bytes("c")).setReturnResults(false)));
    answers.ask("appended", () -> table.get(new Get(row).addColumn(F, Q)));
    answers.ask("cleared", () -> {
      table.delete(new Delete(row));
      return table.exists(new Get(row));
    });
  }

  private void conditions(Table table) {
    byte[] row = bytes("if");
    answers.ask("put if absent", () -> table.checkAndPut(row, F, Q, null, put("if", "q", 1, "a")));
    answers.ask("put if absent again",
        () -> table.checkAndPut(row, F, Q, null, put("if", "q", 2, "b")));
    answers.ask("put if equal",
        () -> table.checkAndPut(row, F, Q, bytes("a"), put("if", "q", 3, "c")));
    for (CompareOp op : CompareOp.values()) {
      answers.ask("put if " + op,
          () -> table.checkAndPut(row, F, Q, op, bytes("b"), put("if", op.name(), 4, "d")));
    }
    answers.ask("delete unless equal",
        () -> table.checkAndDelete(row, F, Q, CompareOp.NOT_EQUAL, bytes("c"),
            new Delete(row).addColumn(F, Q)));
    answers.ask("delete if equal",
        () -> table.checkAndDelete(row, F, Q, bytes("c"), new Delete(row).addColumn(F, Q, 3)));
    answers.ask("mutate if equal", () -> {
      RowMutations mutations = new RowMutations(row);
      mutations.add(put("if", "both", 5, "x"));
      mutations.add(new Delete(row).addColumns(F, Q));
      return table.checkAndMutate(row, F, Q, CompareOp.EQUAL, bytes("a"), mutations);
    });
    answers.ask("mutate unless equal", () -> {
      RowMutations mutations = new RowMutations(row);
      mutations.add(put("if", "never", 5, "x"));
      return table.checkAndMutate(row, F, bytes("both"), CompareOp.NOT_EQUAL, bytes("x"), mutations);
    });
    answers.ask("mutate", () -> {
      RowMutations mutations = new RowMutations(row);
      mutations.add(put("if", "third", 6, "y"));
      mutations.add(new Delete(row).addColumns(F, bytes("both"), 5));
      table.mutateRow(mutations);
      return table.get(new Get(row).addFamily(F));
    });
    answers.ask("another row than the condition's",
        () -> table.checkAndPut(bytes("else"), F, Q, null, put("if", "q", 1, "a")));
  }

  private void batches(Table table) {
    byte[] row = bytes("batch");
    answers.ask("a mixed batch", () -> {
      List<Row> actions =
          List.of(put("batch", "q", 1, "a"), new Get(bytes("r")), put("zz", "q", 1, "b"),
              new Get(bytes("none")), new Increment(row).addColumn(F, bytes("c"), 1),
              new Append(row).add(G, Q, bytes("x")), new Delete(bytes("if")));
      Object[] results = new Object[actions.size()];
      table.batch(actions, results);
      return results;
    });
    answers.ask("a batch with an error", () -> {
      List<Row> actions =
          List.of(put("batch", "q", 2, "b"), new Put(row).addColumn(bytes("x"), Q, Q));
      Object[] results = new Object[actions.size()];
      try {
        table.batch(actions, results);
        return "done";
      } finally {
        answers.ask("what it wrote", () -> table.get(new Get(row).addColumn(F, Q)));
      }
    });
    answers.ask("a batch with mutations of a row", () -> {
      RowMutations mutations = new RowMutations(row);
      mutations.add(put("batch", "m", 3, "m"));
      mutations.add(new Delete(row).addColumns(F, Q));
      Object[] results = new Object[1];
      table.batch(List.of(mutations), results);
      return results;
    });
    answers.ask("a buffered mutator", () -> {
      try (BufferedMutator mutator = connection.getBufferedMutator(NAME)) {
        for (int each = 0; each < 200; each++) {
          mutator.mutate(put("many" + each, "q", 1, "v"));
        }
        mutator.flush();
      }
      return scan(table, new Scan(bytes("many"), bytes("manz"))).size();
    });
  }

  private void scans(Table table) {
    answers.ask("both regions", () -> scan(table, new Scan(bytes("b"), bytes("many1"))));
    answers.ask("backwards",
        () -> scan(table, new Scan().withStartRow(bytes("many1")).setReversed(true)).size());
    answers.ask("two rows at a time", () -> scan(table, new Scan().setCaching(2)).size());
    answers.ask("one cell at a time",
        () -> scan(table, new Scan(bytes("r"), bytes("s")).setBatch(1).setMaxVersions()));
    answers.ask("partial rows",
        () -> scan(table, new Scan(bytes("r"), bytes("s")).setAllowPartialResults(true)
            .setMaxResultSize(1)));
    answers.ask("a limit", () -> scan(table, new Scan().withStartRow(bytes("many")).setLimit(2)));
    answers.ask("ends that are included",
        () -> scan(table,
            new Scan().withStartRow(bytes("many0"), false).withStopRow(bytes("many10"), true)));
    answers.ask("a prefix", () -> scan(table, new Scan().setRowPrefixFilter(bytes("many19"))).size());
    answers.ask("a column of all rows", () -> scan(table, new Scan().addColumn(G, Q)));
    answers.ask("a short scan", () -> scan(table, new Scan(bytes("r"), bytes("s")).setSmall(true)));
    answers.ask("limited columns",
        () -> scan(table, new Scan(bytes("r"), bytes("s")).setMaxResultsPerColumnFamily(1)));
    answers.ask("times of a family",
        () -> scan(table,
            new Scan(bytes("r"), bytes("s")).setColumnFamilyTimeRange(F, 2, 4).setMaxVersions()));
    answers.ask("a family that is missing, scanned",
        () -> scan(table, new Scan().addFamily(bytes("x"))));
  }
}
