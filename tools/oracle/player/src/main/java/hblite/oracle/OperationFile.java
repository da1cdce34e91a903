package hblite.oracle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** A file of recorded operations: one JSON object on each line, the first of them the title. */
final class OperationFile {
  /** Where a line keeps the recorded answer. */
  static final String ANSWER = "expect";

  private static final ObjectMapper JSON = new ObjectMapper();

  private OperationFile() {}

  /**
   * All lines of a file.
   *
   * @throws IOException if it cannot be read, or a line is not a JSON object: names file and line
   */
  static List<ObjectNode> read(Path file) throws IOException {
    List<ObjectNode> lines = new ArrayList<>();
    for (String text : Files.readAllLines(file)) {
      String place = file + ":" + (lines.size() + 1);
      try {
        if (!(JSON.readTree(text) instanceof ObjectNode line)) {
          throw new IOException(place + ": no JSON object");
        }
        lines.add(line);
      } catch (JsonProcessingException e) {
        throw new IOException(place + ": " + e.getOriginalMessage(), e);
      }
    }
    return lines;
  }

  /** Whether a line is an operation, and not a title. */
  static boolean isOperation(ObjectNode line) {
    return line.has("op");
  }

  /** Writes a file in one step: readers see the old lines or the new ones. */
  static void write(Path file, List<ObjectNode> lines) throws IOException {
    StringBuilder text = new StringBuilder();
    for (ObjectNode line : lines) {
      text.append(JSON.writeValueAsString(line)).append('\n');
    }
    Path unfinished = file.resolveSibling(file.getFileName() + ".unfinished");
    Files.writeString(unfinished, text);
    Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
  }

  /** A value as it comes back from a file, where numbers have no Java types. */
  static JsonNode asRead(JsonNode value) throws IOException {
    return JSON.readTree(JSON.writeValueAsString(value));
  }
}
