package hblite.testing.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import hblite.testing.HBliteServer;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every test begins in the state that {@code @BeforeAll} left. */
class RewindTest {
  @RegisterExtension static final HBlite HBASE = new HBlite();

  @BeforeAll
  static void createTable(Connection connection) throws IOException {
    Users.create(connection);
    Users.put(connection, "seed", "Ada");
  }

  @RepeatedTest(3)
  void whatTheLastTestWroteIsGone(Connection connection, HBliteServer server) throws IOException {
    assertSame(HBASE.connection(), connection);
    assertSame(HBASE.server(), server);
    assertEquals("Ada", Users.get(connection, "seed"));
    assertEquals(null, Users.get(connection, "own"));
    Users.put(connection, "own", "Grace");
    Users.put(connection, "seed", "changed");
    assertEquals("Grace", Users.get(connection, "own"));
  }

  @Test
  void aTableThatTheLastTestDroppedIsBack(Configuration configuration, Connection connection)
      throws IOException {
    String master = HBASE.server().settings().get("hbase.masters");
    assertEquals(master, configuration.get("hbase.masters"));
    Users.drop(connection);
    assertFalse(connection.getAdmin().tableExists(Users.NAME));
  }

  @Nested
  class Inner {
    @Test
    void aNestedClassHasTheSameState(Connection connection) throws IOException {
      assertEquals("Ada", Users.get(connection, "seed"));
      assertEquals(null, Users.get(connection, "own"));
    }
  }

  /** Another class has another server. */
  @ExtendWith(HBlite.class)
  static class OtherClassTest {
    @Test
    void itsServerIsEmpty(Connection connection) throws IOException {
      assertEquals(0, connection.getAdmin().listTableNames().length);
    }
  }
}
