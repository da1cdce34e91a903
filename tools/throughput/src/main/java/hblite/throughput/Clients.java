package hblite.throughput;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs the same work on one hblite with HBase's Java client and with hblite's native client, in
 * turn, and prints how much each of them did per second and what it cost: the median of several
 * rounds after a warm-up round.
 */
@Command(name = "clients", sortOptions = false)
public final class Clients implements Callable<Integer> {
  private static final int[] CALLERS = {1, 8, 64};
  private static final double WARM_UP = 2;
  private static final List<String> COMPARED =
      List.of(
          "put", "get", "put of a list of 100", "get of a list of 100", "scan of 100 rows",
          "scan of the table");

  @Option(names = "--hblite", required = true, description = "the command")
  private Path hblite;

  @Option(names = "--client", required = true, description = "the example of the native client")
  private Path client;

  @Option(names = "--work", required = true, description = "an empty directory")
  private Path work;

  @Option(names = "--rounds", defaultValue = "3", description = "that count")
  private int rounds;

  @Option(names = "--seconds", defaultValue = "2", description = "of a workload in a round")
  private int seconds;

  @Option(names = "--rows", defaultValue = "20000", description = "of the table that is read")
  private int rows;

  @Option(names = "--only", defaultValue = "", description = "workloads whose name has this text")
  private String only;

  /** Runs until the table is printed. The status is 1 if something failed. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Clients()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Report.load();
    try (Cluster server = Cluster.hblite(hblite, null, work.resolve("hblite.log"));
        Connection connection = ConnectionFactory.createConnection(server.configuration())) {
      Workloads workloads = new Workloads(rows, CALLERS);
      workloads.prepare(connection);
      Report.head(
          "operation", "callers", "a second", "Java", "native", "ratio",
          "CPU of the client, µs: Java", "native", "ratio",
          "CPU of the server, µs: Java", "native");
      for (Workload workload : workloads.all()) {
        if (COMPARED.contains(workload.name()) && workload.name().contains(only)) {
          compare(server, connection, workload);
        }
      }
    }
    Report.load();
    return 0;
  }

  private void compare(Cluster server, Connection connection, Workload workload) throws Exception {
    List<Meter.Reading> java = new ArrayList<>();
    List<Meter.Reading> mine = new ArrayList<>();
    for (int round = 0; round <= rounds; round++) {
      double time = round == 0 ? WARM_UP * seconds : seconds;
      Meter.Reading first = Meter.measure(server, connection, workload, time);
      Meter.Reading second = measureNative(server, workload);
      if (round > 0) {
        java.add(first);
        mine.add(second);
      }
    }
    double rate = Report.median(java, Meter.Reading::perSecond);
    double myRate = Report.median(mine, Meter.Reading::perSecond);
    double cost = Report.median(java, Meter.Reading::clientMicros);
    double myCost = Report.median(mine, Meter.Reading::clientMicros);
    Report.row(
        workload.name(), workload.threads(), workload.unit(), rate, myRate, myRate / rate, cost,
        myCost, cost / myCost, Report.median(java, Meter.Reading::serverMicros),
        Report.median(mine, Meter.Reading::serverMicros));
  }

  /** Like {@link Meter#measure}; the server's part includes the start of the client. */
  private Meter.Reading measureNative(Cluster server, Workload workload)
      throws IOException, InterruptedException {
    int port = server.configuration().getInt(HConstants.ZOOKEEPER_CLIENT_PORT, 0);
    double before = server.cpuSeconds();
    Process process =
        new ProcessBuilder(
                client.toString(), "hbase://localhost:" + port, workload.name(),
                Integer.toString(workload.threads()), Integer.toString(seconds),
                Integer.toString(rows))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
    if (process.waitFor() != 0) {
      throw new IOException(workload.name() + " failed with the native client");
    }
    String[] numbers = output.split(" ");
    double perSecond = Double.parseDouble(numbers[0]);
    // The client warms up for 0.3 seconds, at the same rate.
    double units = perSecond * (seconds + 0.3);
    double cpu = (server.cpuSeconds() - before) * 1e6;
    return new Meter.Reading(perSecond, Double.parseDouble(numbers[1]), cpu / units);
  }
}
