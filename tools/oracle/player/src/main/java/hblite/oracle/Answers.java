package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;

/** What HBase answered, in the shape of the recordings. */
final class Answers {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** Explicit timestamps of the files lie below or above; what lies between is from a clock. */
  private static final long CLOCK_FROM = 1_000_000_000_000L;

  private static final long CLOCK_UNTIL = 4_000_000_000_000L;

  private Answers() {}

  static ObjectNode ok() {
    return JSON.objectNode().put("ok", true);
  }

  static ObjectNode value(boolean value) {
    return JSON.objectNode().put("value", value);
  }

  static ObjectNode value(long value) {
    return JSON.objectNode().put("value", value);
  }

  static ObjectNode text(String text) {
    return JSON.objectNode().put("text", text);
  }

  /** Names, sorted. */
  static ObjectNode names(Collection<String> names) {
    ArrayNode sorted = JSON.arrayNode();
    new TreeSet<>(names).forEach(sorted::add);
    return JSON.objectNode().set("names", sorted);
  }

  static ObjectNode region(RegionInfo region) {
    return JSON.objectNode().set("region", boundaries(region));
  }

  /** The boundaries of regions in the order given. */
  static ObjectNode regions(List<RegionInfo> regions) {
    ArrayNode all = JSON.arrayNode();
    regions.forEach(region -> all.add(boundaries(region)));
    return JSON.objectNode().set("regions", all);
  }

  private static ArrayNode boundaries(RegionInfo region) {
    return JSON.arrayNode()
        .add(ByteStrings.write(region.getStartKey()))
        .add(ByteStrings.write(region.getEndKey()));
  }

  /** The cells of a read, or of a write that returns them. */
  static ObjectNode cellsOf(Result result) {
    return JSON.objectNode().set("cells", cells(result));
  }

  /** The answer to a Get: its cells, or whether there are some if it asked no more. */
  static ObjectNode got(Get get, Result result) {
    return get.isCheckExistenceOnly()
        ? JSON.objectNode().put("exists", result.getExists())
        : cellsOf(result);
  }

  /** One result of a scan. */
  static ObjectNode row(Result result) {
    ObjectNode answer = JSON.objectNode();
    answer.set("row", ByteStrings.write(result.getRow()));
    answer.set("cells", cells(result));
    if (result.mayHaveMoreCellsInRow()) {
      answer.put("more", true);
    }
    return answer;
  }

  static ObjectNode rows(List<Result> results) {
    ArrayNode rows = JSON.arrayNode();
    results.forEach(result -> rows.add(row(result)));
    return JSON.objectNode().set("rows", rows);
  }

  /** The answer to a write that returns cells only if there are some. */
  static ObjectNode written(Result result) {
    return withCells(ok(), result);
  }

  static ObjectNode checked(CheckAndMutateResult result) {
    return withCells(JSON.objectNode().put("success", result.isSuccess()), result.getResult());
  }

  static ObjectNode results(List<? extends JsonNode> results) {
    return JSON.objectNode().set("results", JSON.arrayNode().addAll(results));
  }

  private static ObjectNode withCells(ObjectNode answer, Result result) {
    if (result != null && !result.isEmpty()) {
      answer.set("cells", cells(result));
    }
    return answer;
  }

  private static ArrayNode cells(Result result) {
    ArrayNode all = JSON.arrayNode();
    if (!result.isEmpty()) {
      for (Cell cell : result.rawCells()) {
        all.add(cell(cell));
      }
    }
    return all;
  }

  private static ArrayNode cell(Cell cell) {
    ArrayNode parts = JSON.arrayNode();
    parts.add(
        ByteStrings.write(
            cell.getFamilyArray(), cell.getFamilyOffset(), cell.getFamilyLength()));
    parts.add(
        ByteStrings.write(
            cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength()));
    parts.add(timestamp(cell.getTimestamp()));
    parts.add(
        ByteStrings.write(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength()));
    if (cell.getType() != Cell.Type.Put) {
      parts.add(cell.getType().name());
    }
    return parts;
  }

  private static JsonNode timestamp(long timestamp) {
    boolean isStamped = CLOCK_FROM <= timestamp && timestamp < CLOCK_UNTIL;
    return isStamped ? JSON.textNode("now") : JSON.numberNode(timestamp);
  }
}
