package hblite.testing;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests the configuration of an HBase of their own: a method with a parameter of type
 * {@link Configuration} gets one that is empty.
 *
 * <p>With {@code @ExtendWith(HBlite.class)} each test has its own server, which takes some
 * milliseconds to start. The command is {@code hblite}, or what the environment variable
 * {@code HBLITE} names.
 */
public final class HBlite implements BeforeEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(HBlite.class);

  /** A server in a process of its own; it ends with the test. */
  private record Server(Process process, int zooKeeperPort) implements CloseableResource {
    private static final Pattern PORT = Pattern.compile("\"zookeeper_port\":(\\d+)");

    static Server start() throws IOException {
      String command = System.getenv().getOrDefault("HBLITE", "hblite");
      Process process =
          new ProcessBuilder(
                  command, "serve", "--memory", "--zookeeper-port", "0", "--rpc-port", "0")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String ready = process.inputReader().readLine();
      Matcher port = PORT.matcher(ready == null ? "" : ready);
      if (!port.find()) {
        throw new IOException(command + " did not start: " + ready);
      }
      return new Server(process, Integer.parseInt(port.group(1)));
    }

    Configuration configuration() {
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
  public void beforeEach(ExtensionContext context) throws IOException {
    context.getStore(NAMESPACE).put(Server.class, Server.start());
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Configuration.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context.getStore(NAMESPACE).get(Server.class, Server.class).configuration();
  }
}
