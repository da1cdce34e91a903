package hblite.throughput;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/** How long it takes to create and to delete tables, in milliseconds. */
final class TableLatency {
  final List<Double> creates = new ArrayList<>();
  final List<Double> disables = new ArrayList<>();
  final List<Double> deletes = new ArrayList<>();

  private static final int TABLES = 5;

  /** A step of an administrator. */
  private interface Step {
    void run() throws IOException;
  }

  /** Creates tables with one family, and deletes them. */
  void round(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      for (int index = 0; index < TABLES; index++) {
        TableName name = TableName.valueOf("table" + index);
        TableDescriptor descriptor =
            TableDescriptorBuilder.newBuilder(name)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of("f"))
                .build();
        time(creates, () -> admin.createTable(descriptor));
        time(disables, () -> admin.disableTable(name));
        time(deletes, () -> admin.deleteTable(name));
      }
    }
  }

  void forget() {
    List.of(creates, disables, deletes).forEach(List::clear);
  }

  private static void time(List<Double> times, Step step) throws IOException {
    long begin = System.nanoTime();
    step.run();
    times.add((System.nanoTime() - begin) / 1e6);
  }
}
