package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.filter.ByteArrayComparable;
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
import org.apache.hadoop.hbase.filter.FirstKeyValueMatchingQualifiersFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RandomRowFilter;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/** Filters from their description in the files. */
final class Filters {
  private Filters() {}

  /**
   * The filter that a description names.
   *
   * @throws Exception the exception of the filter's constructor or of the filter language's parser
   */
  static Filter of(JsonNode filter) throws Exception {
    String type = Arguments.text(filter, "type");
    return switch (type) {
      case "parse" -> new ParseFilter().parseFilterString(Arguments.text(filter, "text"));
      case "FilterList" -> list(filter);
      case "SkipFilter" -> new SkipFilter(of(Arguments.required(filter, "filter")));
      case "WhileMatchFilter" -> new WhileMatchFilter(of(Arguments.required(filter, "filter")));
      case "FamilyFilter", "QualifierFilter", "RowFilter", "ValueFilter" -> compare(type, filter);
      case "ColumnValueFilter",
          "DependentColumnFilter",
          "SingleColumnValueExcludeFilter",
          "SingleColumnValueFilter" ->
          ofOneColumn(type, filter);
      case "FuzzyRowFilter",
          "InclusiveStopFilter",
          "MultiRowRangeFilter",
          "PageFilter",
          "PrefixFilter",
          "RandomRowFilter" ->
          ofRows(type, filter);
      default -> ofCells(type, filter);
    };
  }

  private static Filter list(JsonNode filter) throws Exception {
    List<Filter> filters = new ArrayList<>();
    for (JsonNode one : Arguments.required(filter, "filters")) {
      filters.add(of(one));
    }
    return new FilterList(
        FilterList.Operator.valueOf(Arguments.text(filter, "operator")), filters);
  }

  private static Filter compare(String type, JsonNode filter) {
    CompareOperator operator = Arguments.compareOperator(filter);
    ByteArrayComparable comparator = Comparators.of(filter);
    return switch (type) {
      case "FamilyFilter" -> new FamilyFilter(operator, comparator);
      case "QualifierFilter" -> new QualifierFilter(operator, comparator);
      case "RowFilter" -> new RowFilter(operator, comparator);
      default -> new ValueFilter(operator, comparator);
    };
  }

  private static Filter ofOneColumn(String type, JsonNode filter) {
    byte[] family = Arguments.bytes(filter, "f");
    byte[] qualifier = Arguments.bytes(filter, "q");
    if (type.equals("DependentColumnFilter") && !filter.has("comparator")) {
      return new DependentColumnFilter(family, qualifier, Arguments.isSet(filter, "drop"));
    }
    CompareOperator operator = Arguments.compareOperator(filter);
    ByteArrayComparable comparator = Comparators.of(filter);
    return switch (type) {
      case "ColumnValueFilter" -> new ColumnValueFilter(family, qualifier, operator, comparator);
      case "DependentColumnFilter" ->
          new DependentColumnFilter(
              family, qualifier, Arguments.isSet(filter, "drop"), operator, comparator);
      case "SingleColumnValueExcludeFilter" ->
          withFlags(
              new SingleColumnValueExcludeFilter(family, qualifier, operator, comparator), filter);
      default ->
          withFlags(new SingleColumnValueFilter(family, qualifier, operator, comparator), filter);
    };
  }

  private static Filter withFlags(SingleColumnValueFilter made, JsonNode filter) {
    if (filter.has("filter_if_missing")) {
      made.setFilterIfMissing(Arguments.isSet(filter, "filter_if_missing"));
    }
    if (filter.has("latest_version_only")) {
      made.setLatestVersionOnly(Arguments.isSet(filter, "latest_version_only"));
    }
    return made;
  }

  private static Filter ofRows(String type, JsonNode filter) {
    return switch (type) {
      case "FuzzyRowFilter" -> fuzzy(filter);
      case "InclusiveStopFilter" -> new InclusiveStopFilter(Arguments.bytes(filter, "stop"));
      case "MultiRowRangeFilter" -> rowRanges(filter);
      case "PageFilter" -> new PageFilter(Arguments.number(filter, "size"));
      case "PrefixFilter" -> new PrefixFilter(Arguments.bytes(filter, "prefix"));
      default -> new RandomRowFilter((float) Arguments.required(filter, "chance").asDouble());
    };
  }

  private static Filter fuzzy(JsonNode filter) {
    List<Pair<byte[], byte[]>> keys = new ArrayList<>();
    for (JsonNode key : Arguments.required(filter, "keys")) {
      keys.add(new Pair<>(Arguments.bytes(key, 0), Arguments.bytes(key, 1)));
    }
    return new FuzzyRowFilter(keys);
  }

  private static Filter rowRanges(JsonNode filter) {
    if (filter.has("prefixes")) {
      return new MultiRowRangeFilter(Arguments.byteLists(filter, "prefixes"));
    }
    List<MultiRowRangeFilter.RowRange> ranges = new ArrayList<>();
    for (JsonNode range : Arguments.required(filter, "ranges")) {
      ranges.add(
          new MultiRowRangeFilter.RowRange(
              Arguments.bytes(range, 0),
              Arguments.isSet(range, 1),
              Arguments.bytes(range, 2),
              Arguments.isSet(range, 3)));
    }
    return new MultiRowRangeFilter(ranges);
  }

  private static Filter ofCells(String type, JsonNode filter) {
    return switch (type) {
      case "ColumnCountGetFilter" -> new ColumnCountGetFilter(Arguments.integer(filter, "limit"));
      case "ColumnPaginationFilter" -> pagination(filter);
      case "ColumnPrefixFilter" -> new ColumnPrefixFilter(Arguments.bytes(filter, "prefix"));
      case "ColumnRangeFilter" ->
          new ColumnRangeFilter(
              Arguments.bytes(filter, "min"),
              Arguments.isSet(filter, "min_inclusive"),
              Arguments.bytes(filter, "max"),
              Arguments.isSet(filter, "max_inclusive"));
      case "FirstKeyOnlyFilter" -> new FirstKeyOnlyFilter();
      case "FirstKeyValueMatchingQualifiersFilter" -> firstOfQualifiers(filter);
      case "KeyOnlyFilter" -> new KeyOnlyFilter(Arguments.isSet(filter, "len_as_val"));
      case "MultipleColumnPrefixFilter" ->
          new MultipleColumnPrefixFilter(Arguments.byteLists(filter, "prefixes"));
      case "TimestampsFilter" -> timestamps(filter);
      default -> throw new BadOperation("unknown filter " + type);
    };
  }

  private static Filter pagination(JsonNode filter) {
    int limit = Arguments.integer(filter, "limit");
    JsonNode offset = Arguments.required(filter, "offset");
    return offset.isTextual()
        ? new ColumnPaginationFilter(limit, ByteStrings.read(offset))
        : new ColumnPaginationFilter(limit, offset.asInt());
  }

  // No other filter of the client lets a file ask for it.
  @SuppressWarnings("deprecation")
  private static Filter firstOfQualifiers(JsonNode filter) {
    Set<byte[]> qualifiers = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    qualifiers.addAll(List.of(Arguments.byteLists(filter, "qualifiers")));
    return new FirstKeyValueMatchingQualifiersFilter(qualifiers);
  }

  private static Filter timestamps(JsonNode filter) {
    List<Long> timestamps = new ArrayList<>();
    for (JsonNode timestamp : Arguments.required(filter, "timestamps")) {
      timestamps.add(timestamp.asLong());
    }
    return new TimestampsFilter(timestamps, Arguments.isSet(filter, "can_hint"));
  }
}
