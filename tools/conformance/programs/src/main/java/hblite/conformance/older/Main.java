package hblite.conformance.older;

import hblite.conformance.Answers;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.VersionInfo;

/**
 * Asks a server about a hundred questions, in calls that hbase-client 1.4 to 2.3 have, and records
 * the answers or compares them with a recording.
 */
public final class Main {
  private Main() {}

  /**
   * Exits with 0 if all answers agree, and with 1 otherwise.
   *
   * @param arguments {@code record} or {@code compare}, ZooKeeper's address, and the file
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) {
      System.err.println("usage: Main record|compare HOST:PORT FILE");
      System.exit(2);
    }
    String[] address = arguments[1].split(":");
    Path file = Path.of(arguments[2]);
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, address[0]);
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, address[1]);
    // Errors that a client repeats are reported within a second.
    configuration.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 3);
    Answers answers = new Answers();
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        Admin admin = connection.getAdmin()) {
      answers.scenario("rows");
      new Rows(connection, admin, answers).run();
      answers.scenario("filters");
      new Filters(connection, admin, answers).run();
      answers.scenario("tables");
      new Tables(connection, admin, answers).run();
    }
    if (arguments[0].equals("record")) {
      answers.write(file);
    }
    List<String> differences = answers.differences(file, List.of());
    System.out.printf(
        Locale.ROOT,
        "client    %s: %d passed, %d failed, %d on HBase%n",
        VersionInfo.getVersion(),
        answers.count() - differences.size(),
        differences.size(),
        answers.count());
    differences.forEach(System.out::println);
    System.exit(differences.isEmpty() ? 0 : 1);
  }
}
