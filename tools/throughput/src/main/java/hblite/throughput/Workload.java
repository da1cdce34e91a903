package hblite.throughput;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Connection;

/**
 * Something that threads do again and again.
 *
 * @param name what it does
 * @param unit what is counted
 * @param threads how many do it at once, over one connection
 * @param worker makes what one thread does
 */
record Workload(String name, String unit, int threads, Worker worker) {
  /** Makes the operation of a thread. */
  interface Worker {
    /** The operation of the thread with this number. */
    Operation open(Connection connection, int thread) throws IOException;
  }

  /** One step. */
  interface Operation {
    /** Does it, and gives how many units that were. */
    long run() throws IOException;
  }
}
