package hblite.oracle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ByteStringsTest {
  private static byte[] read(String json) throws Exception {
    return ByteStrings.read(new ObjectMapper().readTree(json));
  }

  @Test
  void everyByteComesBack() {
    byte[] all = new byte[256];
    for (int at = 0; at < all.length; at++) {
      all[at] = (byte) at;
    }
    assertArrayEquals(all, ByteStrings.read(ByteStrings.write(all)));
  }

  @Test
  void aBackslashWithoutHexDigitsIsItself() throws Exception {
    assertArrayEquals(new byte[] {'\\', 'n'}, read("\"\\\\n\""));
    assertArrayEquals(new byte[] {(byte) 0xFF}, read("\"\\\\xFF\""));
  }

  @Test
  void nullIsJavasNull() throws Exception {
    assertNull(read("null"));
    assertNull(ByteStrings.read(null));
  }

  @Test
  void aUnitIsRepeated() throws Exception {
    assertArrayEquals(
        "ababab".getBytes(StandardCharsets.US_ASCII), read("{\"repeat\":\"ab\",\"times\":3}"));
  }

  @Test
  void onlyLongStringsOfOneByteAreShortened() {
    byte[] same = new byte[201];
    Arrays.fill(same, (byte) 'a');
    assertEquals("{\"repeat\":\"a\",\"times\":201}", ByteStrings.write(same).toString());
    assertEquals(200, ByteStrings.write(Arrays.copyOf(same, 200)).asText().length());
    same[200] = 'b';
    assertEquals(201, ByteStrings.write(same).asText().length());
  }
}
