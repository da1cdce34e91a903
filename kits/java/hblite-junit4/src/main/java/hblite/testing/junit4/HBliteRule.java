package hblite.testing.junit4;

import hblite.testing.HBliteServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

/**
 * Gives the tests of a class their own HBase.
 *
 * <pre>{@code
 * @ClassRule public static final HBliteRule HBASE = new HBliteRule();
 * @Rule public final TestRule rewound = HBASE.rewound();
 * }</pre>
 *
 * <p>All classes share one process. Each class has its own server, a fork of an empty one. With
 * {@link #rewound}, each test begins in the state that {@code @BeforeClass} left, and connections
 * stay open. If a test fails, the log of the process is printed.
 */
public final class HBliteRule implements TestRule {
  private static final String EMPTY = "hblite-empty";
  private static final String BEFORE_TESTS = "hblite-before-tests";

  /** The process of all classes: it ends with this one. */
  private static HBliteServer suite;

  private HBliteServer server;
  private Connection connection;
  private boolean isKept;

  private static synchronized HBliteServer suite() {
    if (suite == null) {
      suite = HBliteServer.start();
      suite.checkpoint(EMPTY);
    }
    return suite;
  }

  /** The server of the class. */
  public HBliteServer server() {
    if (server == null) {
      throw new IllegalStateException("make this a @ClassRule: the server starts before the class");
    }
    return server;
  }

  /** Settings with which HBase's client connects to the server. */
  public Configuration configuration() {
    return server().configuration();
  }

  /** A connection that the tests of the class share; it is closed with the server. */
  public Connection connection() {
    try {
      if (connection == null || connection.isClosed()) {
        connection = ConnectionFactory.createConnection(configuration());
      }
      return connection;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Statement apply(Statement base, Description description) {
    return new Statement() {
      @Override
      public void evaluate() throws Throwable {
        server = suite().fork(EMPTY);
        try {
          base.evaluate();
        } finally {
          close();
        }
      }
    };
  }

  private void close() throws IOException {
    if (connection != null) {
      connection.close();
    }
    server.close();
    connection = null;
    server = null;
    isKept = false;
  }

  /** For a field with {@code @Rule}: returns to the state before the first test. */
  public TestRule rewound() {
    return (base, description) ->
        new Statement() {
          @Override
          public void evaluate() throws Throwable {
            rewind();
            try {
              base.evaluate();
            } catch (Throwable e) {
              System.err.println("log of hblite:\n" + server().log());
              throw e;
            }
          }
        };
  }

  private void rewind() {
    if (isKept) {
      server().restore(BEFORE_TESTS);
    } else {
      server().checkpoint(BEFORE_TESTS);
      isKept = true;
    }
  }
}
