package hblite.testing.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import hblite.testing.HBliteServer;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests in parallel have separate servers. */
@ExtendWith(HBlite.class)
@Execution(ExecutionMode.CONCURRENT)
class ParallelTest {
  private static final Set<Map<String, String>> PLACES = ConcurrentHashMap.newKeySet();

  @BeforeAll
  static void createTable(Connection connection) throws IOException {
    Users.create(connection);
    Users.put(connection, "count", "0");
  }

  @RepeatedTest(8)
  void aTestSeesOnlyItsOwnWrites(HBliteServer server, Connection connection) throws IOException {
    assertTrue(PLACES.add(server.settings()), "a server of its own");
    for (int count = 0; count < 10; count++) {
      assertEquals(Integer.toString(count), Users.get(connection, "count"));
      Users.put(connection, "count", Integer.toString(count + 1));
    }
  }
}
