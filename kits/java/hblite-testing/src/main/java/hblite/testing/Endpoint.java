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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests to the admin endpoint of a server, and what the kit reads in the answers. */
final class Endpoint {
  private static final Duration REQUEST_MAX = Duration.ofSeconds(60);

  /** The server is on this machine: no proxy, and no upgrade to HTTP/2. */
  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .proxy(ProxySelector.of(null))
          .version(HttpClient.Version.HTTP_1_1)
          .build();

  private final URI url;

  Endpoint(int port) {
    url = URI.create("http://127.0.0.1:" + port);
  }

  URI url() {
    return url;
  }

  /** The answer, whatever it is, to a request with a JSON body, or none if that is null. */
  String send(String method, String path, String body) {
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
        throw new HBliteException(method + " " + path + ": " + reason(answer.body()));
      }
      return answer.body();
    } catch (IOException e) {
      throw new HBliteException(method + " " + path + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HBliteException(method + " " + path + " was interrupted", e);
    }
  }

  private static String reason(String body) {
    Matcher reason = Pattern.compile("\"error\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(body);
    return reason.find() ? reason.group(1).replace("\\\"", "\"") : body;
  }

  /** A number of a JSON object, or -1 if it has none of that name. */
  static long number(String json, String name) {
    Matcher number = Pattern.compile('"' + name + "\":(-?\\d+)").matcher(json);
    return number.find() ? Long.parseLong(number.group(1)) : -1;
  }

  /** A text of a JSON object, which has no escapes, or null if it has none of that name. */
  static String string(String json, String name) {
    Matcher text = Pattern.compile('"' + name + "\":\"([^\"\\\\]*)\"").matcher(json);
    return text.find() ? text.group(1) : null;
  }

  /** A string as JSON. */
  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') {
        quoted.append('\\').append(each);
      } else if (each < ' ') {
        quoted.append(String.format("\\u%04x", (int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }
}
