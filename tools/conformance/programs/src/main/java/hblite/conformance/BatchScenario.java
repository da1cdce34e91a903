package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** Many operations in one call, over several regions. */
final class BatchScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    TableName name = store.name("batches");
    store.admin.createTable(
        Store.descriptor(name, 1, "f"), new byte[][] {bytes("h"), bytes("p")});
    try (Table table = store.connection.getTable(name)) {
      mixed(table, answers);
      failing(table, answers);
      answers.ask("a thousand buffered puts",
          () -> {
            try (BufferedMutator mutator = store.connection.getBufferedMutator(name)) {
              for (int row = 0; row < 1000; row++) {
                mutator.mutate(Store.put("%c%03d".formatted('a' + row % 26, row), "b", 1, "v"));
              }
            }
            return Store.scan(table, new Scan().addColumn(F, bytes("b"))).size();
          });
      answers.ask("five hundred gets",
          () -> {
            List<Get> gets = new ArrayList<>();
            for (int row = 0; row < 500; row++) {
              gets.add(new Get(bytes("%c%03d".formatted('a' + row % 26, row))));
            }
            return Arrays.stream(table.get(gets)).filter(result -> !result.isEmpty()).count();
          });
      answers.ask("five hundred deletes",
          () -> {
            List<Delete> deletes = new ArrayList<>();
            for (int row = 0; row < 500; row++) {
              deletes.add(new Delete(bytes("%c%03d".formatted('a' + row % 26, row))));
            }
            table.delete(deletes);
            return Store.scan(table, new Scan().addColumn(F, bytes("b"))).size();
          });
    }
  }

  private static void mixed(Table table, Answers answers) {
    answers.ask("operations of all kinds",
        () -> {
          table.put(List.of(Store.put("a", "q", 1, "a"), Store.put("i", "q", 1, "i"),
              Store.put("z", "q", 1, "z")));
          List<Row> rows =
              List.of(
                  new Get(bytes("z")),
                  new Put(bytes("b")).addColumn(F, Q, 1, Q),
                  new Delete(bytes("a")),
                  new Increment(bytes("k")).addColumn(F, Q, 4),
                  new Append(bytes("i")).addColumn(F, Q, bytes("!")),
                  RowMutations.of(List.<Mutation>of(
                      new Put(bytes("q")).addColumn(F, Q, 1, Q))),
                  CheckAndMutate.newBuilder(bytes("s")).ifNotExists(F, Q)
                      .build(new Put(bytes("s")).addColumn(F, Q, 1, Q)),
                  new Get(bytes("nothing")));
          Object[] results = new Object[rows.size()];
          table.batch(rows, results);
          return results;
        });
    answers.ask("what they left", () -> Store.scan(table, new Scan()));
  }

  private static void failing(Table table, Answers answers) {
    answers.ask("one operation that fails",
        () -> {
          List<Row> rows =
              List.of(
                  new Put(bytes("ok")).addColumn(F, Q, 1, Q),
                  new Put(bytes("bad")).addColumn(bytes("none"), Q, Q),
                  new Get(bytes("s")));
          Object[] results = new Object[rows.size()];
          try {
            table.batch(rows, results);
          } catch (RetriesExhaustedWithDetailsException e) {
            return e.getNumExceptions() + " fails: " + Arrays.stream(results)
                .map(each -> each instanceof Throwable error
                    ? error.getClass().getSimpleName() : Text.of(each)).toList();
          }
          return "none fails";
        });
    answers.ask("the row beside it", () -> table.get(new Get(bytes("ok"))));
  }
}
