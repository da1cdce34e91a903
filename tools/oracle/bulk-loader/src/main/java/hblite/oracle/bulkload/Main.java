package hblite.oracle.bulkload;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.codec.KeyValueCodecWithTags;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Loads a folder of HFiles into a new table of a real HBase with its own bulk load, and prints what
 * a raw scan of all versions finds then, in the JSON lines of {@code hblite export}.
 */
public final class Main {
  private static final int ROWS_PER_FETCH = 1_000;
  private static final byte[] COLON = {':'};

  private Main() {}

  /**
   * Loads and prints. The status is 1 if HBase does not take the files.
   *
   * @param arguments {@code host:port} of ZooKeeper, the new table, the folder, split keys
   */
  public static void main(String[] arguments) {
    if (arguments.length < 3) {
      System.err.println("usage: Main HOST:PORT TABLE FOLDER [SPLIT-KEY...]");
      System.exit(2);
    }
    try {
      String[] splits = Arrays.copyOfRange(arguments, 3, arguments.length);
      run(arguments[0], TableName.valueOf(arguments[1]), Path.of(arguments[2]), splits);
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      System.exit(1);
    }
    // Threads of HBase may still be running.
    System.exit(0);
  }

  private static void run(String zooKeeper, TableName name, Path folder, String[] splits)
      throws IOException {
    String[] hostAndPort = zooKeeper.split(":");
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, hostAndPort[0]);
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, hostAndPort[1]);
    // Times to live are tags, which a client receives only through this codec.
    configuration.set(HConstants.RPC_CODEC_CONF_KEY, KeyValueCodecWithTags.class.getName());
    try (Connection connection = ConnectionFactory.createConnection(configuration)) {
      create(connection, name, folder, splits);
      org.apache.hadoop.fs.Path files = new org.apache.hadoop.fs.Path(folder.toUri());
      int count = new BulkLoadHFilesTool(configuration).bulkLoad(name, files).size();
      System.err.println("HBase took " + count + " files, divided ones counted by their parts");
      print(connection, name);
    }
  }

  private static void create(Connection connection, TableName name, Path folder, String[] splits)
      throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    try (Stream<Path> families = Files.list(folder)) {
      for (Path family : families.toList()) {
        byte[] familyName = Bytes.toBytes(family.getFileName().toString());
        table.setColumnFamily(
            ColumnFamilyDescriptorBuilder.newBuilder(familyName)
                .setMaxVersions(Integer.MAX_VALUE)
                .build());
      }
    }
    byte[][] keys = Stream.of(splits).map(Bytes::toBytesBinary).toArray(byte[][]::new);
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(table.build(), keys);
    }
  }

  private static void print(Connection connection, TableName name) throws IOException {
    Scan scan = new Scan().setRaw(true).readAllVersions().setCaching(ROWS_PER_FETCH);
    try (Table table = connection.getTable(name);
        ResultScanner rows = table.getScanner(scan);
        PrintStream out =
            new PrintStream(
                new BufferedOutputStream(System.out), false, StandardCharsets.US_ASCII)) {
      for (Result row : rows) {
        List<String> cells = row.listCells().stream().map(Main::toJson).toList();
        out.print("{\"row\":" + quote(row.getRow()) + ",\"cells\":[");
        out.print(String.join(",", cells));
        out.print("]}\n");
      }
    }
  }

  private static String toJson(Cell cell) {
    StringBuilder json = new StringBuilder("{\"column\":");
    byte[] column = Bytes.add(CellUtil.cloneFamily(cell), COLON, CellUtil.cloneQualifier(cell));
    json.append(quote(column)).append(",\"timestamp\":").append(cell.getTimestamp());
    if (cell.getType() == Cell.Type.Put) {
      json.append(",\"value\":").append(quote(CellUtil.cloneValue(cell)));
    } else {
      json.append(",\"type\":\"").append(cell.getType()).append('"');
    }
    PrivateCellUtil.getTag(cell, TagType.TTL_TAG_TYPE)
        .ifPresent(tag -> json.append(",\"ttl\":").append(Tag.getValueAsLong(tag)));
    return json.append('}').toString();
  }

  private static String quote(byte[] bytes) {
    String text = Bytes.toStringBinary(bytes);
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
