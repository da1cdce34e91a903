package hblite.conformance;

import static hblite.conformance.Text.bytes;

import java.util.regex.Pattern;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;

/** The asynchronous admin: what differs in calls from the synchronous one. */
final class AsyncAdminScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    AsyncAdmin admin = store.async.getAdmin();
    TableName name = store.name("asyncadmin");
    answers.ask("create",
        () -> admin.createTable(Store.descriptor(name, 1, "f"), new byte[][] {bytes("m")}).get());
    answers.ask("is it there", () -> admin.tableExists(name).get());
    answers.ask("is it available", () -> admin.isTableAvailable(name).get());
    answers.ask("regions", () -> admin.getRegions(name).get().size());
    answers.ask("tables", () -> admin.listTableNames(Pattern.compile("async.*"), false).get());
    answers.ask("add a family",
        () -> admin.addColumnFamily(name, ColumnFamilyDescriptorBuilder.of("g")).get());
    answers.ask("families", () -> admin.getDescriptor(name).get().getColumnFamilyNames());
    answers.ask("drop a family", () -> admin.deleteColumnFamily(name, bytes("g")).get());
    answers.ask("create twice",
        () -> admin.createTable(Store.descriptor(name, 1, "f")).get());
    answers.ask("no table", () -> admin.getDescriptor(TableName.valueOf("nowhere")).get());
    answers.ask("flush", () -> admin.flush(name).get());
    answers.ask("compact", () -> admin.majorCompact(name).get());
    answers.ask("disable", () -> admin.disableTable(name).get());
    answers.ask("is it disabled", () -> admin.isTableDisabled(name).get());
    answers.ask("disable twice", () -> admin.disableTable(name).get());
    answers.ask("enable", () -> admin.enableTable(name).get());
    answers.ask("drop enabled", () -> admin.deleteTable(name).get());
    answers.ask("namespace",
        () -> admin.createNamespace(NamespaceDescriptor.create("an").build()).get());
    answers.ask("namespaces", () -> admin.listNamespaces().get());
    answers.ask("drop the namespace", () -> admin.deleteNamespace("an").get());
    answers.ask("snapshot", () -> admin.snapshot("asnap", name).get());
    answers.ask("snapshots", () -> admin.listSnapshots().get().size());
    answers.ask("delete the snapshot", () -> admin.deleteSnapshot("asnap").get());
    answers.ask("balancer", () -> admin.isBalancerEnabled().get());
    answers.ask("splits", () -> admin.isSplitEnabled().get());
    answers.ask("a master", () -> admin.getMaster().get() != null);
    answers.ask("master switch", () -> admin.splitSwitch(true).get());
  }
}
