package hblite.conformance;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.util.Bytes;

/** Answers as text that is the same on every server: unavoidable differences are masked. */
public final class Text {
  /** Times before 2001 were chosen by a scenario, later ones by a clock. */
  private static final long NOW_FROM_MS = 1_000_000_000_000L;

  /** The text of classes that not every release of the client has. */
  private static final Map<Class<?>, Function<Object, String>> OF_CLASSES =
      new ConcurrentHashMap<>();

  private Text() {}

  static <T> void add(Class<T> type, Function<T, String> text) {
    OF_CLASSES.put(type, value -> text.apply(type.cast(value)));
  }

  static String of(Object value) {
    if (value == null) {
      return "nothing";
    }
    if (value instanceof Result result) {
      return ofResult(result);
    }
    if (value instanceof Cell cell) {
      return ofCell(cell);
    }
    Function<Object, String> text = OF_CLASSES.get(value.getClass());
    if (text != null) {
      return text.apply(value);
    }
    if (value instanceof byte[] bytes) {
      return Bytes.toStringBinary(bytes);
    }
    if (value instanceof byte[][] many) {
      return of(Arrays.asList(many));
    }
    if (value instanceof boolean[] many) {
      return Arrays.toString(many);
    }
    if (value instanceof Object[] many) {
      return of(Arrays.asList(many));
    }
    if (value instanceof Optional<?> some) {
      return of(some.orElse(null));
    }
    if (value instanceof Throwable error) {
      return ofError(error);
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, String> sorted = new TreeMap<>();
      map.forEach((key, each) -> sorted.put(of(key), of(each)));
      return sorted.toString();
    }
    if (value instanceof Collection<?> many) {
      return many.stream().map(Text::of).collect(Collectors.joining(", ", "[", "]"));
    }
    return mask(value.toString());
  }

  private static String ofResult(Result result) {
    if (result.getExists() != null) {
      return "exists " + result.getExists();
    }
    if (result.isEmpty()) {
      return "empty";
    }
    String cells =
        Arrays.stream(result.rawCells()).map(Text::ofCell).collect(Collectors.joining(" "));
    return cells + (result.mayHaveMoreCellsInRow() ? " ..." : "");
  }

  // Releases before 2.0 have no Cell.getType.
  @SuppressWarnings("deprecation")
  private static String ofCell(Cell cell) {
    long time = cell.getTimestamp();
    return Bytes.toStringBinary(CellUtil.cloneRow(cell))
        + "/"
        + Bytes.toStringBinary(CellUtil.cloneFamily(cell))
        + ":"
        + Bytes.toStringBinary(CellUtil.cloneQualifier(cell))
        + "/"
        + (time >= NOW_FROM_MS && time != Long.MAX_VALUE ? "now" : Long.toString(time))
        + "/"
        + KeyValue.Type.codeToType(cell.getTypeByte())
        + "="
        + Bytes.toStringBinary(CellUtil.cloneValue(cell));
  }

  /** Class and first line; remote messages repeat the class and add a stack trace. */
  static String ofError(Throwable error) {
    String name = error.getClass().getName();
    String message = error.getMessage() == null ? "" : error.getMessage();
    List<String> lines = message.lines().toList();
    String first = lines.isEmpty() ? "" : lines.get(0);
    if (first.startsWith(name + ": ")) {
      first = first.substring(name.length() + 2);
    }
    String simple = name.replaceFirst("^org\\.apache\\.hadoop\\.hbase\\.", "");
    return "error " + simple + ": " + mask(first);
  }

  /** Replaces the parts that differ between any two servers. */
  private static String mask(String text) {
    return text
        .replaceAll("[\\w.-]+,\\d{2,5},1\\d{12}", "<server>")
        .replaceAll("\\b[0-9a-f]{32}\\b", "<hash>")
        .replaceAll("\\b1[6-9]\\d{11}\\b", "<now>")
        .replaceAll("(?:localhost|[\\w.-]*\\d+\\.\\d+\\.\\d+\\.\\d+)(?:/[\\d.]+)?:\\d+", "<address>")
        // A real server sends a stack trace, in front of which the first line ends.
        .replaceAll(": \\d+ times?, servers with issues.*", "")
        .replaceAll("pid=\\d+", "pid=<n>")
        .replaceAll("\\s+", " ")
        .strip();
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
