package hblite.throughput;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.client.Connection;

/** Counts how often a workload runs in a given time, and what it costs the client and the server. */
final class Meter {
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private Meter() {}

  /**
   * The results of one round.
   *
   * @param perSecond units
   * @param clientMicros processor time of this process per unit
   * @param serverMicros processor time of the server per unit
   */
  record Reading(double perSecond, double clientMicros, double serverMicros) {}

  static Reading measure(Cluster cluster, Connection connection, Workload workload, double seconds)
      throws IOException, InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(workload.threads());
    try {
      List<Workload.Operation> operations = new ArrayList<>();
      for (int thread = 0; thread < workload.threads(); thread++) {
        operations.add(workload.worker().open(connection, thread));
      }
      double serverBefore = cluster.cpuSeconds();
      long clientBefore = SYSTEM.getProcessCpuTime();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      List<Future<Long>> counts = new ArrayList<>();
      for (Workload.Operation operation : operations) {
        counts.add(threads.submit(() -> repeat(operation, end)));
      }
      long units = 0;
      for (Future<Long> count : counts) {
        units += count.get();
      }
      double took = (System.nanoTime() - begin) / 1e9;
      double client = (SYSTEM.getProcessCpuTime() - clientBefore) / 1e3;
      double server = (cluster.cpuSeconds() - serverBefore) * 1e6;
      return new Reading(units / took, client / units, server / units);
    } catch (ExecutionException e) {
      throw new IOException(workload.name() + " failed on " + cluster.name, e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private static long repeat(Workload.Operation operation, long end) throws IOException {
    long units = 0;
    do {
      units += operation.run();
    } while (System.nanoTime() < end);
    return units;
  }
}
