package hblite.throughput;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.PerformanceEvaluation;
import org.apache.hadoop.util.ToolRunner;

/**
 * A run of HBase's own PerformanceEvaluation, unchanged, with several threads.
 *
 * @param command its command
 * @param threads its number of clients
 * @param rows the number of rows per client
 * @param options its other options
 */
record Evaluation(String command, int threads, int rows, List<String> options) {
  private static final Pattern RATE = Pattern.compile("\\[ Avg TPS/QPS]\\s*(\\d+)\\s*row per second");

  /** The commands, ordered so that reads find what writes have written. */
  static List<Evaluation> all(int rows) {
    List<Evaluation> all = new ArrayList<>();
    for (int threads : new int[] {1, 4}) {
      List<String> single = List.of("--autoFlush=true");
      all.add(new Evaluation("sequentialWrite", threads, rows, List.of()));
      all.add(new Evaluation("sequentialWrite", threads, rows, single));
      all.add(new Evaluation("randomWrite", threads, rows, single));
      all.add(new Evaluation("randomRead", threads, rows, List.of()));
      all.add(new Evaluation("scan", threads, rows, List.of()));
    }
    return all;
  }

  /** The command as a user types it. */
  String text() {
    return options.isEmpty() ? command : command + " " + String.join(" ", options);
  }

  /** Runs it. Returns the rows per second that it reports. */
  double run(Cluster cluster) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--nomapred", "--rows=" + rows));
    arguments.addAll(options);
    arguments.addAll(List.of(command, String.valueOf(threads)));
    // It writes its results to its log, which goes to standard error.
    PrintStream standardError = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    int status;
    try {
      PerformanceEvaluation evaluation = new PerformanceEvaluation(cluster.configuration());
      status = ToolRunner.run(evaluation, arguments.toArray(String[]::new));
    } finally {
      System.setErr(standardError);
    }
    String text = log.toString(StandardCharsets.UTF_8);
    Matcher matcher = RATE.matcher(text);
    if (status != 0 || !matcher.find()) {
      throw new IOException(this + " failed on " + cluster.name + ":\n" + text);
    }
    return Double.parseDouble(matcher.group(1));
  }
}
