package hblite.conformance.tests;

import hblite.embedded.EmbeddedHBlite;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.OptionalInt;
import java.util.function.IntPredicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** hblite's admin endpoint, where a test kills servers. */
final class Endpoint {
  /** The setting with its port. */
  static final String PORT = "hblite.tests.endpoint.port";

  private final Sender sender;

  private interface Sender {
    /** The answer to a request, which is a POST if it has a body. */
    String send(String path, String body) throws IOException;
  }

  private Endpoint(Sender sender) {
    this.sender = sender;
  }

  /** The endpoint of the cluster with these settings; skips the test if it has none. */
  static Endpoint of(Configuration configuration) {
    EmbeddedHBlite embedded = EmbeddedCluster.of(configuration);
    if (embedded != null) {
      return new Endpoint((path, body) -> embedded.admin(body == null ? "GET" : "POST", path, body));
    }
    int port = configuration.getInt(PORT, 0);
    if (port == 0) {
      throw OtherProcess.has("the process");
    }
    HttpClient client = HttpClient.newHttpClient();
    return new Endpoint((path, body) -> send(client, "http://127.0.0.1:" + port + path, body));
  }

  private static String send(HttpClient client, String url, String body) throws IOException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
    if (body != null) {
      request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
    }
    try {
      HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IOException(url + ": " + answer.body());
      }
      return answer.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private JsonObject status() throws IOException {
    return JsonParser.parseString(sender.send("/status", null)).getAsJsonObject();
  }

  private Iterable<JsonElement> servers() throws IOException {
    return status().getAsJsonArray("servers");
  }

  /** How many scanners are open on all servers. */
  int scanners() throws IOException {
    return status().get("scanners").getAsInt();
  }

  /** Keeps clients of a gateway from changing anything, or lets them. */
  void setReadOnly(String gateway, boolean isReadOnly) throws IOException {
    sender.send("/gateways/" + gateway, "{\"read_only\":" + isReadOnly + "}");
  }

  /** Kills the region server at this port; the others get its regions at once. */
  void crash(int port) throws IOException {
    for (JsonElement each : servers()) {
      JsonObject server = each.getAsJsonObject();
      if (server.get("port").getAsInt() == port) {
        int number = server.get("server").getAsInt();
        sender.send("/servers/" + number + "/crash", "{\"reassign_after_ms\":0}");
      }
    }
  }

  /** Restarts the first dead region server whose port is accepted. Returns its port, if any. */
  OptionalInt restartOne(IntPredicate isWanted) throws IOException {
    for (JsonElement each : servers()) {
      JsonObject server = each.getAsJsonObject();
      int port = server.get("port").getAsInt();
      if (!server.get("is_alive").getAsBoolean() && isWanted.test(port)) {
        sender.send("/servers/" + server.get("server").getAsInt() + "/restart", "{}");
        return OptionalInt.of(port);
      }
    }
    return OptionalInt.empty();
  }

  /** Restarts the dead region servers. Returns whether there were any. */
  boolean restartDead() throws IOException {
    boolean wereAny = false;
    while (restartOne(port -> true).isPresent()) {
      wereAny = true;
    }
    return wereAny;
  }
}
