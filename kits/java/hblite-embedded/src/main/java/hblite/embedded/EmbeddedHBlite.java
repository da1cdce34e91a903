package hblite.embedded;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;

/**
 * A store in this process, for HBase's own client. No port is opened.
 *
 * <pre>
 * try (EmbeddedHBlite store = EmbeddedHBlite.open("data");
 *     Connection connection = ConnectionFactory.createConnection(store.configuration())) {
 *   ...
 * }
 * </pre>
 *
 * Close the connections first. After that, their calls fail.
 */
public final class EmbeddedHBlite implements AutoCloseable {
  private final long handle;
  private final String master;

  private EmbeddedHBlite(String directory) throws IOException {
    byte[] path = directory == null ? null : directory.getBytes(StandardCharsets.UTF_8);
    handle = Native.open(path);
    master = new String(Native.master(handle), StandardCharsets.US_ASCII);
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
    return new EmbeddedHBlite(directory.toAbsolutePath().toString());
  }

  /** Opens an empty store in memory. */
  public static EmbeddedHBlite inMemory() throws IOException {
    return new EmbeddedHBlite(null);
  }

  /** A new configuration for connections to this store, over that of the class path. */
  public Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    configuration.setLong(EmbeddedRpcClient.STORE, handle);
    configuration.set("hbase.rpc.client.impl", EmbeddedRpcClient.class.getName());
    configuration.set(
        "hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry");
    configuration.set("hbase.masters", master);
    return configuration;
  }

  /** Closes the store. Does nothing if it is closed. */
  @Override
  public void close() throws IOException {
    Native.close(handle);
  }
}
