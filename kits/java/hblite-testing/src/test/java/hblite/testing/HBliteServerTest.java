package hblite.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers share nothing, errors say what to do, and no server is left behind. */
class HBliteServerTest {
  @Test
  void aServerAnswersUntilItIsClosed() throws IOException {
    HBliteServer server = HBliteServer.start();
    assertEquals("imok", fourLetters(server.zooKeeperPort()));
    server.close();
    server.close();
    assertThrows(ConnectException.class, () -> fourLetters(server.zooKeeperPort()));
  }

  private static String fourLetters(int port) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.getOutputStream().write("ruok".getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  @Test
  void twoServersShareNoPort() {
    try (HBliteServer one = HBliteServer.start();
        HBliteServer other = HBliteServer.start()) {
      assertNotEquals(one.zooKeeperPort(), other.zooKeeperPort());
      assertNotEquals(one.httpPort(), other.httpPort());
    }
  }

  @Test
  void thePortsOfGatewaysAndTheConsoleAreKnown() throws IOException {
    String[] gateways = {"--thrift-port", "0", "--thrift2-port", "0", "--rest-port", "0"};
    try (HBliteServer server = HBliteServer.builder().arguments(gateways).start();
        HBliteServer plain = HBliteServer.start()) {
      for (int port : new int[] {server.thriftPort(), server.thrift2Port(), server.restPort()}) {
        new Socket("127.0.0.1", port).close();
      }
      assertTrue(server.consoleUrl().toString().startsWith(server.url() + "/console/"));
      HBliteException none = assertThrows(HBliteException.class, plain::restPort);
      assertTrue(none.getMessage().contains("--rest-port 0"), none.getMessage());
    }
  }

  @Test
  void faultsAreSetAndCleared() {
    try (HBliteServer server = HBliteServer.builder().regionServers(2).start()) {
      long fault = server.faults().set("{\"drop\":\"after\",\"methods\":[\"Mutate\"]}");
      assertTrue(server.faults().list().contains("\"id\":" + fault));
      server.faults().clear(fault);
      assertEquals("[]", server.faults().list());
      HBliteException none =
          assertThrows(HBliteException.class, () -> server.faults().clear(fault));
      assertTrue(none.getMessage().contains("no fault has the number"), none.getMessage());
      server.crash(1);
      server.restart(1);
    }
  }

  @Test
  void aForkBeginsAsItsCheckpointAndEndsAlone() throws IOException {
    try (HBliteServer server = HBliteServer.start()) {
      server.checkpoint("a-base.1");
      server.rewind("a-base.1");
      HBliteServer fork = server.fork("a-base.1");
      assertNotEquals(server.zooKeeperPort(), fork.zooKeeperPort());
      assertEquals("imok", fourLetters(fork.zooKeeperPort()));
      fork.close();
      assertThrows(ConnectException.class, () -> fourLetters(fork.zooKeeperPort()));
      HBliteException unknown =
          assertThrows(HBliteException.class, () -> server.fork("unknown"));
      assertTrue(unknown.getMessage().contains("unknown"), unknown.getMessage());
    }
  }

  @Test
  void aClockMovesOnRequest() {
    try (HBliteServer server = HBliteServer.start()) {
      server.clock().stop();
      Instant start = server.clock().now();
      server.clock().advance(Duration.ofDays(1));
      assertEquals(start.plus(Duration.ofDays(1)), server.clock().now());
      server.clock().set(start.plus(Duration.ofDays(2)));
      assertEquals(start.plus(Duration.ofDays(2)), server.clock().now());
    }
  }

  @Test
  void errorsSayWhatToDo(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("hblite");
    Files.writeString(file, "#!/bin/sh\n");
    refused("may not be executed: run `chmod +x`", HBliteServer.builder().binary(file));
    refused("is not a file", HBliteServer.builder().binary(directory));
    refused(
        "hbase.nothing is not a setting of hblite",
        HBliteServer.builder().set("hbase.nothing", "1"));
    try (HBliteServer server = HBliteServer.start()) {
      String taken = Integer.toString(server.httpPort());
      refused(
          "cannot listen on 127.0.0.1:" + taken,
          HBliteServer.builder().arguments("--http-port", taken));
    }
  }

  private static void refused(String reason, HBliteServer.Builder builder) {
    HBliteException error = assertThrows(HBliteException.class, builder::start);
    assertTrue(error.getMessage().contains(reason), error.getMessage());
  }

  /** A process that starts a server and waits. */
  static final class Parent {
    private Parent() {}

    public static void main(String[] arguments) throws InterruptedException {
      System.out.println(HBliteServer.start().zooKeeperPort());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  private static void waitForEnd(int port) throws IOException {
    try (Socket watch = new Socket("127.0.0.1", port)) {
      watch.setSoTimeout(10_000);
      assertEquals(-1, watch.getInputStream().read());
    } catch (ConnectException e) {
      throw e;
    } catch (SocketException e) {
      assertTrue(e.getMessage().contains("reset"), e.getMessage());
    }
  }

  @Test
  void noServerIsLeftWhenItsProcessIsKilled() throws IOException, InterruptedException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    String classPath = System.getProperty("java.class.path");
    Process parent =
        new ProcessBuilder(java.toString(), "-cp", classPath, Parent.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    int port;
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(parent.getInputStream(), StandardCharsets.US_ASCII))) {
      port = Integer.parseInt(output.readLine());
      assertEquals("imok", fourLetters(port));
      parent.destroyForcibly().waitFor();
    }
    // The server closes its connections when it ends, and its ports shortly afterwards.
    long late = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    assertThrows(
        ConnectException.class,
        () -> {
          while (System.nanoTime() < late) {
            waitForEnd(port);
          }
        });
  }
}
