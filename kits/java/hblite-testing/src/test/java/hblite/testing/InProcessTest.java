package hblite.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Servers in this process have the same as others, except ports. */
@EnabledIfSystemProperty(named = "hblite.library.path", matches = ".+")
class InProcessTest {
  private static final TableName USERS = TableName.valueOf("users");
  private static final byte[] FAMILY = Bytes.toBytes("info");
  private static final byte[] ROW = Bytes.toBytes("u1");

  private static Connection connect(HBliteServer server) throws IOException {
    Configuration configuration = server.configuration();
    configuration.setInt("hbase.client.retries.number", 3);
    return ConnectionFactory.createConnection(configuration);
  }

  private static void create(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(USERS)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build());
    }
  }

  private static void put(Connection connection, String value) throws IOException {
    try (Table users = connection.getTable(USERS)) {
      users.put(new Put(ROW).addColumn(FAMILY, FAMILY, Bytes.toBytes(value)));
    }
  }

  private static String get(Connection connection) throws IOException {
    try (Table users = connection.getTable(USERS)) {
      return Bytes.toString(users.get(new Get(ROW)).getValue(FAMILY, FAMILY));
    }
  }

  @Test
  void checkpointsAreRewoundAndForked() throws IOException {
    HBliteServer fork;
    try (HBliteServer server = HBliteServer.builder().inProcess().start();
        Connection connection = connect(server)) {
      create(connection);
      put(connection, "Ada");
      server.checkpoint("a-base.1");
      put(connection, "Grace");
      fork = server.fork("a-base.1");
      try (Connection other = connect(fork)) {
        assertEquals("Ada", get(other));
        put(other, "Edsger");
      }
      assertEquals("Grace", get(connection));
      server.rewind("a-base.1");
      assertEquals("Ada", get(connection));
      server.deleteCheckpoint("a-base.1");
      HBliteException unknown = assertThrows(HBliteException.class, () -> server.fork("a-base.1"));
      assertTrue(unknown.getMessage().contains("a-base.1"), unknown.getMessage());
      assertNotNull(fork.status());
    }
    assertThrows(HBliteException.class, fork::status);
    fork.close();
  }

  @Test
  void faultsReachTheCalls() throws IOException {
    try (HBliteServer server = HBliteServer.builder().inProcess().regionServers(2).start();
        Connection connection = connect(server)) {
      create(connection);
      long fault = server.faults().set("{\"drop\":\"before\",\"methods\":[\"Mutate\"],\"count\":1}");
      put(connection, "Ada");
      assertTrue(server.faults().list().contains("\"happened\":1"), server.faults().list());
      server.faults().clear(fault);
      HBliteException none =
          assertThrows(HBliteException.class, () -> server.faults().clear(fault));
      assertTrue(none.getMessage().contains("no fault has the number"), none.getMessage());
      server.crash(0);
      assertEquals("Ada", get(connection));
      server.crash(1);
      assertThrows(IOException.class, () -> put(connection, "Grace"));
      server.restart(0);
      server.restart(1);
      put(connection, "Grace");
      assertEquals("Grace", get(connection));
    }
  }

  @Test
  void aClockMovesOnRequest() throws IOException {
    try (HBliteServer server = HBliteServer.builder().inProcess().start();
        Connection connection = connect(server)) {
      try (Admin admin = connection.getAdmin()) {
        admin.createTable(
            TableDescriptorBuilder.newBuilder(USERS)
                .setColumnFamily(
                    ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setTimeToLive(60).build())
                .build());
      }
      server.clock().stop();
      Instant start = server.clock().now();
      put(connection, "Ada");
      server.clock().advance(Duration.ofSeconds(50));
      assertEquals("Ada", get(connection));
      server.clock().advance(Duration.ofSeconds(20));
      assertNull(get(connection));
      assertEquals(start.plus(Duration.ofSeconds(70)), server.clock().now());
      server.clock().reset();
    }
  }

  @Test
  void errorsSayWhatToDo() {
    try (HBliteServer server = HBliteServer.builder().inProcess().start()) {
      HBliteException none = assertThrows(HBliteException.class, server::zooKeeperPort);
      assertTrue(none.getMessage().contains("HBLITE_IN_PROCESS"), none.getMessage());
    }
    refused(
        "hbase.nothing is not a setting of hblite",
        HBliteServer.builder().inProcess().set("hbase.nothing", "1"));
    refused(
        "some is not a value of hbase.hregion.max.filesize",
        HBliteServer.builder().inProcess().set("hbase.hregion.max.filesize", "some"));
    refused("there can be 1 to 100", HBliteServer.builder().inProcess().regionServers(0));
    refused("no arguments", HBliteServer.builder().inProcess().arguments("--rest-port", "0"));
  }

  private static void refused(String reason, HBliteServer.Builder builder) {
    HBliteException error = assertThrows(HBliteException.class, builder::start);
    assertTrue(error.getMessage().contains(reason), error.getMessage());
  }
}
