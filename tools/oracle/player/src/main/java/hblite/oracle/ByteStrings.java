package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Bytes as the files write them: in HBase's {@code toStringBinary} form, long ones of one repeated
 * byte as {@code {"repeat":"a","times":300}}.
 */
final class ByteStrings {
  private static final int PLAIN_BYTES_MAX = 200;

  private ByteStrings() {}

  /** The bytes of an argument; null for one that is absent or null. */
  static byte[] read(JsonNode text) {
    if (text == null || text.isNull()) {
      return null;
    }
    if (text.isObject()) {
      byte[] unit = Bytes.toBytesBinary(Arguments.text(text, "repeat"));
      byte[] all = new byte[Math.multiplyExact(unit.length, Arguments.integer(text, "times"))];
      for (int at = 0; at < all.length; at += unit.length) {
        System.arraycopy(unit, 0, all, at, unit.length);
      }
      return all;
    }
    return Bytes.toBytesBinary(text.asText());
  }

  /** The text of bytes in an answer. */
  static JsonNode write(byte[] bytes) {
    return write(bytes, 0, bytes.length);
  }

  /** The text of a part of an array in an answer. */
  static JsonNode write(byte[] bytes, int offset, int length) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    if (length > PLAIN_BYTES_MAX && isOneByte(bytes, offset, length)) {
      return json.objectNode()
          .put("repeat", Bytes.toStringBinary(bytes, offset, 1))
          .put("times", length);
    }
    return json.textNode(Bytes.toStringBinary(bytes, offset, length));
  }

  private static boolean isOneByte(byte[] bytes, int offset, int length) {
    for (int at = offset + 1; at < offset + length; at++) {
      if (bytes[at] != bytes[offset]) {
        return false;
      }
    }
    return true;
  }
}
