package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.io.TimeRange;

/** Writes from their arguments. Each method throws what the client says to such arguments. */
final class Mutations {
  private Mutations() {}

  /** One action of a batch, or what a check guards. */
  static Row action(JsonNode arguments) throws Exception {
    String name = Arguments.text(arguments, "op");
    return switch (name) {
      case "get" -> Reads.get(arguments);
      case "put" -> put(arguments);
      case "delete" -> delete(arguments);
      case "increment" -> increment(arguments);
      case "append" -> append(arguments);
      case "mutate_row" -> rowMutations(arguments);
      default -> throw new BadOperation("no action: " + name);
    };
  }

  static Put put(JsonNode arguments) {
    byte[] row = Arguments.bytes(arguments, "row");
    Put put = arguments.has("ts") ? new Put(row, arguments.get("ts").asLong()) : new Put(row);
    for (JsonNode cell : Arguments.list(arguments, "cells")) {
      byte[] family = ByteStrings.read(cell.get(0));
      byte[] qualifier = ByteStrings.read(cell.get(1));
      byte[] value = ByteStrings.read(cell.get(3));
      if (cell.get(2).isNull()) {
        put.addColumn(family, qualifier, value);
      } else {
        put.addColumn(family, qualifier, cell.get(2).asLong(), value);
      }
    }
    attributes(put, arguments);
    return put;
  }

  static Delete delete(JsonNode arguments) {
    byte[] row = Arguments.bytes(arguments, "row");
    Delete delete =
        arguments.has("ts") ? new Delete(row, arguments.get("ts").asLong()) : new Delete(row);
    for (JsonNode marker : Arguments.list(arguments, "del")) {
      if (marker.has("ts")) {
        addMarkerAt(delete, marker, marker.get("ts").asLong());
      } else {
        addMarker(delete, marker);
      }
    }
    attributes(delete, arguments);
    return delete;
  }

  private static void addMarker(Delete delete, JsonNode marker) {
    byte[] family = Arguments.bytes(marker, "f");
    byte[] qualifier = Arguments.bytes(marker, "q");
    String kind = Arguments.text(marker, "kind");
    switch (kind) {
      case "column" -> delete.addColumn(family, qualifier);
      case "columns" -> delete.addColumns(family, qualifier);
      case "family" -> delete.addFamily(family);
      default -> throw new BadOperation("no delete without a timestamp: " + kind);
    }
  }

  private static void addMarkerAt(Delete delete, JsonNode marker, long timestamp) {
    byte[] family = Arguments.bytes(marker, "f");
    byte[] qualifier = Arguments.bytes(marker, "q");
    String kind = Arguments.text(marker, "kind");
    switch (kind) {
      case "column" -> delete.addColumn(family, qualifier, timestamp);
      case "columns" -> delete.addColumns(family, qualifier, timestamp);
      case "family" -> delete.addFamily(family, timestamp);
      case "family_version" -> delete.addFamilyVersion(family, timestamp);
      default -> throw new BadOperation("no delete: " + kind);
    }
  }

  static Increment increment(JsonNode arguments) throws Exception {
    Increment increment = new Increment(Arguments.bytes(arguments, "row"));
    for (JsonNode cell : Arguments.list(arguments, "cells")) {
      increment.addColumn(
          ByteStrings.read(cell.get(0)), ByteStrings.read(cell.get(1)), cell.get(2).asLong());
    }
    if (arguments.has("ts")) {
      increment.setTimestamp(arguments.get("ts").asLong());
    }
    if (arguments.has("range")) {
      JsonNode range = arguments.get("range");
      increment.setTimeRange(range.get(0).asLong(), range.get(1).asLong());
    }
    if (arguments.has("return")) {
      increment.setReturnResults(Arguments.isSet(arguments, "return"));
    }
    attributes(increment, arguments);
    return increment;
  }

  static Append append(JsonNode arguments) {
    Append append = new Append(Arguments.bytes(arguments, "row"));
    for (JsonNode cell : Arguments.list(arguments, "cells")) {
      append.addColumn(
          ByteStrings.read(cell.get(0)),
          ByteStrings.read(cell.get(1)),
          ByteStrings.read(cell.get(2)));
    }
    if (arguments.has("ts")) {
      append.setTimestamp(arguments.get("ts").asLong());
    }
    if (arguments.has("range")) {
      JsonNode range = arguments.get("range");
      append.setTimeRange(range.get(0).asLong(), range.get(1).asLong());
    }
    if (arguments.has("return")) {
      append.setReturnResults(Arguments.isSet(arguments, "return"));
    }
    attributes(append, arguments);
    return append;
  }

  static RowMutations rowMutations(JsonNode arguments) throws Exception {
    RowMutations all = new RowMutations(Arguments.bytes(arguments, "row"));
    for (JsonNode one : Arguments.list(arguments, "mutations")) {
      if (!(action(one) instanceof Mutation mutation)) {
        throw new BadOperation("no mutation: " + one);
      }
      all.add(mutation);
    }
    return all;
  }

  static CheckAndMutate checkAndMutate(JsonNode arguments) throws Exception {
    JsonNode condition = Arguments.required(arguments, "if");
    byte[] family = Arguments.bytes(condition, "f");
    byte[] qualifier = Arguments.bytes(condition, "q");
    CheckAndMutate.Builder builder =
        CheckAndMutate.newBuilder(Arguments.bytes(arguments, "row"));
    if (condition.has("filter")) {
      builder.ifMatches(Filters.of(condition.get("filter")));
    } else if (Arguments.isSet(condition, "not_exists")) {
      builder.ifNotExists(family, qualifier);
    } else {
      byte[] value = Arguments.bytes(condition, "value");
      builder.ifMatches(family, qualifier, Arguments.compareOperator(condition), value);
    }
    if (condition.has("range")) {
      JsonNode range = condition.get("range");
      builder.timeRange(TimeRange.between(range.get(0).asLong(), range.get(1).asLong()));
    }
    Row then = action(Arguments.required(arguments, "then"));
    if (then instanceof Put put) {
      return builder.build(put);
    } else if (then instanceof Delete delete) {
      return builder.build(delete);
    } else if (then instanceof Increment increment) {
      return builder.build(increment);
    } else if (then instanceof Append append) {
      return builder.build(append);
    } else if (then instanceof RowMutations mutations) {
      return builder.build(mutations);
    }
    throw new BadOperation("no mutation to guard: " + arguments);
  }

  private static void attributes(Mutation mutation, JsonNode arguments) {
    if (arguments.has("ttl")) {
      mutation.setTTL(arguments.get("ttl").asLong());
    }
    if (arguments.has("durability")) {
      mutation.setDurability(Durability.valueOf(Arguments.text(arguments, "durability")));
    }
  }
}
