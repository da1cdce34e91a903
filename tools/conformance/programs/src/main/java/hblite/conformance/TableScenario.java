package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.G;
import static hblite.conformance.Text.bytes;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;

/** Tables are created, altered and dropped. */
final class TableScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    Admin admin = store.admin;
    TableName name = store.name("tables");
    answers.ask("is it there before", () -> admin.tableExists(name));
    admin.createTable(rich(name));
    answers.ask("is it there", () -> admin.tableExists(name));
    answers.ask("is it enabled", () -> admin.isTableEnabled(name));
    answers.ask("is it available", () -> admin.isTableAvailable(name));
    answers.ask("what it is", () -> admin.getDescriptor(name));
    answers.ask("its families",
        () -> Arrays.stream(admin.getDescriptor(name).getColumnFamilies())
            .map(family -> Text.of(family.getValues())).toList());
    answers.ask("tables by name", () -> admin.listTableNames(Pattern.compile("tab.*")));
    answers.ask("tables by state", () -> admin.listTableNamesByState(true).contains(name));
    answers.ask("descriptors by name",
        () -> admin.listTableDescriptors(Pattern.compile("tables")).size());
    answers.ask("descriptors of tables that are there",
        () -> admin.listTableDescriptors(List.of(name, TableName.valueOf("nowhere"))).size());
    change(store, name, answers);
    empty(store, name, answers);
  }

  private static TableDescriptor rich(TableName name) {
    return TableDescriptorBuilder.newBuilder(name)
        .setColumnFamily(
            ColumnFamilyDescriptorBuilder.newBuilder(F)
                .setMaxVersions(5)
                .setMinVersions(1)
                .setTimeToLive(86_400)
                .setBloomFilterType(BloomType.ROWCOL)
                .setDataBlockEncoding(DataBlockEncoding.FAST_DIFF)
                .setKeepDeletedCells(KeepDeletedCells.TTL)
                .setBlocksize(8192)
                .setInMemory(true)
                .setConfiguration("hbase.hstore.blockingStoreFiles", "20")
                .setValue("mine", "kept")
                .build())
        .setDurability(Durability.ASYNC_WAL)
        .setMaxFileSize(1L << 30)
        .setReadOnly(false)
        .setValue("OWNER", "me")
        .build();
  }

  private static void change(Store store, TableName name, Answers answers) throws Exception {
    Admin admin = store.admin;
    Table table = store.connection.getTable(name);
    table.put(Store.put("r", "q", 1, "v"));
    admin.addColumnFamily(name, ColumnFamilyDescriptorBuilder.of(G));
    answers.ask("with one more family",
        () -> admin.getDescriptor(name).getColumnFamilyNames());
    admin.modifyColumnFamily(
        name, ColumnFamilyDescriptorBuilder.newBuilder(G).setMaxVersions(9).build());
    answers.ask("a family that was changed",
        () -> admin.getDescriptor(name).getColumnFamily(G).getMaxVersions());
    answers.ask("what was put before", () -> table.get(new Get(bytes("r"))));
    admin.deleteColumnFamily(name, G);
    answers.ask("without the family", () -> admin.getDescriptor(name).getColumnFamilyNames());
    answers.ask("add a family twice", () -> {
      admin.addColumnFamily(name, ColumnFamilyDescriptorBuilder.of(F));
      return "done";
    });
    answers.ask("drop a family that is not there", () -> {
      admin.deleteColumnFamily(name, bytes("none"));
      return "done";
    });
    answers.ask("drop the last family", () -> {
      admin.deleteColumnFamily(name, F);
      return "done";
    });
    admin.modifyTable(
        TableDescriptorBuilder.newBuilder(admin.getDescriptor(name)).setReadOnly(true).build());
    answers.ask("put into a table that is only read", () -> {
      table.put(Store.put("r", "q", 2, "w"));
      return "done";
    });
    admin.modifyTable(
        TableDescriptorBuilder.newBuilder(admin.getDescriptor(name)).setReadOnly(false).build());
    TableName copy = store.name("copy");
    admin.cloneTableSchema(name, copy, true);
    answers.ask("a copy of its schema",
        () -> admin.getDescriptor(copy).getColumnFamily(F).getMaxVersions());
  }

  private static void empty(Store store, TableName name, Answers answers) throws Exception {
    Admin admin = store.admin;
    TableName split = store.name("split");
    admin.createTable(
        Store.descriptor(split, 1, "f"), new byte[][] {bytes("d"), bytes("m")});
    Table table = store.connection.getTable(split);
    table.put(List.of(Store.put("a", "q", 1, "v"), Store.put("z", "q", 1, "v")));
    answers.ask("truncate an enabled table", () -> {
      admin.truncateTable(split, true);
      return "done";
    });
    admin.disableTable(split);
    admin.truncateTable(split, true);
    answers.ask("rows after truncation", () -> Store.scan(table, new Scan()).size());
    answers.ask("regions after truncation", () -> admin.getRegions(split).size());
    answers.ask("enabled after truncation", () -> admin.isTableEnabled(split));
    admin.disableTable(split);
    admin.truncateTable(split, false);
    answers.ask("regions without splits", () -> admin.getRegions(split).size());
    admin.disableTable(name);
    answers.ask("tables that are disabled", () -> admin.listTableNamesByState(false));
    admin.deleteTable(name);
    answers.ask("is it there after", () -> admin.tableExists(name));
  }
}
