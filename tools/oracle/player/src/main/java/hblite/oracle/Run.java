package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;

/** Plays files one after the other, records or compares, and counts. */
final class Run {
  private final EmptyStore store;
  private final OperationPlayer player;
  private final boolean records;
  private final PrintStream report;
  private int files;
  private int passed;
  private int failed;

  Run(Connection connection, Admin admin, boolean records, PrintStream report) {
    this.store = new EmptyStore(admin);
    this.player = new OperationPlayer(connection, admin);
    this.records = records;
    this.report = report;
  }

  /**
   * Plays one file on an empty store.
   *
   * @throws IOException if the file cannot be read or written, a line of it is not an operation, or
   *     the store cannot be emptied
   */
  void play(Path file) throws IOException, InterruptedException {
    List<ObjectNode> lines = OperationFile.read(file);
    store.make();
    int passedBefore = passed;
    int failedBefore = failed;
    for (int at = 0; at < lines.size(); at++) {
      ObjectNode line = lines.get(at);
      if (!OperationFile.isOperation(line)) {
        continue;
      }
      String place = file + ":" + (at + 1);
      JsonNode answer = answer(line, place);
      if (records) {
        line.set(OperationFile.ANSWER, answer);
        passed++;
      } else if (Comparison.agree(line.path(OperationFile.ANSWER), answer)) {
        passed++;
      } else {
        if (failed == failedBefore) {
          tell(place, line, answer);
        }
        failed++;
      }
    }
    if (records) {
      OperationFile.write(file, lines);
    }
    store.make();
    files++;
    report.println(file + ": " + counts(passed - passedBefore, failed - failedBefore));
  }

  /** The last line of a report. */
  String summary() {
    return files + " files, " + counts(passed, failed);
  }

  private String counts(int passed, int failed) {
    String done = records ? "recorded" : "passed";
    return String.format("%d ops, %d %s, %d failed", passed + failed, passed, done, failed);
  }

  boolean hasFailed() {
    return failed > 0;
  }

  private JsonNode answer(ObjectNode line, String place)
      throws IOException, InterruptedException {
    try {
      return OperationFile.asRead(player.play(line));
    } catch (BadOperation e) {
      throw new IOException(place + ": " + e.getMessage(), e);
    }
  }

  private void tell(String place, ObjectNode line, JsonNode answer) {
    ObjectNode operation = line.deepCopy();
    JsonNode recorded = operation.remove(OperationFile.ANSWER);
    report.println(place + ": " + operation);
    report.println("  recorded " + recorded);
    report.println("  answered " + answer);
  }
}
