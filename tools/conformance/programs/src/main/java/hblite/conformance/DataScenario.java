package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.G;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Puts, gets, counters. */
final class DataScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    Table table = store.create("data", 3, "f", "g");
    for (int version = 1; version <= 5; version++) {
      table.put(Store.put("r1", "q", version, "v" + version));
    }
    table.put(Store.put("r1", "other", 7, "o").addColumn(G, Q, 8, bytes("g8")));
    byte[] row = bytes("r1");
    answers.ask("get a row", () -> table.get(new Get(row)));
    answers.ask("get all versions", () -> table.get(new Get(row).readAllVersions()));
    answers.ask("get two versions", () -> table.get(new Get(row).readVersions(2)));
    answers.ask("get a family", () -> table.get(new Get(row).addFamily(G)));
    answers.ask("get a column", () -> table.get(new Get(row).addColumn(F, Q)));
    answers.ask("get what is not there", () -> table.get(new Get(bytes("r2"))));
    answers.ask("get a column that is not there",
        () -> table.get(new Get(row).addColumn(F, bytes("none"))));
    answers.ask("get a time", () -> table.get(new Get(row).setTimestamp(4)));
    answers.ask("get a time range",
        () -> table.get(new Get(row).setTimeRange(3, 5).readAllVersions()));
    answers.ask("get a time range of a family",
        () -> table.get(new Get(row).setColumnFamilyTimeRange(F, 0, 5)));
    answers.ask("get limited cells of a family",
        () -> table.get(new Get(row).setMaxResultsPerColumnFamily(1)));
    answers.ask("get from an offset in a family",
        () -> table.get(new Get(row).setMaxResultsPerColumnFamily(1).setRowOffsetPerColumnFamily(1)));
    answers.ask("does a row exist", () -> table.exists(new Get(row)));
    answers.ask("does no row exist", () -> table.exists(new Get(bytes("r2"))));
    answers.ask("do rows exist",
        () -> table.exists(List.of(new Get(row), new Get(bytes("r2")), new Get(row))));
    answers.ask("check existence only", () -> table.get(new Get(row).setCheckExistenceOnly(true)));
    answers.ask("get rows",
        () -> table.get(List.of(new Get(row).addFamily(G), new Get(bytes("no")), new Get(row))));
    unusual(table, answers);
    counters(table, answers);
  }

  private static void unusual(Table table, Answers answers) throws Exception {
    byte[] odd = {0, (byte) 0xff, ',', 10};
    table.put(new Put(odd).addColumn(F, odd, 9, odd).addColumn(F, (byte[]) null, 9, (byte[]) null));
    answers.ask("bytes that are no text", () -> table.get(new Get(odd)));
    byte[] longRow = new byte[Short.MAX_VALUE];
    Arrays.fill(longRow, (byte) 'x');
    table.put(new Put(longRow).addColumn(F, Q, 1, Q));
    answers.ask("the longest row", () -> table.get(new Get(longRow)).getRow().length);
    byte[] large = new byte[3 << 20];
    table.put(new Put(bytes("large")).addColumn(F, Q, 1, large));
    answers.ask("three megabytes", () -> table.get(new Get(bytes("large"))).value().length);
    for (Durability durability : Durability.values()) {
      table.put(Store.put("durable", durability.name(), 1, "d").setDurability(durability));
    }
    answers.ask("each durability", () -> table.get(new Get(bytes("durable"))));
    table.put(new Put(bytes("now")).addColumn(F, Q, Q));
    answers.ask("the server's time", () -> table.get(new Get(bytes("now"))));
    table.put(new Put(bytes("mortal")).addColumn(F, Q, 1, Q).setTTL(1));
    answers.ask("a cell whose time to live has passed", () -> table.get(new Get(bytes("mortal"))));
  }

  private static void counters(Table table, Answers answers) {
    byte[] row = bytes("counter");
    answers.ask("count from nothing", () -> table.incrementColumnValue(row, F, Q, 5));
    answers.ask("count down", () -> table.incrementColumnValue(row, F, Q, -7));
    answers.ask("count by nothing", () -> table.incrementColumnValue(row, F, Q, 0));
    answers.ask("count two columns",
        () -> table.increment(new Increment(row).addColumn(F, Q, 10).addColumn(G, Q, 20)));
    answers.ask("count without an answer",
        () -> table.increment(new Increment(row).addColumn(F, Q, 1).setReturnResults(false)));
    answers.ask("count over the end",
        () -> {
          table.put(new Put(bytes("end")).addColumn(F, Q, Bytes.toBytes(Long.MAX_VALUE)));
          return table.incrementColumnValue(bytes("end"), F, Q, 1);
        });
    answers.ask("append to nothing", () -> table.append(new Append(row).addColumn(F, bytes("a"), Q)));
    answers.ask("append", () -> table.append(new Append(row).addColumn(F, bytes("a"), bytes("xy"))));
    answers.ask("append without an answer",
        () -> table.append(new Append(row).addColumn(F, bytes("a"), Q).setReturnResults(false)));
    answers.ask("what was counted and appended", () -> table.get(new Get(row)));
  }
}
