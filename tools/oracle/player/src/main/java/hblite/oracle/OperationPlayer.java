package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;

/** Plays operations against an HBase, one at a time. */
final class OperationPlayer {
  /** The clock of the server has to move between two operations. */
  private static final int CLOCK_STEP_MS = 2;

  private final Map<String, Operation> operations = new HashMap<>();

  OperationPlayer(Connection connection, Admin admin) {
    operations.putAll(new AdminOperations(admin).all());
    operations.putAll(new StoreOperations(connection, admin).all());
    operations.putAll(new DataOperations(connection).all());
  }

  /**
   * The answer to a line of a file, be it a result or an error.
   *
   * @throws BadOperation if the line does not follow the format
   */
  JsonNode play(JsonNode line) throws InterruptedException {
    String name = Arguments.text(line, "op");
    Operation operation = operations.get(name);
    if (operation == null) {
      throw new BadOperation("unknown operation " + name);
    }
    Thread.sleep(CLOCK_STEP_MS);
    try {
      return operation.play(line);
    } catch (BadOperation | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return Errors.answer(e);
    }
  }
}
