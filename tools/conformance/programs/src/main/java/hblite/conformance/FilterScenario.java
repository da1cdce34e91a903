package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.BigDecimalComparator;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.BinaryComponentComparator;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.BitComparator;
import org.apache.hadoop.hbase.filter.ColumnCountGetFilter;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.ColumnValueFilter;
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
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RandomRowFilter;
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

/** Every filter and comparator over the wire, on a scan and some on a get. */
final class FilterScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    Table table = store.create("filters", 1, "f", "g");
    List<Put> puts = new ArrayList<>();
    for (int row = 0; row < 4; row++) {
      Put put = new Put(bytes("row" + row));
      for (int column = 0; column < 3; column++) {
        put.addColumn(F, bytes("c" + column), column + 1L, bytes("v" + row + column));
      }
      puts.add(put.addColumn(Store.G, Q, 5, Bytes.toBytes((long) row)));
    }
    table.put(puts);
    Map<String, Filter> filters = new LinkedHashMap<>();
    rows(filters);
    columns(filters);
    values(filters);
    lists(filters);
    filters.forEach(
        (name, filter) ->
            answers.ask(name, () -> Store.scan(table, new Scan().setFilter(filter))));
    answers.ask("backwards",
        () -> Store.rows(table, new Scan().setReversed(true).setFilter(new PageFilter(2))).subList(0, 2));
    answers.ask("on a get",
        () -> table.get(new Get(bytes("row1")).setFilter(new ColumnCountGetFilter(2))));
    answers.ask("that lets no row through",
        () -> table.get(new Get(bytes("row1")).setFilter(new PrefixFilter(bytes("x")))));
  }

  private static void rows(Map<String, Filter> filters) {
    filters.put("row less", new RowFilter(CompareOperator.LESS, new BinaryComparator(bytes("row2"))));
    filters.put("row not equal",
        new RowFilter(CompareOperator.NOT_EQUAL, new BinaryComparator(bytes("row2"))));
    filters.put("row by prefix",
        new RowFilter(CompareOperator.EQUAL, new BinaryPrefixComparator(bytes("row"))));
    filters.put("row by expression",
        new RowFilter(CompareOperator.EQUAL, new RegexStringComparator("[13]$")));
    filters.put("row by part", new RowFilter(CompareOperator.EQUAL, new SubstringComparator("W3")));
    filters.put("row by component",
        new RowFilter(CompareOperator.EQUAL, new BinaryComponentComparator(bytes("w1"), 2)));
    filters.put("prefix", new PrefixFilter(bytes("row3")));
    filters.put("page", new PageFilter(2));
    filters.put("stop with", new InclusiveStopFilter(bytes("row1")));
    filters.put("no row by chance", new RandomRowFilter(-1));
    filters.put("fuzzy",
        new FuzzyRowFilter(List.of(new Pair<>(bytes("r?w2"), new byte[] {0, 1, 0, 0}))));
    filters.put("ranges",
        new MultiRowRangeFilter(
            // It sorts its argument.
            new ArrayList<>(
                List.of(
                    new MultiRowRangeFilter.RowRange("row0", true, "row1", false),
                    new MultiRowRangeFilter.RowRange("row2", false, "row3", true)))));
  }

  private static void columns(Map<String, Filter> filters) {
    filters.put("family", new FamilyFilter(CompareOperator.EQUAL, new BinaryComparator(bytes("g"))));
    filters.put("qualifier",
        new QualifierFilter(CompareOperator.GREATER_OR_EQUAL, new BinaryComparator(bytes("c2"))));
    filters.put("column prefix", new ColumnPrefixFilter(bytes("c1")));
    filters.put("column prefixes", new MultipleColumnPrefixFilter(new byte[][] {bytes("c0"), Q}));
    filters.put("column range", new ColumnRangeFilter(bytes("c0"), false, bytes("c2"), false));
    filters.put("columns by page", new ColumnPaginationFilter(2, 1));
    filters.put("columns from", new ColumnPaginationFilter(1, bytes("c1")));
    filters.put("count of columns", new ColumnCountGetFilter(1));
    filters.put("first key", new FirstKeyOnlyFilter());
    filters.put("keys", new KeyOnlyFilter());
    filters.put("keys with lengths", new KeyOnlyFilter(true));
    filters.put("times", new TimestampsFilter(List.of(1L, 3L)));
    filters.put("dependent", new DependentColumnFilter(F, bytes("c1"), false));
    filters.put("dependent without it", new DependentColumnFilter(F, bytes("c1"), true));
  }

  private static void values(Map<String, Filter> filters) {
    byte[] c1 = bytes("c1");
    filters.put("value", new ValueFilter(CompareOperator.EQUAL, new SubstringComparator("v1")));
    filters.put("bits",
        new ValueFilter(CompareOperator.EQUAL,
            new BitComparator(bytes("v12"), BitComparator.BitwiseOp.XOR)));
    filters.put("no value", new ValueFilter(CompareOperator.NOT_EQUAL, new NullComparator()));
    filters.put("number",
        new SingleColumnValueFilter(
            bytes("g"), Q, CompareOperator.GREATER, new LongComparator(1)));
    filters.put("decimal",
        new SingleColumnValueFilter(bytes("g"), Bytes.toBytes("none"), CompareOperator.EQUAL,
            new BigDecimalComparator(BigDecimal.TEN)));
    filters.put("single column",
        new SingleColumnValueFilter(F, c1, CompareOperator.EQUAL, bytes("v21")));
    SingleColumnValueFilter missing =
        new SingleColumnValueFilter(F, bytes("none"), CompareOperator.EQUAL, bytes("x"));
    missing.setFilterIfMissing(true);
    filters.put("single column that is missing", missing);
    filters.put("single column, left out",
        new SingleColumnValueExcludeFilter(F, c1, CompareOperator.EQUAL, bytes("v21")));
    filters.put("column value", new ColumnValueFilter(F, c1, CompareOperator.LESS, bytes("v21")));
  }

  private static void lists(Map<String, Filter> filters) throws Exception {
    Filter row1 = new PrefixFilter(bytes("row1"));
    Filter c1 = new ColumnPrefixFilter(bytes("c1"));
    filters.put("all of", new FilterList(FilterList.Operator.MUST_PASS_ALL, row1, c1));
    filters.put("one of", new FilterList(FilterList.Operator.MUST_PASS_ONE, row1, c1));
    filters.put("skip",
        new SkipFilter(
            new ValueFilter(CompareOperator.NOT_EQUAL, new BinaryComparator(bytes("v11")))));
    filters.put("while",
        new WhileMatchFilter(
            new RowFilter(CompareOperator.NOT_EQUAL, new BinaryComparator(bytes("row2")))));
    filters.put("parsed",
        new ParseFilter().parseFilterString("PrefixFilter('row') AND ValueFilter(=,'regexstring:0$')"));
  }
}
