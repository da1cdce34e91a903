package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;

/** How one kind of operation is played: its arguments in, its answer out. */
@FunctionalInterface
interface Operation {
  /**
   * Plays the operation.
   *
   * @param arguments the line of the file
   * @return the answer in the shape of the recordings
   * @throws Exception what HBase or its client answered instead
   */
  JsonNode play(JsonNode arguments) throws Exception;
}
