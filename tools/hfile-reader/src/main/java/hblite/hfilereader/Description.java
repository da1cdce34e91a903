package hblite.hfilereader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** A description that hblite writes files from, and the cells in it. */
record Description(Path file, List<ExpectedCell> cells) {

  /** Reads one of tests/golden/hfile. */
  static Description read(Path file) throws IOException {
    JsonNode json = new ObjectMapper().readTree(file.toFile());
    List<ExpectedCell> cells = new ArrayList<>();
    for (JsonNode cell : json.required("cells")) {
      cells.add(
          new ExpectedCell(
              bytes(cell, "row"),
              bytes(cell, "family"),
              bytes(cell, "qualifier"),
              cell.required("ts").longValue(),
              (byte) cell.required("type").intValue(),
              bytes(cell, "value"),
              bytes(cell, "tags"),
              cell.required("mvcc").longValue()));
    }
    return new Description(file, cells);
  }

  private static byte[] bytes(JsonNode cell, String name) {
    return HexFormat.of().parseHex(cell.required(name).textValue());
  }

  /** Many rows, and values larger than any buffer of a codec; the same on every run. */
  static Description large(Path folder) throws IOException {
    Random random = new Random(7);
    StringBuilder cells = new StringBuilder();
    for (int row = 0; row < 3000; row++) {
      for (int column = 0; column < 1 + row % 3; column++) {
        int length = row % 1500 == 1499 ? 300_000 : random.nextInt(60);
        byte[] value = new byte[length];
        random.nextBytes(value);
        // Half of each value compresses well.
        Arrays.fill(value, length / 2, length, (byte) 'x');
        cells.append(cells.length() == 0 ? "" : ",\n");
        cells.append(
            String.format(
                "{\"row\": \"%s\", \"family\": \"6366\", \"qualifier\": \"%s\", \"ts\": %d,"
                    + " \"type\": 4, \"value\": \"%s\", \"tags\": \"\", \"mvcc\": %d}",
                hex(String.format("row%06d", row).getBytes()),
                hex(("q" + column).getBytes()),
                1_700_000_000_000L + random.nextInt(1_000_000),
                hex(value),
                random.nextInt(1 << 20)));
      }
    }
    Path file = folder.resolve("large.json");
    Files.writeString(file, "{\"settings\": {\"max_seq_id\": 5}, \"cells\": [" + cells + "]}");
    return read(file);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  /** The cells that a file with these settings must hold. */
  List<ExpectedCell> cellsWith(Settings settings) {
    boolean keepsMvcc = settings.mvcc() && !settings.bulkLoad();
    return cells.stream().map(cell -> cell.keeping(settings.hasTags(), keepsMvcc)).toList();
  }
}
