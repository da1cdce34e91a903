package hblite.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HBlite.class)
class UsersTest {
  private static final TableName USERS = TableName.valueOf("users");
  private static final byte[] INFO = Bytes.toBytes("info");
  private static final byte[] NAME = Bytes.toBytes("name");

  @Test
  void aUserIsFound(Configuration configuration) throws IOException {
    try (Connection connection = ConnectionFactory.createConnection(configuration)) {
      connection
          .getAdmin()
          .createTable(
              TableDescriptorBuilder.newBuilder(USERS)
                  .setColumnFamily(ColumnFamilyDescriptorBuilder.of(INFO))
                  .build());
      Table users = connection.getTable(USERS);
      users.put(new Put(Bytes.toBytes("u1")).addColumn(INFO, NAME, Bytes.toBytes("Ada")));
      assertArrayEquals(
          Bytes.toBytes("Ada"), users.get(new Get(Bytes.toBytes("u1"))).getValue(INFO, NAME));
    }
  }

  @Test
  void theNextTestHasAnEmptyStore(Configuration configuration) throws IOException {
    try (Connection connection = ConnectionFactory.createConnection(configuration)) {
      assertFalse(connection.getAdmin().tableExists(USERS));
    }
  }
}
