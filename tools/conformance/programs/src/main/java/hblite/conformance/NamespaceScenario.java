package hblite.conformance;

import java.util.Arrays;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Table;

/** Namespaces and their tables. */
final class NamespaceScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    Admin admin = store.admin;
    answers.ask("at first", admin::listNamespaces);
    admin.createNamespace(
        NamespaceDescriptor.create("ns").addConfiguration("key", "value").build());
    answers.ask("one more", admin::listNamespaces);
    answers.ask("what it is", () -> admin.getNamespaceDescriptor("ns"));
    answers.ask("create it twice", () -> {
      admin.createNamespace(NamespaceDescriptor.create("ns").build());
      return "done";
    });
    admin.modifyNamespace(
        NamespaceDescriptor.create("ns").addConfiguration("other", "1").build());
    answers.ask("changed", () -> admin.getNamespaceDescriptor("ns").getConfiguration());
    answers.ask("descriptors",
        () -> Arrays.stream(admin.listNamespaceDescriptors())
            .map(NamespaceDescriptor::getName).sorted().toList());
    TableName name = TableName.valueOf("ns", "table");
    admin.createTable(Store.descriptor(name, 1, "f"));
    try (Table table = store.connection.getTable(name)) {
      table.put(Store.put("r", "q", 1, "v"));
      answers.ask("a table inside", () -> table.get(new Get(Text.bytes("r"))));
    }
    answers.ask("its tables", () -> admin.listTableNamesByNamespace("ns"));
    answers.ask("its descriptors", () -> admin.listTableDescriptorsByNamespace(Text.bytes("ns")).size());
    answers.ask("by an expression", () -> admin.listTableNames(Pattern.compile("ns:.*")));
    answers.ask("drop it with a table", () -> {
      admin.deleteNamespace("ns");
      return "done";
    });
    admin.disableTable(name);
    admin.deleteTable(name);
    admin.deleteNamespace("ns");
    answers.ask("at last", admin::listNamespaces);
    answers.ask("one that is not there", () -> admin.getNamespaceDescriptor("ns"));
    answers.ask("drop one that is not there", () -> {
      admin.deleteNamespace("ns");
      return "done";
    });
    answers.ask("drop default", () -> {
      admin.deleteNamespace("default");
      return "done";
    });
    answers.ask("tables of none", () -> admin.listTableNamesByNamespace("ns"));
    answers.ask("tables of hbase", () -> admin.listTableNamesByNamespace("hbase"));
  }
}
