package hblite.embedded;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * A store in this process, for HBase's own client. No port is opened.
 *
 * <pre>
 * try (EmbeddedHBlite store = EmbeddedHBlite.open("data");
 *     Connection connection = store.connect()) {
 *   ...
 * }
 * </pre>
 *
 * Close the connections first. After that, their calls fail.
 */
public final class EmbeddedHBlite implements AutoCloseable {
  private final long handle;
  private final String master;

  private EmbeddedHBlite(long handle) throws IOException {
    this.handle = handle;
    master = text(Native.master(handle));
  }

  /** A store with options. */
  public static Builder builder() {
    return new Builder();
  }

  /** How a store is opened. */
  public static final class Builder {
    private final Map<String, String> settings = new TreeMap<>();
    private int regionServers = 1;

    private Builder() {}

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
     * Opens the store in a directory, which is created if it does not exist.
     *
     * @throws StoreLockedException if another process has it open, or this one already does
     */
    public EmbeddedHBlite open(Path directory) throws IOException {
      return open(bytes(directory.toAbsolutePath().toString()));
    }

    /** Opens an empty store in memory. */
    public EmbeddedHBlite inMemory() throws IOException {
      return open((byte[]) null);
    }

    private EmbeddedHBlite open(byte[] directory) throws IOException {
      StringBuilder lines = new StringBuilder();
      settings.forEach((name, value) -> lines.append(name).append('=').append(value).append('\n'));
      return new EmbeddedHBlite(Native.open(directory, regionServers, bytes(lines.toString())));
    }
  }

  /**
   * Opens the store in a directory, which is created if it does not exist.
   *
   * @throws StoreLockedException if another process has it open, or this one already does
   */
  public static EmbeddedHBlite open(String directory) throws IOException {
    return open(Paths.get(directory));
  }

  /**
   * Opens the store in a directory, which is created if it does not exist.
   *
   * @throws StoreLockedException if another process has it open, or this one already does
   */
  public static EmbeddedHBlite open(Path directory) throws IOException {
    return builder().open(directory);
  }

  /** Opens an empty store in memory. */
  public static EmbeddedHBlite inMemory() throws IOException {
    return builder().inMemory();
  }

  /**
   * Sends a request to the admin endpoint, as described in docs/server.md: state, faults,
   * checkpoints and the clock.
   *
   * @param method of HTTP, such as {@code POST}
   * @param path such as {@code /checkpoints}
   * @param body JSON, or null for none
   * @return the body of the answer
   * @throws IOException with the reason if the request is refused
   */
  public String admin(String method, String path, String body) throws IOException {
    return text(
        Native.admin(handle, bytes(method), bytes(path), body == null ? null : bytes(body)));
  }

  /**
   * Opens the state of a checkpoint as a store of its own, in memory. It is closed by its {@link
   * #close}, and with this store.
   */
  public EmbeddedHBlite fork(String checkpoint) throws IOException {
    return new EmbeddedHBlite(Native.fork(handle, bytes(checkpoint)));
  }

  /**
   * A connection to this store. Its batches and scans run in the thread that asks for them. HBase
   * 2 runs those of a connection that {@link ConnectionFactory} makes from the {@link
   * #configuration} in a pool, one task for each server, while the asking thread waits.
   */
  public Connection connect() throws IOException {
    return ConnectionFactory.createConnection(configuration(), new CallingThread());
  }

  /** A new configuration for connections to this store, over that of the class path. */
  public Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    settings().forEach(configuration::set);
    return configuration;
  }

  /** The settings that lead connections to this store, as long as it is open. */
  public Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    settings.put(EmbeddedRpcClient.STORE, Long.toString(handle));
    settings.put("hbase.rpc.client.impl", EmbeddedRpcClient.class.getName());
    settings.put("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry");
    settings.put("hbase.masters", master);
    return settings;
  }

  /** Closes the store and its forks. Does nothing if it is closed. */
  @Override
  public void close() throws IOException {
    Native.close(handle);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
