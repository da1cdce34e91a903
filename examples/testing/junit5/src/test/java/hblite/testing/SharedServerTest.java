package hblite.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server for all tests of a class. */
@ExtendWith(HBlite.class)
class SharedServerTest {
  private static final TableName USERS = TableName.valueOf("users");
  private static Connection connection;

  @BeforeAll
  static void createTable(Configuration configuration) throws IOException {
    connection = ConnectionFactory.createConnection(configuration);
    connection
        .getAdmin()
        .createTable(
            TableDescriptorBuilder.newBuilder(USERS)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of("info"))
                .build());
  }

  @AfterAll
  static void close() throws IOException {
    connection.close();
  }

  @Test
  void theTestsShareTheTable() throws IOException {
    assertTrue(connection.getAdmin().tableExists(USERS));
  }

  @Test
  void theServerHasAnHttpPort(HBlite.Server server) throws IOException, InterruptedException {
    URI status = URI.create("http://127.0.0.1:" + server.httpPort() + "/");
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(status).build(), HttpResponse.BodyHandlers.ofString());
    assertEquals(200, answer.statusCode());
  }
}
