package hblite.conformance.tests;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/**
 * A cluster in its own process: hblite, or a real standalone HBase to compare with.
 *
 * <p>The command is hblite's, or comes from the system property {@code hblite.tests.command}, its
 * parts separated by newlines, where {@code {servers}} stands for the number of region servers,
 * {@code {dir}} for an empty directory and {@code {settings}} for an option {@code -D} for each
 * setting of the test that hblite has. That directory holds {@code hbase-site.xml} with all
 * settings that the test made. The process prints the address of its ZooKeeper, and ends at the
 * latest with its standard input.
 */
final class ProcessCluster implements Cluster {
  private static final long STOPS_WITHIN_SECONDS = 60;
  private static final List<String> GATEWAYS = List.of("thrift", "thrift2", "rest");

  private static final Pattern NAMED_PORT = Pattern.compile("\"(\\w+)_port\":(\\d+)");
  private static final Pattern PORT = Pattern.compile("[:\\s](\\d{2,5})\\b");

  private final Process process;
  private final Path directory;
  private final int zooKeeperPort;
  /** hblite's ports by their names in the ready line; empty for any other server. */
  private final Map<String, Integer> ports = new TreeMap<>();
  private final Thread atExit = new Thread(this::kill);

  private ProcessCluster(Process process, Path directory) throws IOException {
    this.process = process;
    this.directory = directory;
    Runtime.getRuntime().addShutdownHook(atExit);
    this.zooKeeperPort = readPort();
  }

  /**
   * Starts one and waits until it accepts requests.
   *
   * @param regionServers how many region servers it shows
   * @param configuration the test's settings
   */
  static Cluster start(int regionServers, Configuration configuration) throws IOException {
    Path directory = Files.createTempDirectory("hbase-tests");
    try (OutputStream site = Files.newOutputStream(directory.resolve("hbase-site.xml"))) {
      Settings.changed(configuration).writeXml(site);
    }
    List<String> command = new ArrayList<>();
    for (String part : System.getProperty("hblite.tests.command", defaultCommand()).split("\n")) {
      if (part.equals("{settings}")) {
        Settings.known(configuration)
            .forEach((name, value) -> command.addAll(List.of("-D", name + "=" + value)));
        continue;
      }
      command.add(
          part.replace("{servers}", Integer.toString(regionServers))
              .replace("{dir}", directory.toString()));
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    return new ProcessCluster(builder.start(), directory);
  }

  /**
   * hblite on free ports: the binary that {@code HBLITE_BIN} names, or {@code hblite} on the path.
   */
  private static String defaultCommand() {
    return String.join(
        "\n",
        System.getenv().getOrDefault("HBLITE_BIN", "hblite"),
        "serve",
        "--dir",
        "{dir}/store",
        "--zookeeper-port",
        "0",
        "--rpc-port",
        "0",
        "--region-servers",
        "{servers}",
        "--exit-with-parent",
        "{settings}");
  }

  /**
   * The last number of the line that names ZooKeeper: {@code ZooKeeper at localhost:2181} of the
   * oracle, {@code "zookeeper":"127.0.0.1:2181"} in hblite's ready line.
   */
  private int readPort() throws IOException {
    StringBuilder line = new StringBuilder();
    int next;
    while ((next = process.getInputStream().read()) >= 0) {
      if (next != '\n') {
        line.append((char) next);
        continue;
      }
      String text = line.toString();
      line.setLength(0);
      int at = text.toLowerCase(Locale.ROOT).indexOf("zookeeper");
      if (at >= 0) {
        Matcher port = PORT.matcher(text.substring(at));
        if (port.find()) {
          NAMED_PORT
              .matcher(text)
              .results()
              .forEach(named -> ports.put(named.group(1), Integer.valueOf(named.group(2))));
          drain();
          return Integer.parseInt(port.group(1));
        }
      }
    }
    kill();
    throw new IOException("the cluster did not start: " + process.info().commandLine().orElse(""));
  }

  /** Discards the rest of its output, so that the process never blocks on it. */
  private void drain() {
    Thread reader =
        new Thread(
            () -> {
              try {
                process.getInputStream().transferTo(OutputStream.nullOutputStream());
              } catch (IOException e) {
                // It has ended.
                return;
              }
            });
    reader.setDaemon(true);
    reader.start();
  }

  @Override
  public void configure(Configuration configuration) throws IOException {
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
    configuration.setInt(HConstants.ZOOKEEPER_CLIENT_PORT, zooKeeperPort);
    configuration.set(HConstants.MASTER_ADDRS_KEY, masterAddress(configuration));
    configuration.setInt(Endpoint.PORT, ports.getOrDefault("http", 0));
    for (String gateway : GATEWAYS) {
      int port = ports.getOrDefault(gateway, 0);
      configuration.setInt("hblite.tests." + gateway + ".port", port);
    }
  }

  /** Tests choose among the registries, some of which need the master's address. */
  private static String masterAddress(Configuration configuration) throws IOException {
    Configuration byZooKeeper = new Configuration(configuration);
    byZooKeeper.set(
        HConstants.CLIENT_CONNECTION_REGISTRY_IMPL_CONF_KEY,
        HConstants.ZK_CONNECTION_REGISTRY_CLASS);
    try (Connection any = ConnectionFactory.createConnection(byZooKeeper);
        Admin anyAdmin = any.getAdmin()) {
      return anyAdmin.getMaster().getAddress().toString();
    }
  }

  @Override
  public MiniZooKeeperCluster zooKeeper(Configuration configuration) {
    return new RunningZooKeeper(configuration, zooKeeperPort);
  }

  @Override
  public Path store() {
    return directory.resolve("store");
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    process.destroy();
    try {
      if (!process.waitFor(STOPS_WITHIN_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().removeShutdownHook(atExit);
    Cluster.remove(directory);
  }

  private void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(STOPS_WITHIN_SECONDS, TimeUnit.SECONDS);
      Cluster.remove(directory);
    } catch (InterruptedException | IOException e) {
      System.err.println(directory + " is left: " + e.getMessage());
    }
  }
}
