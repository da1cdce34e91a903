package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Query;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Gets and scans from their arguments.
 *
 * <p>An argument that is absent is not set, so that the client's default holds.
 */
final class Reads {
  private Reads() {}

  /**
   * The Get of an operation.
   *
   * @throws Exception the client's exception for invalid arguments
   */
  static Get get(JsonNode arguments) throws Exception {
    Get get = new Get(Arguments.bytes(arguments, "row"));
    columns(arguments, get::addFamily, get::addColumn);
    if (isAllVersions(arguments)) {
      get.readAllVersions();
    } else if (arguments.has("versions")) {
      get.readVersions(Arguments.integer(arguments, "versions"));
    }
    if (arguments.has("range")) {
      JsonNode range = arguments.get("range");
      get.setTimeRange(Arguments.number(range, 0), Arguments.number(range, 1));
    }
    if (arguments.has("ts")) {
      get.setTimestamp(Arguments.number(arguments, "ts"));
    }
    if (arguments.has("family_limit")) {
      get.setMaxResultsPerColumnFamily(Arguments.integer(arguments, "family_limit"));
    }
    if (arguments.has("family_offset")) {
      get.setRowOffsetPerColumnFamily(Arguments.integer(arguments, "family_offset"));
    }
    if (arguments.has("exists_only")) {
      get.setCheckExistenceOnly(Arguments.isSet(arguments, "exists_only"));
    }
    query(get, arguments);
    return get;
  }

  /**
   * The Scan of an operation.
   *
   * @throws Exception the client's exception for invalid arguments
   */
  static Scan scan(JsonNode arguments) throws Exception {
    Scan scan = new Scan();
    bounds(scan, arguments);
    columns(arguments, scan::addFamily, scan::addColumn);
    if (isAllVersions(arguments)) {
      scan.readAllVersions();
    } else if (arguments.has("versions")) {
      scan.readVersions(Arguments.integer(arguments, "versions"));
    }
    if (arguments.has("range")) {
      JsonNode range = arguments.get("range");
      scan.setTimeRange(Arguments.number(range, 0), Arguments.number(range, 1));
    }
    if (arguments.has("ts")) {
      scan.setTimestamp(Arguments.number(arguments, "ts"));
    }
    if (arguments.has("family_limit")) {
      scan.setMaxResultsPerColumnFamily(Arguments.integer(arguments, "family_limit"));
    }
    if (arguments.has("family_offset")) {
      scan.setRowOffsetPerColumnFamily(Arguments.integer(arguments, "family_offset"));
    }
    query(scan, arguments);
    course(scan, arguments);
    return scan;
  }

  private static void columns(
      JsonNode arguments, Consumer<byte[]> addFamily, BiConsumer<byte[], byte[]> addColumn) {
    for (JsonNode column : Arguments.list(arguments, "cols")) {
      byte[] family = Arguments.bytes(column, 0);
      if (column.has(1)) {
        addColumn.accept(family, Arguments.bytes(column, 1));
      } else {
        addFamily.accept(family);
      }
    }
  }

  private static boolean isAllVersions(JsonNode arguments) {
    return arguments.path("versions").asText().equals("all");
  }

  private static void query(Query query, JsonNode arguments) throws Exception {
    for (Map.Entry<String, JsonNode> range : Arguments.fields(arguments, "family_range")) {
      query.setColumnFamilyTimeRange(
          Bytes.toBytesBinary(range.getKey()),
          Arguments.number(range.getValue(), 0),
          Arguments.number(range.getValue(), 1));
    }
    if (arguments.has("filter")) {
      query.setFilter(Filters.of(arguments.get("filter")));
    }
    if (arguments.has("load_on_demand")) {
      query.setLoadColumnFamiliesOnDemand(Arguments.isSet(arguments, "load_on_demand"));
    }
  }

  // The recordings are of the deprecated method; the rows are those of its successor.
  @SuppressWarnings("deprecation")
  private static void bounds(Scan scan, JsonNode arguments) {
    if (arguments.has("start")) {
      boolean isInclusive = arguments.path("start_inclusive").asBoolean(true);
      scan.withStartRow(Arguments.bytes(arguments, "start"), isInclusive);
    }
    if (arguments.has("stop")) {
      boolean isInclusive = Arguments.isSet(arguments, "stop_inclusive");
      scan.withStopRow(Arguments.bytes(arguments, "stop"), isInclusive);
    }
    if (arguments.has("prefix")) {
      scan.setStartStopRowForPrefixScan(Arguments.bytes(arguments, "prefix"));
    }
  }

  /**
   * The scan's limits and batch. Set after the filter: the client refuses a batch with some of
   * them.
   */
  private static void course(Scan scan, JsonNode arguments) {
    scan.setReversed(Arguments.isSet(arguments, "reversed"));
    scan.setRaw(Arguments.isSet(arguments, "raw"));
    if (arguments.has("limit")) {
      scan.setLimit(Arguments.integer(arguments, "limit"));
    }
    if (Arguments.isSet(arguments, "one_row")) {
      scan.setOneRowLimit();
    }
    if (arguments.has("batch")) {
      scan.setBatch(Arguments.integer(arguments, "batch"));
    }
    if (arguments.has("caching")) {
      scan.setCaching(Arguments.integer(arguments, "caching"));
    }
    if (arguments.has("read_type")) {
      scan.setReadType(Scan.ReadType.valueOf(Arguments.text(arguments, "read_type")));
    }
  }
}
