package hblite.throughput;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The printed tables, as they appear in the documentation. */
final class Report {
  private Report() {}

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static <T> double median(List<T> values, ToDoubleFunction<T> part) {
    return median(values.stream().map(part::applyAsDouble).toList());
  }

  /** A line with its cells between bars; numbers have three significant digits. */
  static void row(Object... cells) {
    StringBuilder line = new StringBuilder("|");
    for (Object cell : cells) {
      line.append(' ').append(cell instanceof Double number ? short3(number) : cell).append(" |");
    }
    System.out.println(line);
  }

  static void head(String... names) {
    System.out.println();
    row((Object[]) names);
    System.out.println("|---".repeat(names.length) + "|");
  }

  private static String short3(double number) {
    String format = number < 10 ? "%.2f" : number < 100 ? "%.1f" : "%,.0f";
    return String.format(Locale.ROOT, format, number);
  }

  /** Prints the load of the machine at the time. */
  static void load() throws IOException {
    String[] loads = Files.readString(Path.of("/proc/loadavg")).split(" ");
    int processors = Runtime.getRuntime().availableProcessors();
    System.out.printf("%nload average %s, %d processors%n", loads[0], processors);
  }
}
