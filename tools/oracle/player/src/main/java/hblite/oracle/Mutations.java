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

/** Writes from their arguments. Each method throws the client's exception for invalid arguments. */
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
    Put put = arguments.has("ts") ? new Put(row, Arguments.number(arguments, "ts")) : new Put(row);
    for (JsonNode cell : Arguments.list(arguments, "cells")) {
      byte[] family = Arguments.bytes(cell, 0);
      byte[] qualifier = Arguments.bytes(cell, 1);
      byte[] value = Arguments.bytes(cell, 3);
      if (Arguments.item(cell, 2).isNull()) {
        put.addColumn(family, qualifier, value);
      } else {
        put.addColumn(family, qualifier, Arguments.number(cell, 2), value);
      }
    }
    attributes(put, arguments);
    return put;
  }

  static Delete delete(JsonNode arguments) {
    byte[] row = Arguments.bytes(arguments, "row");
    Delete delete =
        arguments.has("ts") ? new Delete(row, Arguments.number(arguments, "ts")) : new Delete(row);
    for (JsonNode marker : Arguments.list(arguments, "del")) {
      if (marker.has("ts")) {
        addMarkerAt(delete, marker, Arguments.number(marker, "ts"));
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
          Arguments.bytes(cell, 0), Arguments.bytes(cell, 1), Arguments.number(cell, 2));
    }
    if (arguments.has("ts")) {
      increment.setTimestamp(Arguments.number(arguments, "ts"));
    }
    if (arguments.has("range")) {
      JsonNode range = arguments.get("range");
      increment.setTimeRange(Arguments.number(range, 0), Arguments.number(range, 1));
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
          Arguments.bytes(cell, 0),
          Arguments.bytes(cell, 1),
          Arguments.bytes(cell, 2));
    }
    if (arguments.has("ts")) {
      append.setTimestamp(Arguments.number(arguments, "ts"));
    }
    if (arguments.has("range")) {
      JsonNode range = arguments.get("range");
      append.setTimeRange(Arguments.number(range, 0), Arguments.number(range, 1));
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
      builder.timeRange(TimeRange.between(Arguments.number(range, 0), Arguments.number(range, 1)));
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
      mutation.setTTL(Arguments.number(arguments, "ttl"));
    }
    if (arguments.has("durability")) {
      mutation.setDurability(Durability.valueOf(Arguments.text(arguments, "durability")));
    }
  }
}
