package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.G;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** Deletes of every kind, and the cells that remain. */
final class DeleteScenario implements Scenario {
  /** A modification of a delete. */
  private interface Shape {
    Delete of(Delete delete);
  }

  @Override
  public void run(Store store, Answers answers) throws Exception {
    Table table = store.create("deletes", 5, "f", "g");
    erase(table, answers, "newest version", delete -> delete.addColumn(F, Q));
    erase(table, answers, "one version", delete -> delete.addColumn(F, Q, 2));
    erase(table, answers, "all versions", delete -> delete.addColumns(F, Q));
    erase(table, answers, "versions up to", delete -> delete.addColumns(F, Q, 2));
    erase(table, answers, "family", delete -> delete.addFamily(F));
    erase(table, answers, "family up to", delete -> delete.addFamily(F, 2));
    erase(table, answers, "version of a family", delete -> delete.addFamilyVersion(F, 2));
    erase(table, answers, "row", delete -> delete);
    erase(table, answers, "row up to", delete -> delete.setTimestamp(2));
    erase(table, answers, "two columns", delete -> delete.addColumns(F, Q).addColumns(G, Q));
    answers.ask("put behind a delete",
        () -> {
          table.delete(new Delete(bytes("behind")).addColumns(F, Q, 10));
          table.put(Store.put("behind", "q", 5, "hidden"));
          return table.get(new Get(bytes("behind")));
        });
    answers.ask("put before a delete",
        () -> {
          table.put(Store.put("behind", "q", 11, "seen"));
          return table.get(new Get(bytes("behind")));
        });
    answers.ask("delete rows at once",
        () -> {
          table.put(List.of(Store.put("x1", "q", 1, "a"), Store.put("x2", "q", 1, "b")));
          table.delete(new ArrayList<>(
              List.of(new Delete(bytes("x1")), new Delete(bytes("x2")))));
          return table.exists(List.of(new Get(bytes("x1")), new Get(bytes("x2"))));
        });
  }

  private static void erase(Table table, Answers answers, String what, Shape shape)
      throws Exception {
    byte[] row = bytes(what);
    for (int version = 1; version <= 3; version++) {
      table.put(
          new Put(row)
              .addColumn(F, Q, version, bytes("f" + version))
              .addColumn(G, Q, version, bytes("g" + version)));
    }
    table.delete(shape.of(new Delete(row)));
    answers.ask(what, () -> table.get(new Get(row).readAllVersions()));
    Scan raw = new Scan().withStartRow(row).withStopRow(row, true).setRaw(true).readAllVersions();
    answers.ask(what + ", raw",
        () -> Store.scan(table, raw).stream()
            .flatMap(result -> result.listCells().stream())
            .map(cell -> Text.of(cell).replaceAll("^[^/]*/", ""))
            .toList());
  }
}
