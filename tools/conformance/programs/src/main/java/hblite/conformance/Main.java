package hblite.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;

/**
 * Asks a server a few hundred questions with HBase's own client, through each way to find a
 * cluster, and records the answers or compares them with a recording.
 */
public final class Main {
  /** The ways to find a cluster. */
  private enum Registry {
    ZOOKEEPER("ZKConnectionRegistry"),
    RPC("RpcConnectionRegistry"),
    MASTER("MasterRegistry");

    private final String implementation;

    Registry(String implementation) {
      this.implementation = "org.apache.hadoop.hbase.client." + implementation;
    }
  }

  /** The scenarios, in this order. */
  private static final List<Scenario> SCENARIOS =
      List.of(
          new DataScenario(),
          new DeleteScenario(),
          new ScanScenario(),
          new FilterScenario(),
          new AtomicScenario(),
          new BatchScenario(),
          new ErrorScenario(),
          new TableScenario(),
          new NamespaceScenario(),
          new RegionScenario(),
          new SnapshotScenario(),
          new EndpointScenario(),
          new AsyncScenario(),
          new AsyncAdminScenario());

  private Main() {}

  /**
   * Exits with 0 if all answers agree, and with 1 otherwise.
   *
   * @param arguments {@code record} or {@code compare}, ZooKeeper's address or {@code -} for the
   *     cluster that the class path configures, the file, and a file of questions whose answers are
   *     known to differ, each with its reason behind two dashes
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length < 3 || arguments.length > 4) {
      System.err.println("usage: Main record|compare HOST:PORT|- FILE [DIFFERENCES]");
      System.exit(2);
    }
    Text.add(CheckAndMutateResult.class, Main::outcome);
    Path file = Path.of(arguments[2]);
    boolean records = arguments[0].equals("record");
    List<String> known = arguments.length == 4 ? known(Path.of(arguments[3])) : List.of();
    Configuration cluster = HBaseConfiguration.create();
    if (arguments[1].equals("-")) {
      System.exit(agrees("CONFIGURED", cluster, false, file, known) ? 0 : 1);
    }
    String[] address = arguments[1].split(":");
    cluster.set(HConstants.ZOOKEEPER_QUORUM, address[0]);
    cluster.set(HConstants.ZOOKEEPER_CLIENT_PORT, address[1]);
    boolean agree = true;
    for (Registry registry : Registry.values()) {
      boolean recordsThis = records && registry == Registry.ZOOKEEPER;
      Configuration configuration = configuration(cluster, registry);
      agree &= agrees(registry.toString(), configuration, recordsThis, file, known);
    }
    System.exit(agree ? 0 : 1);
  }

  /** Asks all questions; prints and returns whether the answers are those in the file. */
  private static boolean agrees(
      String way, Configuration configuration, boolean records, Path file, List<String> known)
      throws Exception {
    Answers answers = new Answers();
    long start = System.nanoTime();
    ask(configuration, answers);
    long millis = (System.nanoTime() - start) / 1_000_000;
    if (records) {
      answers.write(file);
    }
    List<String> differences = answers.differences(file, known);
    System.out.printf(
        Locale.ROOT,
        "%-9s %d answers, %d differ, %d ms%n",
        way,
        answers.count(),
        differences.size(),
        millis);
    differences.forEach(System.out::println);
    return differences.isEmpty();
  }

  private static String outcome(CheckAndMutateResult outcome) {
    Result inside = outcome.getResult();
    return outcome.isSuccess() + (inside == null ? "" : " " + Text.of(inside));
  }

  private static List<String> known(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(line -> line.replaceFirst(" -- .*", ""))
        .toList();
  }

  /** The other registries get their addresses from the cluster itself. */
  private static Configuration configuration(Configuration zooKeeper, Registry registry)
      throws IOException {
    Configuration configuration = new Configuration(zooKeeper);
    configuration.set("hbase.client.registry.impl", registry.implementation);
    if (registry == Registry.ZOOKEEPER) {
      return configuration;
    }
    try (Connection connection = ConnectionFactory.createConnection(zooKeeper);
        Admin admin = connection.getAdmin()) {
      ServerName region = admin.getRegionServers().iterator().next();
      configuration.set("hbase.client.bootstrap.servers", region.getAddress().toString());
      configuration.set("hbase.masters", admin.getMaster().getAddress().toString());
    }
    configuration.unset(HConstants.ZOOKEEPER_QUORUM);
    return configuration;
  }

  private static void ask(Configuration configuration, Answers answers) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        AsyncConnection async = ConnectionFactory.createAsyncConnection(configuration).get()) {
      for (Scenario scenario : SCENARIOS) {
        String name = scenario.getClass().getSimpleName().replace("Scenario", "");
        answers.scenario(name.toLowerCase(Locale.ROOT));
        try (Store store = new Store(connection, async)) {
          scenario.run(store, answers);
        } catch (IOException e) {
          // The remaining questions of this scenario then have no answer.
          answers.ask("broke off", () -> e);
        }
      }
    }
  }
}
