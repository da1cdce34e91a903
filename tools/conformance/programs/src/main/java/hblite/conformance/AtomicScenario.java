package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.List;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.io.TimeRange;

/** Checks with changes, and changes of one row together. */
final class AtomicScenario implements Scenario {
  private static final byte[] ROW = bytes("r");

  @Override
  public void run(Store store, Answers answers) throws Exception {
    Table table = store.create("atomic", 3, "f", "g");
    checks(table, answers);
    filters(table, answers);
    changes(table, answers);
    together(table, answers);
  }

  private static CheckAndMutate.Builder check() {
    return CheckAndMutate.newBuilder(ROW);
  }

  private static Put put(String value) {
    return new Put(ROW).addColumn(F, Q, bytes(value));
  }

  private static String now(Table table) throws Exception {
    return Text.of(table.get(new Get(ROW)).getValue(F, Q));
  }

  private static void checks(Table table, Answers answers) {
    answers.ask("if not there",
        () -> table.checkAndMutate(check().ifNotExists(F, Q).build(put("b"))).isSuccess());
    answers.ask("if not there, but it is",
        () -> table.checkAndMutate(check().ifNotExists(F, Q).build(put("x"))).isSuccess());
    answers.ask("if equal",
        () -> table.checkAndMutate(check().ifEquals(F, Q, bytes("b")).build(put("m"))).isSuccess());
    for (CompareOperator operator : CompareOperator.values()) {
      if (operator == CompareOperator.NO_OP) {
        // HBase itself has no answer.
        continue;
      }
      for (String value : List.of("a", "m", "z")) {
        answers.ask("stored m, given " + value + ", " + operator,
            () -> table.checkAndMutate(
                check().ifMatches(F, Q, operator, bytes(value)).build(put("m"))).isSuccess());
      }
    }
    answers.ask("unequal to what is not there",
        () -> table.checkAndMutate(
            check().ifMatches(F, bytes("no"), CompareOperator.NOT_EQUAL, bytes("x"))
                .build(put("m"))).isSuccess());
    answers.ask("in a time range",
        () -> table.checkAndMutate(
            check().ifEquals(F, Q, bytes("m")).timeRange(TimeRange.between(0, 10))
                .build(put("m"))).isSuccess());
    answers.ask("another row",
        () -> table.checkAndMutate(
            check().ifNotExists(F, Q).build(new Put(bytes("s")).addColumn(F, Q, Q))));
    answers.ask("a family that is not there",
        () -> table.checkAndMutate(
            check().ifNotExists(bytes("none"), Q).build(put("x"))));
    answers.ask("what is there then", () -> now(table));
  }

  private static void filters(Table table, Answers answers) {
    FilterList matches =
        new FilterList(
            new SingleColumnValueFilter(F, Q, CompareOperator.EQUAL, bytes("m")),
            new SingleColumnValueFilter(F, Q, CompareOperator.LESS, bytes("n")));
    answers.ask("if a filter matches",
        () -> table.checkAndMutate(check().ifMatches(matches).build(put("n"))));
    answers.ask("if a filter matches no more",
        () -> table.checkAndMutate(check().ifMatches(matches).build(put("o"))));
  }

  private static void changes(Table table, Answers answers) {
    answers.ask("check and delete",
        () -> table.checkAndMutate(
            check().ifEquals(F, Q, bytes("n")).build(new Delete(ROW))).isSuccess());
    answers.ask("check and count",
        () -> table.checkAndMutate(
            check().ifNotExists(F, Q).build(new Increment(ROW).addColumn(F, bytes("c"), 3))));
    answers.ask("check and append",
        () -> table.checkAndMutate(
            check().ifNotExists(F, Q).build(new Append(ROW).addColumn(F, bytes("a"), Q))));
    answers.ask("check and count, refused",
        () -> table.checkAndMutate(
            check().ifEquals(F, Q, Q).build(new Increment(ROW).addColumn(F, bytes("c"), 3))));
    answers.ask("check and change a row",
        () -> table.checkAndMutate(
            check().ifNotExists(F, Q).build(
                RowMutations.of(List.<Mutation>of(
                    put("together"),
                    new Increment(ROW).addColumn(F, bytes("c"), 1),
                    new Append(ROW).addColumn(F, bytes("a"), bytes("!")))))));
    answers.ask("several checks",
        () -> table.checkAndMutate(
            List.of(
                check().ifEquals(F, Q, bytes("together")).build(put("p")),
                check().ifEquals(F, Q, bytes("never")).build(put("x")),
                check().ifEquals(F, Q, bytes("p")).build(new Delete(ROW).addColumns(F, Q)))));
  }

  private static void together(Table table, Answers answers) {
    answers.ask("a row changed together",
        () -> {
          RowMutations mutations = new RowMutations(ROW);
          mutations.add((Mutation) put("new"));
          mutations.add((Mutation) new Delete(ROW).addColumns(F, bytes("a")));
          return table.mutateRow(mutations);
        });
    answers.ask("what is there after that", () -> table.get(new Get(ROW)));
    answers.ask("all or nothing",
        () -> {
          RowMutations mutations = new RowMutations(ROW);
          mutations.add((Mutation) put("half"));
          mutations.add((Mutation) new Put(ROW).addColumn(bytes("none"), Q, Q));
          return table.mutateRow(mutations);
        });
    answers.ask("nothing of it", () -> now(table));
    answers.ask("a row changed together, with answers",
        () -> table.mutateRow(
            RowMutations.of(List.<Mutation>of(
                new Increment(ROW).addColumn(F, bytes("c"), 1),
                new Append(ROW).addColumn(F, Q, bytes("+"))))));
  }
}
