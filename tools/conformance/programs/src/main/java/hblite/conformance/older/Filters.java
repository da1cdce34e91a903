package hblite.conformance.older;

import static hblite.conformance.Text.bytes;
import static hblite.conformance.older.Rows.F;
import static hblite.conformance.older.Rows.G;
import static hblite.conformance.older.Rows.Q;

import hblite.conformance.Answers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.BitComparator;
import org.apache.hadoop.hbase.filter.ColumnCountGetFilter;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.CompareFilter.CompareOp;
import org.apache.hadoop.hbase.filter.DependentColumnFilter;
import org.apache.hadoop.hbase.filter.FamilyFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.LongComparator;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.NullComparator;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/** Filters and comparators, in the form in which older clients send them. */
@SuppressWarnings("deprecation")
final class Filters {
  private static final TableName NAME = TableName.valueOf("older_filters");

  private final Connection connection;
  private final Admin admin;
  private final Answers answers;

  Filters(Connection connection, Admin admin, Answers answers) {
    this.connection = connection;
    this.admin = admin;
    this.answers = answers;
  }

  void run() throws Exception {
    admin.createTable(Rows.descriptor(NAME));
    try (Table table = connection.getTable(NAME)) {
      for (int row = 0; row < 4; row++) {
        Put put = new Put(bytes("u00" + row + "_act1_20"));
        for (int column = 0; column < 3; column++) {
          put.addColumn(F, bytes("c" + column), column + 1L, bytes("v" + row + column));
        }
        table.put(put.addColumn(G, Q, 5, Bytes.toBytes((long) row)));
      }
      filters().forEach(
          (name, filter) ->
              answers.ask(name, () -> Rows.scan(table, new Scan().setFilter(filter))));
    } finally {
      admin.disableTable(NAME);
      admin.deleteTable(NAME);
    }
  }

  private static Map<String, Filter> filters() throws IOException {
    Map<String, Filter> filters = new LinkedHashMap<>();
    byte[] second = bytes("u002_act1_20");
    byte[] c1 = bytes("c1");
    filters.put("row", new RowFilter(CompareOp.LESS, new BinaryComparator(second)));
    filters.put("start of a row",
        new RowFilter(CompareOp.EQUAL, new BinaryPrefixComparator(bytes("u001"))));
    filters.put("expression", new RowFilter(CompareOp.EQUAL, new RegexStringComparator("[13]_act")));
    filters.put("part of a row", new RowFilter(CompareOp.EQUAL, new SubstringComparator("3_ACT")));
    filters.put("prefix", new PrefixFilter(bytes("u003")));
    filters.put("page", new PageFilter(2));
    filters.put("stop with", new InclusiveStopFilter(bytes("u001_act1_20")));
    filters.put("fuzzy",
        new FuzzyRowFilter(
            List.of(
                new Pair<>(
                    bytes("u\0\0\0_act1_20"), new byte[] {0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}))));
    filters.put("fuzzy, the second",
        new FuzzyRowFilter(
            List.of(new Pair<>(bytes("u??2_act"), new byte[] {0, 1, 1, 0, 0, 0, 0, 0}))));
    filters.put("ranges",
        new MultiRowRangeFilter(
            new ArrayList<>(
                List.of(
                    new MultiRowRangeFilter.RowRange("u000", true, "u001", false),
                    new MultiRowRangeFilter.RowRange("u003", true, "u004", true)))));
    filters.put("family", new FamilyFilter(CompareOp.EQUAL, new BinaryComparator(G)));
    filters.put("qualifier",
        new QualifierFilter(CompareOp.GREATER_OR_EQUAL, new BinaryComparator(bytes("c2"))));
    filters.put("column prefix", new ColumnPrefixFilter(c1));
    filters.put("column prefixes", new MultipleColumnPrefixFilter(new byte[][] {bytes("c0"), Q}));
    filters.put("column range", new ColumnRangeFilter(bytes("c0"), false, bytes("c2"), false));
    filters.put("columns by page", new ColumnPaginationFilter(2, 1));
    filters.put("count of columns", new ColumnCountGetFilter(1));
    filters.put("first key", new FirstKeyOnlyFilter());
    filters.put("keys", new KeyOnlyFilter());
    filters.put("times", new TimestampsFilter(List.of(1L, 3L)));
    filters.put("dependent", new DependentColumnFilter(F, c1));
    filters.put("value", new ValueFilter(CompareOp.EQUAL, new SubstringComparator("v1")));
    filters.put("bits",
        new ValueFilter(
            CompareOp.EQUAL, new BitComparator(bytes("v12"), BitComparator.BitwiseOp.XOR)));
    filters.put("no value", new ValueFilter(CompareOp.NOT_EQUAL, new NullComparator()));
    filters.put("number",
        new SingleColumnValueFilter(G, Q, CompareOp.GREATER, new LongComparator(1)));
    filters.put("single column",
        new SingleColumnValueFilter(F, c1, CompareOp.EQUAL, bytes("v21")));
    filters.put("single column, left out",
        new SingleColumnValueExcludeFilter(F, c1, CompareOp.EQUAL, bytes("v21")));
    filters.put("all of",
        new FilterList(
            FilterList.Operator.MUST_PASS_ALL,
            new PrefixFilter(bytes("u001")),
            new ColumnPrefixFilter(c1)));
    filters.put("one of",
        new FilterList(
            FilterList.Operator.MUST_PASS_ONE,
            new PrefixFilter(bytes("u001")),
            new ColumnPrefixFilter(c1)));
    filters.put("skip",
        new SkipFilter(new ValueFilter(CompareOp.NOT_EQUAL, new BinaryComparator(bytes("v11")))));
    filters.put("while",
        new WhileMatchFilter(new RowFilter(CompareOp.NOT_EQUAL, new BinaryComparator(second))));
    return filters;
  }
}
