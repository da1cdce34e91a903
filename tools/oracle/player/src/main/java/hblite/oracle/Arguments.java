package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.TableName;

/** Single arguments of an operation as Java values. */
final class Arguments {
  private Arguments() {}

  /** The text of an argument that must be there. */
  static String text(JsonNode arguments, String name) {
    return required(arguments, name).asText();
  }

  /** The bytes of an argument; null when it is absent or null. */
  static byte[] bytes(JsonNode arguments, String name) {
    return ByteStrings.read(arguments.get(name));
  }

  /** The byte strings of a list. */
  static byte[][] byteLists(JsonNode list) {
    byte[][] all = new byte[list.size()][];
    for (int at = 0; at < all.length; at++) {
      all[at] = ByteStrings.read(list.get(at));
    }
    return all;
  }

  /** A list that is empty when the argument is absent. */
  static Iterable<JsonNode> list(JsonNode arguments, String name) {
    JsonNode list = arguments.get(name);
    return list == null ? MissingNode.getInstance() : list;
  }

  /** The fields of an object in their order; none when the argument is absent. */
  static Set<Map.Entry<String, JsonNode>> fields(JsonNode arguments, String name) {
    return arguments.path(name).properties();
  }

  /** Whether an argument is there and true. */
  static boolean isSet(JsonNode arguments, String name) {
    return arguments.path(name).asBoolean(false);
  }

  /** The table that {@code t} names. */
  static TableName table(JsonNode arguments) {
    return TableName.valueOf(text(arguments, "t"));
  }

  /** The operator that {@code cmp} names. */
  static CompareOperator compareOperator(JsonNode arguments) {
    return CompareOperator.valueOf(text(arguments, "cmp"));
  }

  /** An argument that must be there. */
  static JsonNode required(JsonNode arguments, String name) {
    JsonNode argument = arguments.get(name);
    if (argument == null) {
      throw new BadOperation("no \"" + name + "\" in " + arguments);
    }
    return argument;
  }
}
