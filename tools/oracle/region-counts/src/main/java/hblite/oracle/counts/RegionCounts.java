package hblite.oracle.counts;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Writes the keys of a file to a table of an HBase, and prints how many writes each region counted
 * in each window, as a line of JSON per window, the first region first.
 *
 * <p>The file is that of {@code hblite hotspot run --keys-out}: lines {@code split KEY}, then lines
 * {@code put WINDOW KEY}.
 */
public final class RegionCounts {
  private static final TableName TABLE = TableName.valueOf("hblite_region_counts");
  private static final byte[] FAMILY = Bytes.toBytes("d");
  private static final byte[] QUALIFIER = Bytes.toBytes("v");
  private static final byte[] VALUE = new byte[8];
  private static final int BATCH = 1_000;

  private final Admin admin;
  private final Table table;
  private final List<Put> batch = new ArrayList<>();
  private final Map<String, Long> before = new HashMap<>();

  private RegionCounts(Admin admin, Table table) {
    this.admin = admin;
    this.table = table;
  }

  /**
   * Runs once.
   *
   * @param arguments the quorum, {@code host:port}, and the file
   * @throws IOException if HBase or the file fails
   */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 2) {
      System.err.println("usage: RegionCounts HOST:PORT FILE");
      System.exit(2);
    }
    String[] quorum = arguments[0].split(":");
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, quorum[0]);
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, quorum[1]);
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        Admin admin = connection.getAdmin();
        Table table = connection.getTable(TABLE);
        BufferedReader lines = Files.newBufferedReader(Path.of(arguments[1]))) {
      new RegionCounts(admin, table).run(lines);
      admin.disableTable(TABLE);
      admin.deleteTable(TABLE);
    }
  }

  private void run(BufferedReader lines) throws IOException {
    List<byte[]> splits = new ArrayList<>();
    String window = null;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", 3);
      if (words[0].equals("split")) {
        splits.add(Bytes.toBytesBinary(line.substring("split ".length())));
        continue;
      }
      if (window == null) {
        create(splits);
      } else if (!window.equals(words[1])) {
        print();
      }
      window = words[1];
      batch.add(new Put(Bytes.toBytesBinary(words[2])).addColumn(FAMILY, QUALIFIER, VALUE));
      if (batch.size() == BATCH) {
        write();
      }
    }
    print();
  }

  private void create(List<byte[]> splits) throws IOException {
    if (admin.tableExists(TABLE)) {
      admin.disableTable(TABLE);
      admin.deleteTable(TABLE);
    }
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(TABLE);
    builder.setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY));
    if (splits.isEmpty()) {
      admin.createTable(builder.build());
    } else {
      admin.createTable(builder.build(), splits.toArray(byte[][]::new));
    }
  }

  private void write() throws IOException {
    table.put(batch);
    batch.clear();
  }

  private void print() throws IOException {
    write();
    // Queries the servers: the master's figures are a few seconds old.
    Map<String, Long> now = new HashMap<>();
    for (ServerName server : admin.getRegionServers()) {
      for (RegionMetrics metrics : admin.getRegionMetrics(server, TABLE)) {
        now.put(Bytes.toStringBinary(metrics.getRegionName()), metrics.getWriteRequestCount());
      }
    }
    StringBuilder line = new StringBuilder("[");
    for (RegionInfo region : admin.getRegions(TABLE)) {
      String name = Bytes.toStringBinary(region.getRegionName());
      long count = now.getOrDefault(name, 0L) - before.getOrDefault(name, 0L);
      line.append(line.length() > 1 ? "," : "").append(count);
    }
    before.putAll(now);
    System.out.println(line.append("]"));
  }
}
