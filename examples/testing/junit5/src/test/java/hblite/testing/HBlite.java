package hblite.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests an HBase of their own: a method with a parameter of type {@link Configuration} or
 * {@link Server} gets one that is empty.
 *
 * <p>With {@code @ExtendWith(HBlite.class)} each test that has such a parameter has its own server,
 * which takes some milliseconds to start. If a {@code @BeforeAll} method has one, the server starts
 * there, and all tests of the class share it. The command is {@code hblite}, or the value of the
 * environment variable {@code HBLITE}.
 */
public final class HBlite implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(HBlite.class);

  /**
   * A server in a process of its own; it ends with the test or the class that started it.
   *
   * @param zooKeeperPort the port that clients connect to
   * @param httpPort the port of the status page, metrics and faults
   */
  public record Server(Process process, int zooKeeperPort, int httpPort)
      implements CloseableResource {
    private static Server start() {
      String command = System.getenv().getOrDefault("HBLITE", "hblite");
      try {
        Process process =
            new ProcessBuilder(
                    command, "serve", "--memory", "--zookeeper-port", "0", "--rpc-port", "0")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String ready = process.inputReader().readLine();
        if (ready == null) {
          throw new IOException(command + " did not start");
        }
        return new Server(process, port(ready, "zookeeper_port"), port(ready, "http_port"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static int port(String ready, String name) throws IOException {
      Matcher port = Pattern.compile('"' + name + "\":(\\d+)").matcher(ready);
      if (!port.find()) {
        throw new IOException("no " + name + " in " + ready);
      }
      return Integer.parseInt(port.group(1));
    }

    /** Settings with which HBase's client connects to this server. */
    public Configuration configuration() {
      Configuration configuration = HBaseConfiguration.create();
      configuration.set("hbase.zookeeper.quorum", "127.0.0.1");
      configuration.setInt("hbase.zookeeper.property.clientPort", zooKeeperPort);
      return configuration;
    }

    @Override
    public void close() throws InterruptedException {
      process.destroy();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Configuration.class || type == Server.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    // A test sees what its class has stored.
    Server server =
        context
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(Server.class, type -> Server.start(), Server.class);
    return parameter.getParameter().getType() == Server.class ? server : server.configuration();
  }
}
