package hblite.testing;

import java.io.IOException;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A server in a process of its own: {@code hblite serve}, and its forks. */
final class ProcessHost implements Host {
  private static final Duration REQUEST_MAX = Duration.ofSeconds(60);

  /** The server is on this machine: no proxy, and no upgrade to HTTP/2. */
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .proxy(ProxySelector.of(null))
          .version(HttpClient.Version.HTTP_1_1)
          .build();

  private final ServerProcess process;
  private final String ports;
  private final URI url;
  private final Runnable stop;

  private ProcessHost(ServerProcess process, String ports, Runnable stop) {
    this.process = process;
    this.ports = ports;
    this.stop = stop;
    url = URI.create("http://127.0.0.1:" + port("http_port"));
  }

  /** Executes the command, and returns when the server is ready. */
  static Host start(List<String> command) {
    ServerProcess process = new ServerProcess(command);
    return new ProcessHost(process, process.readyLine(), process::stop);
  }

  @Override
  public String send(String method, String path, String body) {
    HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve(path)).timeout(REQUEST_MAX);
    if (body == null) {
      request.method(method, BodyPublishers.noBody());
    } else {
      request.method(method, BodyPublishers.ofString(body));
      request.header("Content-Type", "application/json");
    }
    try {
      HttpResponse<String> answer = CLIENT.send(request.build(), BodyHandlers.ofString());
      if (answer.statusCode() >= 400) {
        throw new HBliteException(method + " " + path + ": " + Json.reason(answer.body()));
      }
      return answer.body();
    } catch (IOException e) {
      throw new HBliteException(method + " " + path + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HBliteException(method + " " + path + " was interrupted", e);
    }
  }

  @Override
  public Host fork(String checkpoint) {
    String fork = send("POST", "/forks", "{\"checkpoint\":" + Json.quoted(checkpoint) + "}");
    long id = Json.number(fork, "id");
    return new ProcessHost(process, fork, () -> send("DELETE", "/forks/" + id, null));
  }

  /** By default, HBase 3.0 uses the master, and earlier releases use ZooKeeper. */
  @Override
  public Map<String, String> settings() {
    return Map.of(
        "hbase.zookeeper.quorum", "127.0.0.1",
        "hbase.zookeeper.property.clientPort", Integer.toString(port("zookeeper_port")),
        "hbase.masters", "127.0.0.1:" + port("rpc_port"),
        "hbase.client.bootstrap.servers", "127.0.0.1:" + port("rpc_port"));
  }

  @Override
  public int port(String name) {
    return (int) Json.number(ports, name);
  }

  @Override
  public String named(String name) {
    return Json.string(ports, name);
  }

  @Override
  public String log() {
    return process.log();
  }

  @Override
  public void stop() {
    stop.run();
  }
}
