package hblite.throughput;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Connection;

/**
 * An operation that threads repeat.
 *
 * @param name what it does
 * @param unit what is counted
 * @param threads the number of threads, which share one connection
 * @param worker makes what one thread does
 */
record Workload(String name, String unit, int threads, Worker worker) {
  /** Creates the operation of a thread. */
  interface Worker {
    /** The operation of the thread with this number. */
    Operation open(Connection connection, int thread) throws IOException;
  }

  /** One step. */
  interface Operation {
    /** Runs it, and returns the number of units. */
    long run() throws IOException;
  }
}
