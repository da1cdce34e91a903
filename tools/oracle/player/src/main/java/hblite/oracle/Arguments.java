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

  /** The bytes at a place of a list that must have it; null when null stands there. */
  static byte[] bytes(JsonNode list, int at) {
    return ByteStrings.read(item(list, at));
  }

  /** The byte strings of a list that must be there. */
  static byte[][] byteLists(JsonNode arguments, String name) {
    JsonNode list = required(arguments, name);
    byte[][] all = new byte[list.size()][];
    for (int at = 0; at < all.length; at++) {
      all[at] = bytes(list, at);
    }
    return all;
  }

  /** A number that must be there. */
  static int integer(JsonNode arguments, String name) {
    return required(arguments, name).asInt();
  }

  /** A number that must be there. */
  static long number(JsonNode arguments, String name) {
    return required(arguments, name).asLong();
  }

  /** The number at a place of a list that must have it. */
  static long number(JsonNode list, int at) {
    return item(list, at).asLong();
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

  /** Whether true stands at a place of a list that must have it. */
  static boolean isSet(JsonNode list, int at) {
    return item(list, at).asBoolean();
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

  /** The value at a place of a list that must have it. */
  static JsonNode item(JsonNode list, int at) {
    JsonNode item = list.get(at);
    if (item == null) {
      throw new BadOperation("no item " + at + " in " + list);
    }
    return item;
  }
}
