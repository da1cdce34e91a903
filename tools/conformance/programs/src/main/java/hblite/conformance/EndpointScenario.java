package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.coprocessor.AggregationClient;
import org.apache.hadoop.hbase.client.coprocessor.DoubleColumnInterpreter;
import org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter;
import org.apache.hadoop.hbase.util.Bytes;

/** Endpoints that HBase ships: aggregates over several regions. */
final class EndpointScenario implements Scenario {
  private static final String AGGREGATES =
      "org.apache.hadoop.hbase.coprocessor.AggregateImplementation";
  private static final byte[] D = bytes("d");
  private static final int ROWS = 20;

  @Override
  public void run(Store store, Answers answers) throws Exception {
    TableName name = store.name("aggregates");
    store.admin.createTable(
        TableDescriptorBuilder.newBuilder(Store.descriptor(name, 1, "f"))
            .setCoprocessor(AGGREGATES)
            .build(),
        new byte[][] {bytes("r07"), bytes("r15"), bytes("z")});
    Table table = store.connection.getTable(name);
    List<Put> puts = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      puts.add(
          new Put(bytes("r%02d".formatted(row)))
              .addColumn(F, Q, Bytes.toBytes(row * 3L - 10))
              .addColumn(F, D, Bytes.toBytes(row / 4.0)));
    }
    puts.add(new Put(bytes("r03x")).addColumn(F, Q, bytes("no number")));
    table.put(puts);
    try (AggregationClient client = new AggregationClient(store.connection.getConfiguration())) {
      LongColumnInterpreter longs = new LongColumnInterpreter();
      ask(answers, "maximum", () -> client.max(name, longs, scan(Q)));
      ask(answers, "minimum", () -> client.min(name, longs, scan(Q)));
      ask(answers, "sum", () -> client.sum(name, longs, scan(Q)));
      ask(answers, "rows", () -> client.rowCount(name, longs, scan(Q)));
      ask(answers, "average", () -> round(client.avg(name, longs, scan(Q))));
      ask(answers, "deviation", () -> round(client.std(name, longs, scan(Q))));
      ask(answers, "of some rows",
          () -> client.sum(name, longs, scan(Q).withStartRow(bytes("r05")).withStopRow(bytes("r09"))));
      ask(answers, "of no rows", () -> client.max(name, longs, scan(Q).withStartRow(bytes("s"))));
      DoubleColumnInterpreter doubles = new DoubleColumnInterpreter();
      ask(answers, "sum of fractions", () -> client.sum(name, doubles, scan(D)));
      ask(answers, "maximum of fractions", () -> client.max(name, doubles, scan(D)));
    }
  }

  /** A question whose method may throw any exception. */
  private interface Question {
    Object ask() throws Throwable;
  }

  private static void ask(Answers answers, String what, Question question) {
    answers.ask(
        what,
        () -> {
          try {
            return question.ask();
          } catch (Exception e) {
            throw e;
          } catch (Throwable e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private static Scan scan(byte[] qualifier) {
    return new Scan().addColumn(F, qualifier);
  }

  private static String round(double number) {
    return String.format(Locale.ROOT, "%.6f", number);
  }
}
