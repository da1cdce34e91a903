package hblite.testing.junit5;

import hblite.testing.HBliteServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Gives tests their own HBase.
 *
 * <pre>{@code
 * @ExtendWith(HBlite.class)
 * class UsersTest {
 *   @BeforeAll
 *   static void createTables(Connection connection) { ... }
 *
 *   @Test
 *   void aUserIsFound(Connection connection) { ... }
 * }
 * }</pre>
 *
 * <p>A parameter of type {@link HBliteServer}, {@link Configuration} or {@link Connection} of a
 * test, a constructor or a method such as {@code @BeforeEach} is resolved. A static field
 * {@code @RegisterExtension static final HBlite hbase = new HBlite()} has the same as methods.
 *
 * <p>All classes with the defaults share one process. Each class has its own server, a fork of an
 * empty one. Each test begins in the state that the {@code @BeforeAll} methods left: the server is
 * rewound, and connections stay open. A test that runs in parallel with others of its class has a
 * fork instead, which its parameters lead to. If a test fails, the log of the process is printed.
 */
public final class HBlite
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(HBlite.class);
  private static final String EMPTY = "hblite-empty";
  private static final String CHECKPOINT = "hblite-before-tests";

  /** A nested class is on the server of the class around it, so its checkpoint needs a name. */
  private static final AtomicLong LAST_NESTED = new AtomicLong();

  private final Supplier<HBliteServer> start;
  private final Namespace suiteNamespace;
  private volatile World current;

  /** A server with the defaults. */
  public HBlite() {
    start = HBliteServer::start;
    suiteNamespace = NAMESPACE;
  }

  /** A separate process with options: for a field with {@code @RegisterExtension}. */
  public HBlite(HBliteServer.Builder builder) {
    start = builder::start;
    suiteNamespace = Namespace.create(HBlite.class, this);
  }

  /** The server of the class that runs. Tests in parallel take it as a parameter instead. */
  public HBliteServer server() {
    World world = current;
    if (world == null) {
      throw new IllegalStateException("the server starts before @BeforeAll");
    }
    return world.server;
  }

  /** Settings with which HBase's client connects to {@link #server}. */
  public Configuration configuration() {
    return server().configuration();
  }

  /** A connection to {@link #server} that the tests share; it is closed with the server. */
  public Connection connection() {
    server();
    return current.connection();
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    World outer = context.getStore(NAMESPACE).get(World.class, World.class);
    if (outer != null) {
      // A nested class uses the server of its enclosing class.
      outer.restoreIfKept();
      World inner = outer.nested(CHECKPOINT + LAST_NESTED.incrementAndGet());
      context.getStore(NAMESPACE).put(World.class, inner);
      return;
    }
    World world = new World(suite(context).fork(EMPTY), CHECKPOINT);
    context.getStore(NAMESPACE).put(World.class, world);
    current = world;
  }

  /** The process of all classes. */
  private HBliteServer suite(ExtensionContext context) {
    Store store = context.getRoot().getStore(suiteNamespace);
    return store.getOrComputeIfAbsent(Suite.class, type -> new Suite(start.get()), Suite.class)
        .server;
  }

  private static World world(ExtensionContext context) {
    World world = context.getStore(NAMESPACE).get(World.class, World.class);
    if (world == null) {
      throw new IllegalStateException(
          "HBlite starts before the class: register it with @ExtendWith or in a static field");
    }
    return world;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    World ofClass = world(context);
    if (context.getExecutionMode() == ExecutionMode.CONCURRENT) {
      ofClass.keepOnce();
      World ofTest = new World(ofClass.server.fork(ofClass.checkpoint), ofClass.checkpoint);
      context.getStore(NAMESPACE).put(World.class, ofTest);
      return;
    }
    if (!ofClass.keepOnce()) {
      ofClass.restoreIfKept();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    String log = world(context).server.log();
    if (context.getExecutionException().isPresent() && !log.isEmpty()) {
      System.err.println("log of hblite:\n" + log);
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == HBliteServer.class || type == Configuration.class || type == Connection.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    World world = world(context);
    Class<?> type = parameter.getParameter().getType();
    if (type == HBliteServer.class) {
      return world.server;
    }
    return type == Configuration.class ? world.server.configuration() : world.connection();
  }

  /** The process of a suite, which ends with it. */
  private static final class Suite implements Store.CloseableResource {
    private final HBliteServer server;

    private Suite(HBliteServer server) {
      this.server = server;
      server.checkpoint(EMPTY);
    }

    @Override
    public void close() {
      server.close();
    }
  }

  /** A server and the state that its tests begin in; JUnit closes it with its class or test. */
  private static final class World implements Store.CloseableResource {
    private final HBliteServer server;
    private final World around;
    private final String checkpoint;
    private boolean isKept;
    private Connection connection;

    private World(HBliteServer server, String checkpoint) {
      this(server, checkpoint, null);
    }

    private World(HBliteServer server, String checkpoint, World around) {
      this.server = server;
      this.checkpoint = checkpoint;
      this.around = around;
    }

    private World nested(String name) {
      return new World(server, name, this);
    }

    /** Keeps the state before the first test; says whether this was it. */
    private synchronized boolean keepOnce() {
      if (isKept) {
        return false;
      }
      server.checkpoint(checkpoint);
      isKept = true;
      return true;
    }

    private synchronized void restoreIfKept() {
      if (isKept) {
        server.restore(checkpoint);
      }
    }

    private synchronized Connection connection() {
      if (around != null) {
        return around.connection();
      }
      try {
        if (connection == null || connection.isClosed()) {
          connection = ConnectionFactory.createConnection(server.configuration());
        }
        return connection;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public synchronized void close() throws IOException {
      if (around != null) {
        return;
      }
      if (connection != null) {
        connection.close();
      }
      server.close();
    }
  }
}
