package hblite.throughput;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Runs the same work on a standalone HBase and on hblite, in turn, and prints how much work each of
 * them did per second: the median of several rounds after a warm-up round.
 */
@Command(name = "throughput", sortOptions = false)
public final class Main implements Callable<Integer> {
  private static final int STARTS = 9;
  private static final int[] THREADS = {1, 4};
  private static final double WARM_UP = 2;

  private enum Part {
    START,
    TABLES,
    PROGRAM,
    EVALUATION
  }

  @Option(names = "--hblite", required = true, description = "the command")
  private Path hblite;

  @Option(names = "--hbase", required = true, description = "class path of local-hbase")
  private String hbaseClassPath;

  @Option(names = "--work", required = true, description = "an empty directory")
  private Path work;

  @Option(names = "--memory", description = "hblite without files")
  private boolean isInMemory;

  @Option(names = "--rounds", defaultValue = "3", description = "that count")
  private int rounds;

  @Option(names = "--seconds", defaultValue = "2", description = "of a workload in a round")
  private double seconds;

  @Option(names = "--rows", defaultValue = "20000", description = "of the table that is read")
  private int rows;

  @Option(names = "--only", defaultValue = "", description = "workloads whose name has this text")
  private String only;

  @Parameters(description = "start, tables, program, evaluation; all if none is said")
  private List<Part> parts = List.of(Part.values());

  /** Runs until the tables are printed. The status is 1 if something failed. */
  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
    System.exit(line.execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Report.load();
    try (Cluster hbase = Cluster.hbase(hbaseClassPath, work.resolve("hbase"));
        Cluster mine = startHblite("hblite");
        Connection toHBase = ConnectionFactory.createConnection(hbase.configuration());
        Connection toMine = ConnectionFactory.createConnection(mine.configuration())) {
      if (parts.contains(Part.START)) {
        start(hbase, mine);
      }
      if (parts.contains(Part.TABLES)) {
        tables(toHBase, toMine);
      }
      if (parts.contains(Part.PROGRAM)) {
        program(hbase, toHBase, mine, toMine);
      }
      if (parts.contains(Part.EVALUATION)) {
        evaluation(hbase, mine);
      }
    }
    Report.load();
    return 0;
  }

  private Cluster startHblite(String directory) throws Exception {
    Path files = isInMemory ? null : work.resolve(directory);
    return Cluster.hblite(hblite, files, work.resolve("hblite.log"));
  }

  /** The state before any work. */
  private void start(Cluster hbase, Cluster mine) throws Exception {
    double[] memory = {hbase.residentMiB(), mine.residentMiB()};
    List<Double> starts = new ArrayList<>();
    for (int index = 0; index < STARTS; index++) {
      try (Cluster another = startHblite("start" + index)) {
        starts.add(another.readyMs);
      }
    }
    double[] firstAnswers = {firstAnswerMs(hbase), firstAnswerMs(mine)};
    Report.head("", "HBase", "hblite", "ratio");
    compareTimes("ready, ms from exec", hbase.readyMs, Report.median(starts));
    compareTimes("first answer to a new connection, ms", firstAnswers[0], firstAnswers[1]);
    compareTimes("resident memory, idle, MiB", memory[0], memory[1]);
  }

  private static double firstAnswerMs(Cluster cluster) throws Exception {
    List<Double> times = new ArrayList<>();
    for (int index = 0; index < STARTS; index++) {
      long begin = System.nanoTime();
      try (Connection connection = ConnectionFactory.createConnection(cluster.configuration());
          Admin admin = connection.getAdmin()) {
        admin.listTableNames();
        times.add((System.nanoTime() - begin) / 1e6);
      }
    }
    return Report.median(times);
  }

  private void tables(Connection toHBase, Connection toMine) throws Exception {
    TableLatency hbase = new TableLatency();
    TableLatency mine = new TableLatency();
    for (int round = 0; round <= rounds; round++) {
      hbase.round(toHBase);
      mine.round(toMine);
      if (round == 0) {
        hbase.forget();
        mine.forget();
      }
    }
    Report.head("median, ms", "HBase", "hblite", "ratio");
    compareTimes("createTable", Report.median(hbase.creates), Report.median(mine.creates));
    compareTimes("disableTable", Report.median(hbase.disables), Report.median(mine.disables));
    compareTimes("deleteTable", Report.median(hbase.deletes), Report.median(mine.deletes));
  }

  private static void compareTimes(String what, double hbase, double mine) {
    Report.row(what, hbase, mine, hbase / mine);
  }

  private void program(Cluster hbase, Connection toHBase, Cluster mine, Connection toMine)
      throws Exception {
    Workloads workloads = new Workloads(rows, THREADS);
    workloads.prepare(toHBase);
    workloads.prepare(toMine);
    Report.head(
        "own program", "threads", "a second", "HBase", "hblite", "ratio",
        "CPU of the client, µs: HBase", "hblite", "CPU of the server, µs: HBase", "hblite");
    for (Workload workload : workloads.all()) {
      if (!workload.name().contains(only)) {
        continue;
      }
      List<Meter.Reading> theirs = new ArrayList<>();
      List<Meter.Reading> ours = new ArrayList<>();
      for (int round = 0; round <= rounds; round++) {
        // Both virtual machines must first compile the frequently used code.
        double time = round == 0 ? WARM_UP * seconds : seconds;
        Meter.Reading first = Meter.measure(hbase, toHBase, workload, time);
        Meter.Reading second = Meter.measure(mine, toMine, workload, time);
        if (round > 0) {
          theirs.add(first);
          ours.add(second);
        }
      }
      double rate = Report.median(theirs, Meter.Reading::perSecond);
      double ourRate = Report.median(ours, Meter.Reading::perSecond);
      Report.row(
          workload.name(), workload.threads(), workload.unit(), rate, ourRate, ourRate / rate,
          Report.median(theirs, Meter.Reading::clientMicros),
          Report.median(ours, Meter.Reading::clientMicros),
          Report.median(theirs, Meter.Reading::serverMicros),
          Report.median(ours, Meter.Reading::serverMicros));
    }
  }

  private void evaluation(Cluster hbase, Cluster mine) throws Exception {
    Report.head("PerformanceEvaluation --nomapred", "clients", "HBase, rows/s", "hblite", "ratio");
    for (Evaluation evaluation : Evaluation.all(rows)) {
      if (!evaluation.command().contains(only)) {
        continue;
      }
      List<Double> theirs = new ArrayList<>();
      List<Double> ours = new ArrayList<>();
      for (int round = 0; round <= rounds; round++) {
        double first = evaluation.run(hbase);
        double second = evaluation.run(mine);
        if (round > 0) {
          theirs.add(first);
          ours.add(second);
        }
      }
      double rate = Report.median(theirs);
      double ourRate = Report.median(ours);
      Report.row(evaluation.text(), evaluation.threads(), rate, ourRate, ourRate / rate);
    }
  }
}
