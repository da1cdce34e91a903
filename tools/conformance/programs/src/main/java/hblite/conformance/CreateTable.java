package hblite.conformance;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** Creates a table for clients that cannot create one. */
public final class CreateTable {
  private CreateTable() {}

  /**
   * Creates a table.
   *
   * @param arguments the port of ZooKeeper, the table, its family
   */
  public static void main(String[] arguments) throws IOException {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, arguments[0]);
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        Admin admin = connection.getAdmin()) {
      admin.createTable(Store.descriptor(TableName.valueOf(arguments[1]), 1, arguments[2]));
    }
  }
}
