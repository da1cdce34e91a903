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
 * A server in place of an HBase cluster, in memory and on free ports.
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
  private final String ports;
  private final Endpoint endpoint;
  private final Runnable stop;
  private final ServerProcess process;
  private final Faults faults;
  private final ServerClock clock;

  private HBliteServer(ServerProcess process, String ports, Runnable stop) {
    this.process = process;
    this.ports = ports;
    this.stop = stop;
    endpoint = new Endpoint(port("http_port"));
    faults = new Faults(endpoint);
    clock = new ServerClock(endpoint);
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

    /** Further options of {@code hblite serve}. */
    public Builder arguments(String... more) {
      arguments.addAll(List.of(more));
      return this;
    }

    /** Starts it, and returns when it is ready. */
    public HBliteServer start() {
      List<String> command = new ArrayList<>();
      command.add(Binary.find(binary).toString());
      command.addAll(List.of("serve", "--memory", "--zookeeper-port", "0", "--rpc-port", "0"));
      command.addAll(List.of("--region-servers", Integer.toString(regionServers)));
      command.addAll(List.of("--exit-with-parent", "--log", "errors"));
      settings.forEach((name, value) -> command.addAll(List.of("-D", name + "=" + value)));
      command.addAll(arguments);
      ServerProcess process = new ServerProcess(command);
      return new HBliteServer(process, process.readyLine(), process::stop);
    }
  }

  private int port(String name) {
    return (int) Endpoint.number(ports, name);
  }

  /** The port for clients that find the cluster by ZooKeeper. */
  public int zooKeeperPort() {
    return port("zookeeper_port");
  }

  /** The master's port, for clients that connect without ZooKeeper. */
  public int rpcPort() {
    return port("rpc_port");
  }

  /** The port of the admin endpoint. */
  public int httpPort() {
    return port("http_port");
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
    int port = port(name + "_port");
    if (port < 0) {
      throw new HBliteException(
          "this server has no port for " + name + ": start it with --" + name + "-port 0");
    }
    return port;
  }

  /** The console's address for a browser, with the token that lets it make changes. */
  public URI consoleUrl() {
    String url = Endpoint.string(ports, "console_url");
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
    return endpoint.url();
  }

  /**
   * The settings that a client needs in its {@code hbase-site.xml}. By default, HBase 3.0 uses the
   * master, and earlier releases use ZooKeeper.
   */
  public Map<String, String> settings() {
    return Map.of(
        "hbase.zookeeper.quorum", "127.0.0.1",
        "hbase.zookeeper.property.clientPort", Integer.toString(zooKeeperPort()),
        "hbase.masters", "127.0.0.1:" + rpcPort(),
        "hbase.client.bootstrap.servers", "127.0.0.1:" + rpcPort());
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
    endpoint.send("POST", "/checkpoints", "{\"name\":" + Endpoint.quoted(name) + "}");
  }

  /**
   * Returns all tables to a checkpoint. Clients stay connected; scanners that are open end with an
   * error.
   */
  public void rewind(String checkpoint) {
    endpoint.send("POST", "/checkpoints/" + encoded(checkpoint) + "/rewind", "{}");
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
    endpoint.send("DELETE", "/checkpoints/" + encoded(name), null);
  }

  /**
   * Starts an independent server, with its own ports, in the state of a checkpoint. It ends with
   * its {@link #close}, and with this server.
   */
  public HBliteServer fork(String checkpoint) {
    String body = "{\"checkpoint\":" + Endpoint.quoted(checkpoint) + "}";
    String fork = endpoint.send("POST", "/forks", body);
    long id = Endpoint.number(fork, "id");
    Runnable close = () -> endpoint.send("DELETE", "/forks/" + id, null);
    return new HBliteServer(process, fork, close);
  }

  /** Crashes a region server, by number from 0, whose regions move to the others at once. */
  public void crash(int server) {
    endpoint.send("POST", "/servers/" + server + "/crash", "{\"reassign_after_ms\":0}");
  }

  /** Brings a crashed region server back on its port. */
  public void restart(int server) {
    endpoint.send("POST", "/servers/" + server + "/restart", "{}");
  }

  /** Servers, regions, connections and scanners, as JSON. */
  public String status() {
    return endpoint.send("GET", "/status", null);
  }

  /** The log of the server's process: calls that were answered with an exception. */
  public String log() {
    return process.log();
  }

  /** Ends the server. */
  @Override
  public void close() {
    stop.run();
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
