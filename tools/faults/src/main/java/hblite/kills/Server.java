package hblite.kills;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of {@code hblite serve} that is killed and started again on the same ports. */
final class Server implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Pattern REGION = Pattern.compile("\"encoded_name\":\"([0-9a-f]+)\"[^}]*\"table\":\"kills\"");
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String hblite;
  private final Path store;
  private final Path portFile;
  private final File log;
  private Process process;
  private int zookeeper;
  private int rpc;
  private int region;
  private int http;

  Server(String hblite, Path dir) {
    this.hblite = hblite;
    this.store = dir.resolve("store");
    this.portFile = dir.resolve("ports");
    this.log = dir.resolve("server.log").toFile();
  }

  /** Starts it, and does not wait until it answers. */
  void start() throws IOException {
    Files.deleteIfExists(portFile);
    List<String> command = new ArrayList<>(List.of(hblite, "serve", "--dir", store.toString(),
        "--zookeeper-port", "" + zookeeper, "--rpc-port", "" + rpc,
        "--region-server-port", "" + region, "--http-port", "" + http,
        "--port-file", portFile.toString(), "--exit-with-parent"));
    for (String setting : List.of("hbase.hregion.memstore.flush.size=65536",
        "hbase.hstore.compaction.min=3", "hbase.catalogjanitor.interval=100")) {
      command.add("-D");
      command.add(setting);
    }
    process = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log)).start();
  }

  /** Waits until its ports are open. */
  void awaitStart() throws Exception {
    long end = System.nanoTime() + START_LIMIT.toNanos();
    while (!Files.exists(portFile)) {
      if (!process.isAlive() || System.nanoTime() > end) {
        throw new AssertionError("the server did not start: " + Files.readString(log.toPath()));
      }
      Thread.sleep(2);
    }
    String ports = Files.readString(portFile);
    zookeeper = port(ports, "\"zookeeper_port\":(\\d+)");
    rpc = port(ports, "\"rpc_port\":(\\d+)");
    region = port(ports, "\"region_server_ports\":\\[(\\d+)");
    http = port(ports, "\"http_port\":(\\d+)");
  }

  private static int port(String ports, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(ports);
    if (!matcher.find()) {
      throw new AssertionError(ports + " does not have " + pattern);
    }
    return Integer.parseInt(matcher.group(1));
  }

  int rpcPort() {
    return rpc;
  }

  /** Sends SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Runs `hblite check` on what the killed process left, which must have no defect. */
  void check() throws Exception {
    Process check = new ProcessBuilder(hblite, "check", store.toString())
        .redirectErrorStream(true).start();
    String output = new String(check.getInputStream().readAllBytes());
    if (check.waitFor() != 0) {
      throw new AssertionError("check found: " + output);
    }
  }

  void post(String path, String body) throws Exception {
    send("POST", path, body);
  }

  List<String> regions() throws Exception {
    List<String> found = new ArrayList<>();
    Matcher matcher = REGION.matcher(send("GET", "/status", ""));
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  private String send(String method, String path, String body) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + http + path))
        .header("Content-Type", "application/json").timeout(Duration.ofSeconds(2))
        .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    return response.body();
  }

  @Override
  public void close() throws Exception {
    if (process != null) {
      kill();
    }
  }
}
