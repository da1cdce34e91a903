package hblite.conformance;

import static hblite.conformance.Text.bytes;

import java.util.regex.Pattern;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.Table;

/** Snapshots: taken, listed, cloned, restored, deleted. */
final class SnapshotScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    Admin admin = store.admin;
    Table table = store.create("snapped", 1, "f");
    table.put(Store.put("r1", "q", 1, "v"));
    admin.snapshot("snap", table.getName());
    answers.ask("snapshots",
        () -> admin.listSnapshots().stream().map(SnapshotDescription::getName).toList());
    answers.ask("by an expression",
        () -> admin.listSnapshots(Pattern.compile("s.*")).get(0).getTableNameAsString());
    answers.ask("take it twice", () -> {
      admin.snapshot("snap", table.getName());
      return "done";
    });
    answers.ask("of no table", () -> {
      admin.snapshot("other", TableName.valueOf("nowhere"));
      return "done";
    });
    table.put(Store.put("r2", "q", 1, "v"));
    table.delete(new Delete(bytes("r1")));
    TableName clone = store.name("cloned");
    admin.cloneSnapshot("snap", clone);
    answers.ask("a clone", () -> Store.scan(store.connection.getTable(clone), new Scan()));
    answers.ask("clone no snapshot", () -> {
      admin.cloneSnapshot("none", store.name("other"));
      return "done";
    });
    answers.ask("restore an enabled table", () -> {
      admin.restoreSnapshot("snap");
      return "done";
    });
    admin.disableTable(table.getName());
    admin.restoreSnapshot("snap");
    admin.enableTable(table.getName());
    answers.ask("restored", () -> Store.scan(table, new Scan()));
    admin.deleteSnapshot("snap");
    answers.ask("deleted", () -> admin.listSnapshots().size());
    answers.ask("delete it twice", () -> {
      admin.deleteSnapshot("snap");
      return "done";
    });
    answers.ask("the clone without it",
        () -> Store.scan(store.connection.getTable(clone), new Scan()));
  }
}
