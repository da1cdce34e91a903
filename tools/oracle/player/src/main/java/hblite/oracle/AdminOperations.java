package hblite.oracle;

import static java.util.Map.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.TableDescriptor;

/** Operations on tables, families and namespaces. */
final class AdminOperations {
  private final Admin admin;

  AdminOperations(Admin admin) {
    this.admin = admin;
  }

  /** The operations by their names in the files. */
  Map<String, Operation> all() {
    return Map.ofEntries(
        entry("create", this::create),
        entry("alter", this::alter),
        entry("add_family", this::addFamily),
        entry("modify_family", this::modifyFamily),
        entry("delete_family", this::deleteFamily),
        entry("describe", this::describe),
        entry("disable", this::disable),
        entry("enable", this::enable),
        entry("drop", this::drop),
        entry("truncate", this::truncate),
        entry("table_exists", op -> Answers.value(admin.tableExists(Arguments.table(op)))),
        entry("is_enabled", op -> Answers.value(admin.isTableEnabled(Arguments.table(op)))),
        entry("is_disabled", op -> Answers.value(admin.isTableDisabled(Arguments.table(op)))),
        entry("list", this::list),
        entry("create_ns", this::createNamespace),
        entry("alter_ns", this::alterNamespace),
        entry("drop_ns", this::dropNamespace),
        entry("describe_ns", this::describeNamespace),
        entry("list_ns", op -> listNamespaces()),
        entry("list_ns_tables", this::listNamespaceTables));
  }

  private JsonNode create(JsonNode arguments) throws Exception {
    TableDescriptor table = Descriptors.table(arguments);
    if (arguments.has("splits")) {
      admin.createTable(table, Arguments.byteLists(arguments, "splits"));
    } else {
      admin.createTable(table);
    }
    return Answers.ok();
  }

  private JsonNode alter(JsonNode arguments) throws Exception {
    TableDescriptor present = admin.getDescriptor(Arguments.table(arguments));
    admin.modifyTable(Descriptors.altered(present, arguments));
    return Answers.ok();
  }

  private JsonNode addFamily(JsonNode arguments) throws Exception {
    TableName table = Arguments.table(arguments);
    admin.addColumnFamily(table, Descriptors.family(Arguments.required(arguments, "family")));
    return Answers.ok();
  }

  private JsonNode modifyFamily(JsonNode arguments) throws Exception {
    TableName table = Arguments.table(arguments);
    admin.modifyColumnFamily(table, Descriptors.family(Arguments.required(arguments, "family")));
    return Answers.ok();
  }

  private JsonNode deleteFamily(JsonNode arguments) throws IOException {
    admin.deleteColumnFamily(Arguments.table(arguments), Arguments.bytes(arguments, "family"));
    return Answers.ok();
  }

  private JsonNode describe(JsonNode arguments) throws IOException {
    return Answers.text(admin.getDescriptor(Arguments.table(arguments)).toString());
  }

  private JsonNode disable(JsonNode arguments) throws IOException {
    admin.disableTable(Arguments.table(arguments));
    return Answers.ok();
  }

  private JsonNode enable(JsonNode arguments) throws IOException {
    admin.enableTable(Arguments.table(arguments));
    return Answers.ok();
  }

  private JsonNode drop(JsonNode arguments) throws IOException {
    admin.deleteTable(Arguments.table(arguments));
    return Answers.ok();
  }

  private JsonNode truncate(JsonNode arguments) throws IOException {
    boolean keepsSplits = Arguments.isSet(arguments, "preserve_splits");
    admin.truncateTable(Arguments.table(arguments), keepsSplits);
    return Answers.ok();
  }

  private JsonNode list(JsonNode arguments) throws IOException {
    Stream<String> names = names(admin.listTableNames());
    if (arguments.has("regex")) {
      Pattern pattern = Pattern.compile(Arguments.text(arguments, "regex"));
      names = names.filter(name -> pattern.matcher(name).matches());
    }
    return Answers.names(names.toList());
  }

  private JsonNode createNamespace(JsonNode arguments) throws IOException {
    admin.createNamespace(Descriptors.namespace(arguments));
    return Answers.ok();
  }

  private JsonNode alterNamespace(JsonNode arguments) throws IOException {
    admin.modifyNamespace(Descriptors.namespace(arguments));
    return Answers.ok();
  }

  private JsonNode dropNamespace(JsonNode arguments) throws IOException {
    admin.deleteNamespace(Arguments.text(arguments, "ns"));
    return Answers.ok();
  }

  private JsonNode describeNamespace(JsonNode arguments) throws IOException {
    NamespaceDescriptor namespace =
        admin.getNamespaceDescriptor(Arguments.text(arguments, "ns"));
    ObjectNode properties = JsonNodeFactory.instance.objectNode();
    new TreeMap<>(namespace.getConfiguration()).forEach(properties::put);
    ObjectNode answer = JsonNodeFactory.instance.objectNode().put("name", namespace.getName());
    return answer.set("properties", properties);
  }

  private JsonNode listNamespaces() throws IOException {
    NamespaceDescriptor[] all = admin.listNamespaceDescriptors();
    return Answers.names(Arrays.stream(all).map(NamespaceDescriptor::getName).toList());
  }

  private JsonNode listNamespaceTables(JsonNode arguments) throws IOException {
    String namespace = Arguments.text(arguments, "ns");
    return Answers.names(names(admin.listTableNamesByNamespace(namespace)).toList());
  }

  private static Stream<String> names(TableName[] tables) {
    return Arrays.stream(tables).map(TableName::getNameAsString);
  }
}
