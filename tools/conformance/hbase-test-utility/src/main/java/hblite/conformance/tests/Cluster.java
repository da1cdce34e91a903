package hblite.conformance.tests;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

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
public final class Cluster implements AutoCloseable {
  private static final long STOPS_WITHIN_SECONDS = 60;

  /** The settings that hblite has. */
  private static final Set<String> KNOWN =
      Set.of(
          "hbase.catalogjanitor.interval",
          "hbase.client.scanner.timeout.period",
          "hbase.http.filter.csp.value",
          "hbase.http.filter.hsts.value",
          "hbase.hregion.max.filesize",
          "hbase.hregion.memstore.block.multiplier",
          "hbase.hregion.memstore.flush.size",
          "hbase.hstore.blockingStoreFiles",
          "hbase.hstore.compaction.max",
          "hbase.hstore.compaction.min",
          "hbase.hstore.compaction.min.size",
          "hbase.hstore.compaction.ratio",
          "hbase.hregion.majorcompaction",
          "hbase.master.cleaner.snapshot.interval",
          "hbase.rest-csrf.browser-useragents-regex",
          "hbase.rest.csrf.enabled",
          "hbase.rest.readonly",
          "hbase.server.keyvalue.maxsize",
          "hbase.server.scanner.max.result.size",
          "hbase.table.sanity.checks",
          "hbase.thrift.readonly");

  private static final Pattern NAMED_PORT = Pattern.compile("\"(\\w+)_port\":(\\d+)");
  private static final Pattern PORT = Pattern.compile("[:\\s](\\d{2,5})\\b");

  private final Process process;
  private final Path directory;
  private final int zooKeeperPort;
  /** hblite's ports by their names in the ready line; empty for any other server. */
  private final Map<String, Integer> ports = new TreeMap<>();
  private final Thread atExit = new Thread(this::kill);

  private Cluster(Process process, Path directory) throws IOException {
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
  public static Cluster start(int regionServers, Configuration configuration) throws IOException {
    Path directory = Files.createTempDirectory("hbase-tests");
    try (OutputStream site = Files.newOutputStream(directory.resolve("hbase-site.xml"))) {
      settingsOf(configuration).writeXml(site);
    }
    List<String> command = new ArrayList<>();
    for (String part : System.getProperty("hblite.tests.command", defaultCommand()).split("\n")) {
      if (part.equals("{settings}")) {
        addKnownSettings(command, configuration);
        continue;
      }
      command.add(
          part.replace("{servers}", Integer.toString(regionServers))
              .replace("{dir}", directory.toString()));
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    return new Cluster(builder.start(), directory);
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
   * The settings that a cluster in the test's own process would read, as far as they differ from
   * the defaults.
   */
  private static void addKnownSettings(List<String> command, Configuration configuration) {
    Configuration defaults = defaults();
    for (String name : new TreeSet<>(KNOWN)) {
      String value = configuration.get(name);
      if (value != null && !value.equals(defaults.get(name))) {
        command.add("-D");
        command.add(name + "=" + value);
      }
    }
  }

  /** Without the settings that all tests share. */
  private static Configuration defaults() {
    Configuration defaults = new Configuration();
    defaults.addResource("hbase-default.xml");
    return defaults;
  }

  /** The settings that differ from HBase's defaults. */
  private static Configuration settingsOf(Configuration configuration) {
    Configuration defaults = defaults();
    Configuration settings = new Configuration(false);
    for (Map.Entry<String, String> setting : configuration) {
      if (!setting.getValue().equals(defaults.getRaw(setting.getKey()))) {
        settings.set(setting.getKey(), setting.getValue());
      }
    }
    return settings;
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

  /** The port of its ZooKeeper. */
  public int zooKeeperPort() {
    return zooKeeperPort;
  }

  /** The port of hblite's admin endpoint; 0 for any other server. */
  public int endpointPort() {
    return ports.getOrDefault("http", 0);
  }

  /** The port of one of hblite's gateways, as {@code thrift}; 0 if it has none. */
  public int gatewayPort(String name) {
    return ports.getOrDefault(name, 0);
  }

  /** The directory of its files. */
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
    remove(directory);
  }

  private void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(STOPS_WITHIN_SECONDS, TimeUnit.SECONDS);
      remove(directory);
    } catch (InterruptedException | IOException e) {
      System.err.println(directory + " is left: " + e.getMessage());
    }
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
