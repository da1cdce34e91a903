package hblite.oracle;

import static java.util.Map.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;

/** Reads and writes of cells. */
final class DataOperations {
  /** An operation on an open table. */
  @FunctionalInterface
  private interface OnTable {
    JsonNode play(Table table, JsonNode arguments) throws Exception;
  }

  private final Connection connection;

  DataOperations(Connection connection) {
    this.connection = connection;
  }

  /** The operations by their names in the files. */
  Map<String, Operation> all() {
    return Map.ofEntries(
        entry("put", on(DataOperations::put)),
        entry("delete", on(DataOperations::delete)),
        entry("get", on(DataOperations::get)),
        entry("exists", on((table, op) -> Answers.value(table.exists(Reads.get(op))))),
        entry("scan", on(DataOperations::scan)),
        entry("increment", on(DataOperations::increment)),
        entry("increment_column", on(DataOperations::incrementColumn)),
        entry("append", on((table, op) -> Answers.cellsOf(table.append(Mutations.append(op))))),
        entry("mutate_row", on(DataOperations::mutateRow)),
        entry("check_and_mutate", on(DataOperations::checkAndMutate)),
        entry("check_and_mutate_batch", on(DataOperations::checkAndMutateBatch)),
        entry("batch", on(DataOperations::batch)));
  }

  private Operation on(OnTable operation) {
    return arguments -> {
      try (Table table = connection.getTable(Arguments.table(arguments))) {
        return operation.play(table, arguments);
      }
    };
  }

  private static JsonNode put(Table table, JsonNode arguments) throws Exception {
    table.put(Mutations.put(arguments));
    return Answers.ok();
  }

  private static JsonNode delete(Table table, JsonNode arguments) throws Exception {
    table.delete(Mutations.delete(arguments));
    return Answers.ok();
  }

  private static JsonNode get(Table table, JsonNode arguments) throws Exception {
    Get get = Reads.get(arguments);
    return Answers.got(get, table.get(get));
  }

  private static JsonNode scan(Table table, JsonNode arguments) throws Exception {
    int count = arguments.path("take").asInt(Integer.MAX_VALUE);
    List<Result> results = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(Reads.scan(arguments))) {
      while (results.size() < count) {
        Result result = scanner.next();
        if (result == null) {
          break;
        }
        results.add(result);
      }
    }
    return Answers.rows(results);
  }

  private static JsonNode increment(Table table, JsonNode arguments) throws Exception {
    return Answers.cellsOf(table.increment(Mutations.increment(arguments)));
  }

  private static JsonNode incrementColumn(Table table, JsonNode arguments) throws Exception {
    return Answers.value(
        table.incrementColumnValue(
            Arguments.bytes(arguments, "row"),
            Arguments.bytes(arguments, "f"),
            Arguments.bytes(arguments, "q"),
            Arguments.number(arguments, "amount")));
  }

  private static JsonNode mutateRow(Table table, JsonNode arguments) throws Exception {
    return Answers.written(table.mutateRow(Mutations.rowMutations(arguments)));
  }

  private static JsonNode checkAndMutate(Table table, JsonNode arguments) throws Exception {
    return Answers.checked(table.checkAndMutate(Mutations.checkAndMutate(arguments)));
  }

  private static JsonNode checkAndMutateBatch(Table table, JsonNode arguments) throws Exception {
    List<CheckAndMutate> checks = new ArrayList<>();
    for (JsonNode check : Arguments.required(arguments, "checks")) {
      checks.add(Mutations.checkAndMutate(check));
    }
    return Answers.results(table.checkAndMutate(checks).stream().map(Answers::checked).toList());
  }

  private static JsonNode batch(Table table, JsonNode arguments) throws Exception {
    List<Row> actions = new ArrayList<>();
    for (JsonNode action : Arguments.required(arguments, "actions")) {
      actions.add(Mutations.action(action));
    }
    Object[] results = new Object[actions.size()];
    boolean hasThrown = false;
    try {
      table.batch(actions, results);
    } catch (RetriesExhaustedWithDetailsException e) {
      // Its details stand in the results.
      hasThrown = true;
    }
    List<ObjectNode> answers = new ArrayList<>();
    for (int at = 0; at < results.length; at++) {
      answers.add(answer(actions.get(at), results[at]));
    }
    ObjectNode answer = Answers.results(answers);
    if (hasThrown) {
      answer.put("thrown", RetriesExhaustedWithDetailsException.class.getSimpleName());
    }
    return answer;
  }

  private static ObjectNode answer(Row action, Object result) {
    if (result instanceof Throwable thrown) {
      return Errors.answer(thrown);
    }
    return action instanceof Get get
        ? Answers.got(get, (Result) result)
        : Answers.cellsOf((Result) result);
  }
}
