package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Whether an answer is the recorded one.
 *
 * <p>Both are equal, except for what the format leaves open: where an error was thrown, the
 * messages of regular-expression engines, and everything but the failure itself where HBase broke.
 */
final class Comparison {
  private static final Set<String> OF_REGEX_ENGINES =
      Set.of("PatternSyntaxException", "SyntaxException");

  private Comparison() {}

  /** Whether two answers, both as read from a file, agree. */
  static boolean agree(JsonNode recorded, JsonNode answer) {
    if (recorded.has("error") && answer.has("error")) {
      return agreeErrors(recorded, answer);
    }
    if (recorded.isArray() && answer.isArray()) {
      return agreeItems(recorded, answer);
    }
    if (recorded.isObject() && answer.isObject()) {
      return agreeFields(recorded, answer);
    }
    return recorded.equals(answer);
  }

  private static boolean agreeErrors(JsonNode recorded, JsonNode answer) {
    if (recorded.has("internal")) {
      return true;
    }
    String error = recorded.get("error").asText();
    return agreeOn("error", recorded, answer)
        && (OF_REGEX_ENGINES.contains(error) || agreeOn("message", recorded, answer))
        && agreeOn("retry", recorded, answer)
        && agreeOn("wrapped", recorded, answer)
        && agree(recorded.path("cause"), answer.path("cause"));
  }

  private static boolean agreeOn(String field, JsonNode recorded, JsonNode answer) {
    return Objects.equals(recorded.get(field), answer.get(field));
  }

  private static boolean agreeItems(JsonNode recorded, JsonNode answer) {
    Iterator<JsonNode> answers = answer.iterator();
    for (JsonNode item : recorded) {
      if (!answers.hasNext() || !agree(item, answers.next())) {
        return false;
      }
    }
    return !answers.hasNext();
  }

  private static boolean agreeFields(JsonNode recorded, JsonNode answer) {
    for (Map.Entry<String, JsonNode> field : recorded.properties()) {
      if (!agree(field.getValue(), answer.path(field.getKey()))) {
        return false;
      }
    }
    return recorded.size() == answer.size();
  }
}
