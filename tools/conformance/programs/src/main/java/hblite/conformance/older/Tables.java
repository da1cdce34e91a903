package hblite.conformance.older;

import static hblite.conformance.Text.bytes;
import static hblite.conformance.older.Rows.F;
import static hblite.conformance.older.Rows.Q;

import hblite.conformance.Answers;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.VersionInfo;

/** Tables, regions, namespaces, snapshots, and the errors of each. */
@SuppressWarnings("deprecation")
final class Tables {
  private static final TableName NAME = TableName.valueOf("older_tables");
  private static final TableName COPY = TableName.valueOf("older_copy");
  private static final int WAIT_MAX_S = 60;
  private static final int LOOK_AGAIN_MS = 100;
  private static final TableName NOWHERE = TableName.valueOf("nowhere");

  /** A call without an answer. */
  private interface Call {
    void run() throws Exception;
  }

  private final Connection connection;
  private final Admin admin;
  private final Answers answers;

  Tables(Connection connection, Admin admin, Answers answers) {
    this.connection = connection;
    this.admin = admin;
    this.answers = answers;
  }

  private void ask(String question, Callable<?> answer) {
    answers.ask(question, answer);
  }

  private void call(String what, Call call) {
    answers.ask(what, () -> {
      call.run();
      return "done";
    });
  }

  /** The attributes of a descriptor in order: clients before 2.0 keep that of the answer. */
  private static String sorted(Object descriptor) {
    return Arrays.stream(descriptor.toString().split("(?<!=>) (?!=>)")).sorted().collect(
        Collectors.joining(" "));
  }

  void run() throws Exception {
    tables();
    states();
    snapshots();
    namespaces();
  }

  private void tables() {
    call("create", () -> admin.createTable(Rows.descriptor(NAME), new byte[][] {bytes("m")}));
    call("create again", () -> admin.createTable(Rows.descriptor(NAME)));
    call("create without families", () -> admin.createTable(new HTableDescriptor(COPY)));
    ask("existence", () -> admin.tableExists(NAME));
    ask("no existence", () -> admin.tableExists(NOWHERE));
    ask("is it available", () -> admin.isTableAvailable(NAME));
    ask("names", () -> admin.listTableNames());
    ask("names by pattern", () -> admin.listTableNames("older_.*"));
    ask("descriptor", () -> sorted(admin.getTableDescriptor(NAME)));
    ask("no descriptor", () -> admin.getTableDescriptor(NOWHERE));
    ask("regions", () -> admin.getTableRegions(NAME).size());
    ask("starts", () -> {
      try (RegionLocator locator = connection.getRegionLocator(NAME)) {
        return locator.getStartKeys();
      }
    });
    ask("where a row is", () -> {
      try (RegionLocator locator = connection.getRegionLocator(NAME)) {
        return locator.getRegionLocation(bytes("x")).getRegionInfo().getStartKey();
      }
    });
    ask("a row of no table", () -> connection.getTable(NOWHERE).get(new Get(Q)));
    call("a write to no table",
        () -> connection.getTable(NOWHERE).put(new Put(Q).addColumn(F, Q, Q)));
    call("add a family", () -> admin.addColumn(NAME, new HColumnDescriptor("h")));
    call("add it again", () -> admin.addColumn(NAME, new HColumnDescriptor("h")));
    call("change a family",
        () -> admin.modifyColumn(NAME, new HColumnDescriptor("h").setMaxVersions(7)));
    ask("changed", () -> sorted(admin.getTableDescriptor(NAME).getFamily(bytes("h"))));
    call("drop a family", () -> admin.deleteColumn(NAME, bytes("h")));
    call("drop no family", () -> admin.deleteColumn(NAME, bytes("h")));
    call("change the table", () -> {
      HTableDescriptor changed = new HTableDescriptor(admin.getTableDescriptor(NAME));
      changed.setMaxFileSize(1L << 30);
      admin.modifyTable(NAME, changed);
    });
    ask("its size", () -> admin.getTableDescriptor(NAME).getMaxFileSize());
    ask("status of the change", () -> admin.getAlterStatus(NAME).getFirst());
    ask("servers", () -> admin.getClusterStatus().getServersSize());
    ask("version", () -> admin.getClusterStatus().getHBaseVersion().replaceAll("-.*", ""));
    ask("regions of the server",
        () -> admin.getOnlineRegions(admin.getClusterStatus().getServers().iterator().next())
            .stream().anyMatch(region -> region.getTable().equals(NAME)));
    ask("the balancer", () -> admin.isBalancerEnabled());
  }

  private void states() throws Exception {
    Table table = connection.getTable(NAME);
    table.put(Rows.put("r", "q", 1, "v"));
    call("flush", () -> admin.flush(NAME));
    call("compact", () -> admin.majorCompact(NAME));
    call("flush no table", () -> admin.flush(NOWHERE));
    call("drop while enabled", () -> admin.deleteTable(NAME));
    call("enable while enabled", () -> admin.enableTable(NAME));
    call("disable", () -> admin.disableTable(NAME));
    ask("is it disabled", () -> admin.isTableDisabled(NAME));
    ask("a row while disabled", () -> table.get(new Get(bytes("r"))));
    call("disable again", () -> admin.disableTable(NAME));
    call("enable", () -> admin.enableTable(NAME));
    ask("is it enabled", () -> admin.isTableEnabled(NAME));
    ask("its row", () -> table.get(new Get(bytes("r"))));
    call("disable nothing", () -> admin.disableTable(NOWHERE));
    call("enable nothing", () -> admin.enableTable(NOWHERE));
    call("drop nothing", () -> admin.deleteTable(NOWHERE));
    ask("disable by an empty pattern", () -> admin.disableTables("").length);
    ask("disable by a pattern", () -> admin.disableTables("older_t.*").length);
    ask("enable by a pattern", () -> admin.enableTables("older_t.*").length);
  }

  private void snapshots() {
    call("snapshot", () -> admin.snapshot("older_snapshot", NAME));
    call("snapshot again", () -> admin.snapshot("older_snapshot", NAME));
    call("snapshot of nothing", () -> admin.snapshot("other", NOWHERE));
    ask("snapshots",
        () -> admin.listSnapshots("older_.*").stream().map(each -> each.getName()).collect(
            Collectors.toList()));
    call("clone nothing", () -> admin.cloneSnapshot("nothing", NOWHERE));
    call("restore while enabled", () -> admin.restoreSnapshot("older_snapshot"));
    ask("clone", () -> {
      try {
        admin.cloneSnapshot("older_snapshot", COPY);
        return "done";
      } catch (DoNotRetryIOException e) {
        // Clients before 2.0 ask whether it is done, which HBase 2.6 does not answer.
        return "started";
      }
    });
    ask("is the clone available", () -> {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_MAX_S);
      while (!admin.isTableAvailable(COPY) && System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
      }
      return admin.isTableAvailable(COPY);
    });
    ask("cloned", () -> Rows.scan(connection.getTable(COPY), new Scan()));
    if (!VersionInfo.getVersion().startsWith("1.")) {
      call("restore", () -> {
        connection.getTable(NAME).put(Rows.put("s", "q", 1, "v"));
        admin.disableTable(NAME);
        admin.restoreSnapshot("older_snapshot");
        admin.enableTable(NAME);
      });
      ask("restored", () -> Rows.scan(connection.getTable(NAME), new Scan()));
    }
    call("delete the snapshot", () -> admin.deleteSnapshot("older_snapshot"));
    call("delete it again", () -> admin.deleteSnapshot("older_snapshot"));
    call("truncate", () -> {
      admin.disableTable(NAME);
      admin.truncateTable(NAME, true);
    });
    ask("truncated", () -> Rows.scan(connection.getTable(NAME), new Scan()));
    ask("its regions", () -> admin.getTableRegions(NAME).size());
    call("drop", () -> {
      for (TableName name : new TableName[] {NAME, COPY}) {
        admin.disableTable(name);
        admin.deleteTable(name);
      }
    });
  }

  private void namespaces() {
    call("create a namespace",
        () -> admin.createNamespace(
            NamespaceDescriptor.create("older").addConfiguration("a", "b").build()));
    call("create it again",
        () -> admin.createNamespace(NamespaceDescriptor.create("older").build()));
    ask("namespaces",
        () -> Arrays.stream(admin.listNamespaceDescriptors()).map(NamespaceDescriptor::getName)
            .sorted().collect(Collectors.toList()));
    ask("its descriptor",
        () -> admin.getNamespaceDescriptor("older").getConfigurationValue("a"));
    ask("no namespace", () -> admin.getNamespaceDescriptor("nowhere"));
    call("a table in it",
        () -> admin.createTable(Rows.descriptor(TableName.valueOf("older", "t"))));
    ask("its tables", () -> admin.listTableNamesByNamespace("older"));
    call("drop it with tables", () -> admin.deleteNamespace("older"));
    call("a table in no namespace",
        () -> admin.createTable(Rows.descriptor(TableName.valueOf("nowhere", "t"))));
    call("drop the namespace", () -> {
      admin.disableTable(TableName.valueOf("older", "t"));
      admin.deleteTable(TableName.valueOf("older", "t"));
      admin.deleteNamespace("older");
    });
    call("drop it again", () -> admin.deleteNamespace("older"));
  }
}
