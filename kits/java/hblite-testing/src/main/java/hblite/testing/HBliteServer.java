package hblite.testing;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;

/**
 * A server in place of an HBase cluster, in memory: on free ports, or in this process.
 *
 * <pre>{@code
 * try (HBliteServer server = HBliteServer.start();
 *     Connection connection = ConnectionFactory.createConnection(server.configuration())) {
 * }</pre>
 *
 * <p>It ends with {@link #close}, and with this process, however that ends. Safe for use by many
 * threads.
 */
public final class HBliteServer implements AutoCloseable {
  private final Host host;
  private final Faults faults;
  private final ServerClock clock;

  private HBliteServer(Host host) {
    this.host = host;
    faults = new Faults(host);
    clock = new ServerClock(host);
  }

  /** Starts an empty server, and returns when it is ready. */
  public static HBliteServer start() {
    return builder().start();
  }

  /** A server with options. */
  public static Builder builder() {
    return new Builder();
  }

  /** How a server is started. */
  public static final class Builder {
    private final Map<String, String> settings = new TreeMap<>();
    private final List<String> arguments = new ArrayList<>();
    private Path binary;
    private int regionServers = 1;
    private boolean isInProcess;

    private Builder() {}

    /** The path of hblite. */
    public Builder binary(Path path) {
      binary = path;
      return this;
    }

    /** The number of region servers that clients see; 1. */
    public Builder regionServers(int count) {
      regionServers = count;
      return this;
    }

    /** A setting of the cluster, by its name in {@code hbase-site.xml}. */
    public Builder set(String name, String value) {
      settings.put(name, value);
      return this;
    }

    /**
     * Runs it in this process, without ports, with the artifact {@code hblite-embedded}. So does
     * the environment variable {@code HBLITE_IN_PROCESS=1}, for servers without {@link #binary} and
     * {@link #arguments}.
     */
    public Builder inProcess() {
      isInProcess = true;
      return this;
    }

    /** Further options of {@code hblite serve}. */
    public Builder arguments(String... more) {
      arguments.addAll(List.of(more));
      return this;
    }

    /** Starts it, and returns when it is ready. */
    public HBliteServer start() {
      boolean isProcess = binary != null || !arguments.isEmpty();
      if (isInProcess && isProcess) {
        throw new HBliteException("a server in this process has no binary and no arguments");
      }
      if (isInProcess || !isProcess && "1".equals(System.getenv("HBLITE_IN_PROCESS"))) {
        return new HBliteServer(EmbeddedHost.start(regionServers, settings));
      }
      List<String> command = new ArrayList<>();
      command.add(Binary.find(binary).toString());
      command.addAll(List.of("serve", "--memory", "--zookeeper-port", "0", "--rpc-port", "0"));
      command.addAll(List.of("--region-servers", Integer.toString(regionServers)));
      command.addAll(List.of("--exit-with-parent", "--log", "errors"));
      settings.forEach((name, value) -> command.addAll(List.of("-D", name + "=" + value)));
      command.addAll(arguments);
      return new HBliteServer(ProcessHost.start(command));
    }
  }

  /** The port for clients that find the cluster by ZooKeeper. */
  public int zooKeeperPort() {
    return host.port("zookeeper_port");
  }

  /** The master's port, for clients that connect without ZooKeeper. */
  public int rpcPort() {
    return host.port("rpc_port");
  }

  /** The port of the admin endpoint. */
  public int httpPort() {
    return host.port("http_port");
  }

  /** The port of Thrift 1. */
  public int thriftPort() {
    return gatewayPort("thrift");
  }

  /** The port of Thrift 2. */
  public int thrift2Port() {
    return gatewayPort("thrift2");
  }

  /** The port of the REST gateway. */
  public int restPort() {
    return gatewayPort("rest");
  }

  private int gatewayPort(String name) {
    int port = host.port(name + "_port");
    if (port < 0) {
      throw new HBliteException(
          "this server has no port for " + name + ": start it with --" + name + "-port 0");
    }
    return port;
  }

  /** The console's address for a browser, with the token that lets it make changes. */
  public URI consoleUrl() {
    String url = host.named("console_url");
    if (url == null) {
      throw new HBliteException("this server has no console: forks and --no-http have none");
    }
    return URI.create(url);
  }

  /** {@code host:port} of ZooKeeper. */
  public String zooKeeper() {
    return "127.0.0.1:" + zooKeeperPort();
  }

  /** The address of the admin endpoint. */
  public URI url() {
    return URI.create("http://127.0.0.1:" + httpPort());
  }

  /** The settings that a client needs in its {@code hbase-site.xml}. */
  public Map<String, String> settings() {
    return host.settings();
  }

  /** Settings with which HBase's client connects to this server. */
  public Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    settings().forEach(configuration::set);
    return configuration;
  }

  /** Faults on demand. */
  public Faults faults() {
    return faults;
  }

  /** The clock of the server. */
  public ServerClock clock() {
    return clock;
  }

  /** Stores the present state of all tables under a name, and replaces an earlier one. */
  public void checkpoint(String name) {
    host.send("POST", "/checkpoints", "{\"name\":" + Json.quoted(name) + "}");
  }

  /**
   * Returns all tables to a checkpoint. Clients stay connected; scanners that are open end with an
   * error.
   */
  public void rewind(String checkpoint) {
    host.send("POST", "/checkpoints/" + encoded(checkpoint) + "/rewind", "{}");
  }

  /** Rewinds, clears all faults, and sets the clock to the real time if it was changed. */
  public void restore(String checkpoint) {
    rewind(checkpoint);
    faults.clear();
    if (clock.isChanged()) {
      clock.reset();
    }
  }

  /** Forgets a checkpoint. */
  public void deleteCheckpoint(String name) {
    host.send("DELETE", "/checkpoints/" + encoded(name), null);
  }

  /**
   * Starts an independent server, with its own ports if it has any, in the state of a checkpoint.
   * It ends with its {@link #close}, and with this server.
   */
  public HBliteServer fork(String checkpoint) {
    return new HBliteServer(host.fork(checkpoint));
  }

  /** Crashes a region server, by number from 0, whose regions move to the others at once. */
  public void crash(int server) {
    host.send("POST", "/servers/" + server + "/crash", "{\"reassign_after_ms\":0}");
  }

  /** Brings a crashed region server back on its port. */
  public void restart(int server) {
    host.send("POST", "/servers/" + server + "/restart", "{}");
  }

  /** Servers, regions, connections and scanners, as JSON. */
  public String status() {
    return host.send("GET", "/status", null);
  }

  /** The log of the server's own process: calls that were answered with an exception. */
  public String log() {
    return host.log();
  }

  /** Ends the server. */
  @Override
  public void close() {
    host.stop();
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
