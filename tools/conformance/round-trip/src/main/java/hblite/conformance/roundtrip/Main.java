package hblite.conformance.roundtrip;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.VersionInfo;

/** Typical work of a client, in calls that all releases from 2.4 to 3.0 have. */
public final class Main {
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");

  private int passed;
  private int failed;

  private Main() {}

  /**
   * Exits with 0 if all answers are as expected, through each registry that the release has.
   *
   * @param arguments the port of ZooKeeper and that of a server's RPC
   */
  public static void main(String[] arguments) throws Exception {
    Main main = new Main();
    String prefix = "org.apache.hadoop.hbase.client.";
    for (String registry :
        List.of("ZKConnectionRegistry", "RpcConnectionRegistry", "MasterRegistry")) {
      try {
        Class.forName(prefix + registry);
      } catch (ClassNotFoundException e) {
        continue;
      }
      Configuration configuration = HBaseConfiguration.create();
      configuration.set("hbase.client.registry.impl", prefix + registry);
      configuration.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
      configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, arguments[0]);
      configuration.set("hbase.client.bootstrap.servers", "127.0.0.1:" + arguments[1]);
      configuration.set("hbase.masters", "127.0.0.1:" + arguments[1]);
      try (Connection connection = ConnectionFactory.createConnection(configuration)) {
        main.run(connection);
      }
    }
    System.out.printf(
        "client    %s: %d passed, %d failed%n",
        VersionInfo.getVersion(), main.passed, main.failed);
    System.exit(main.failed == 0 ? 0 : 1);
  }

  private void check(String what, Object expected, Object answer) {
    if (expected.equals(answer)) {
      passed++;
    } else {
      failed++;
      System.out.println(what + ": " + expected + " expected, got " + answer);
    }
  }

  private void run(Connection connection) throws Exception {
    TableName name = TableName.valueOf("roundtrip");
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
              .build(),
          new byte[][] {Bytes.toBytes("m")});
      check("is it there", true, admin.tableExists(name));
      check("regions", 2, admin.getRegions(name).size());
      try (Table table = connection.getTable(name)) {
        operations(connection, table);
      }
      admin.flush(name);
      check("a family", 1, admin.getDescriptor(name).getColumnFamilyCount());
      check("servers", 1, admin.getClusterMetrics().getServersName().size());
      admin.disableTable(name);
      check("is it disabled", true, admin.isTableDisabled(name));
      admin.deleteTable(name);
      check("is it gone", false, admin.tableExists(name));
    }
  }

  private void operations(Connection connection, Table table) throws Exception {
    byte[] row = Bytes.toBytes("a");
    table.put(new Put(row).addColumn(F, Q, Q));
    check("get", "q", Bytes.toString(table.get(new Get(row)).getValue(F, Q)));
    try (BufferedMutator mutator = connection.getBufferedMutator(table.getName())) {
      for (int each = 0; each < 100; each++) {
        mutator.mutate(new Put(Bytes.toBytes("n" + each)).addColumn(F, Q, Q));
      }
    }
    check("scan", 101, count(table, new Scan()));
    check("backwards", 101, count(table, new Scan().setReversed(true)));
    check("filtered", 11,
        count(table, new Scan().setFilter(new PrefixFilter(Bytes.toBytes("n1")))));
    check("count", 5L, table.incrementColumnValue(row, F, Bytes.toBytes("c"), 5));
    table.increment(new Increment(row).addColumn(F, Bytes.toBytes("c"), 1));
    Result appended = table.append(new Append(row).addColumn(F, Q, Q));
    check("append", "qq", Bytes.toString(appended.getValue(F, Q)));
    check("check and put", true,
        table.checkAndMutate(
            CheckAndMutate.newBuilder(row).ifEquals(F, Q, Bytes.toBytes("qq"))
                .build(new Put(row).addColumn(F, Q, F))).isSuccess());
    List<Get> gets = new ArrayList<>(List.of(new Get(row), new Get(Bytes.toBytes("z"))));
    check("many gets", 2, table.get(gets).length);
    table.delete(new Delete(row));
    check("deleted", false, table.exists(new Get(row)));
  }

  private static int count(Table table, Scan scan) throws Exception {
    int count = 0;
    try (ResultScanner results = table.getScanner(scan)) {
      while (results.next() != null) {
        count++;
      }
    }
    return count;
  }
}
