package hblite.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the kit reads and writes of JSON: the server's own, whose members have known names. */
final class Json {
  private Json() {}

  /** A number of an object, or -1 if it has none of that name. */
  static long number(String json, String name) {
    Matcher number = Pattern.compile('"' + name + "\":(-?\\d+)").matcher(json);
    return number.find() ? Long.parseLong(number.group(1)) : -1;
  }

  /** A text of an object, which has no escapes, or null if it has none of that name. */
  static String string(String json, String name) {
    Matcher text = Pattern.compile('"' + name + "\":\"([^\"\\\\]*)\"").matcher(json);
    return text.find() ? text.group(1) : null;
  }

  /** The reason in the answer to a request that was refused. */
  static String reason(String json) {
    Matcher reason = Pattern.compile("\"error\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
    return reason.find() ? reason.group(1).replace("\\\"", "\"") : json;
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
