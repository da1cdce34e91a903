package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/** Errors: their classes and messages. */
final class ErrorScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    Table table = store.create("errors", 1, "f");
    byte[] none = bytes("none");
    answers.ask("put into no family", () -> {
      table.put(new Put(bytes("r")).addColumn(none, Q, Q));
      return "done";
    });
    answers.ask("get from no family", () -> table.get(new Get(bytes("r")).addFamily(none)));
    answers.ask("scan no family", () -> Store.scan(table, new Scan().addFamily(none)));
    answers.ask("delete from no family", () -> {
      table.delete(new Delete(bytes("r")).addFamily(none));
      return "done";
    });
    answers.ask("count what is no number", () -> {
      table.put(Store.put("r", "q", 1, "text"));
      return table.increment(new Increment(bytes("r")).addColumn(F, Q, 1));
    });
    answers.ask("batch of puts into no family", () -> {
      try {
        table.put(List.of(new Put(bytes("r")).addColumn(none, Q, Q)));
      } catch (RetriesExhaustedWithDetailsException e) {
        return e.getCause(0);
      }
      return "done";
    });
    tables(store, answers);
    disabled(store, answers);
  }

  private static void tables(Store store, Answers answers) {
    TableName nowhere = TableName.valueOf("nowhere");
    Table table;
    try {
      table = store.connection.getTable(nowhere);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    answers.ask("get from no table", () -> table.get(new Get(bytes("r"))));
    answers.ask("put into no table", () -> {
      table.put(Store.put("r", "q", 1, "v"));
      return "done";
    });
    answers.ask("scan no table", () -> Store.scan(table, new Scan()));
    answers.ask("describe no table", () -> store.admin.getDescriptor(nowhere));
    answers.ask("drop no table", () -> {
      store.admin.deleteTable(nowhere);
      return "done";
    });
    answers.ask("disable no table", () -> {
      store.admin.disableTable(nowhere);
      return "done";
    });
    answers.ask("enable no table", () -> {
      store.admin.enableTable(nowhere);
      return "done";
    });
    answers.ask("is no table enabled", () -> store.admin.isTableEnabled(nowhere));
    answers.ask("truncate no table", () -> {
      store.admin.truncateTable(nowhere, false);
      return "done";
    });
    answers.ask("alter no table", () -> {
      store.admin.modifyTable(Store.descriptor(nowhere, 1, "f"));
      return "done";
    });
    answers.ask("create twice", () -> store.create("errors", 1, "f"));
    answers.ask("create without a family", () -> {
      store.admin.createTable(TableDescriptorBuilder.newBuilder(store.name("bare")).build());
      return "done";
    });
    answers.ask("create in no namespace", () -> {
      store.admin.createTable(Store.descriptor(TableName.valueOf("no:where"), 1, "f"));
      return "done";
    });
    answers.ask("create with no versions", () -> {
      store.admin.createTable(
          TableDescriptorBuilder.newBuilder(store.name("bare"))
              .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(F).setMinVersions(5)
                  .setMaxVersions(2).build()).build());
      return "done";
    });
  }

  private static void disabled(Store store, Answers answers) throws Exception {
    TableName name = TableName.valueOf("errors");
    answers.ask("drop an enabled table", () -> {
      store.admin.deleteTable(name);
      return "done";
    });
    answers.ask("enable an enabled table", () -> {
      store.admin.enableTable(name);
      return "done";
    });
    store.admin.disableTable(name);
    Table table = store.connection.getTable(name);
    answers.ask("get from a disabled table", () -> table.get(new Get(bytes("r"))));
    answers.ask("scan a disabled table", () -> Store.scan(table, new Scan()));
    answers.ask("disable a disabled table", () -> {
      store.admin.disableTable(name);
      return "done";
    });
    answers.ask("is it disabled", () -> store.admin.isTableDisabled(name));
    store.admin.enableTable(name);
    answers.ask("get from it again", () -> table.get(new Get(bytes("r"))));
  }
}
