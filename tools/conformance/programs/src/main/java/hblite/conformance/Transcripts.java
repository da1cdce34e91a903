package hblite.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares what HBase's shell printed on a real HBase with what it printed on hblite, prompt by
 * prompt, after masking what differs from run to run.
 */
public final class Transcripts {
  private static final Pattern PROMPT = Pattern.compile("(?m)^hbase:(\\d{3}):0> ");
  private static final Pattern SETTING = Pattern.compile("'?([A-Za-z_.]+)'? => '([^']*)'");
  private static final Pattern FAMILY = Pattern.compile("(?m)^\\{NAME => '.*\\}$");
  private static final int SHOWN_MAX = 1500;

  /** What is masked, in this order. */
  private static final Map<Pattern, String> MASKS = masks();

  private Transcripts() {}

  /**
   * The exit status is 0 if all agree, except those in the file of differences.
   *
   * @param arguments the file of differences, then pairs of a recorded and a printed transcript
   */
  public static void main(String[] arguments) throws IOException {
    Set<String> meant = new HashSet<>();
    for (String line : Files.readAllLines(Path.of(arguments[0]))) {
      if (!line.isBlank() && !line.startsWith("#")) {
        String[] words = line.split("\\s+", 3);
        meant.add(words[0] + " " + words[1]);
      }
    }
    int compared = 0;
    List<String> complaints = new ArrayList<>();
    for (int index = 1; index + 1 < arguments.length; index += 2) {
      Path recorded = Path.of(arguments[index]);
      String script = recorded.getFileName().toString().replace(".out", "");
      Map<String, String> expected = exchanges(Files.readString(recorded));
      Deque<String> actual =
          new ArrayDeque<>(exchanges(Files.readString(Path.of(arguments[index + 1]))).values());
      compared += expected.size();
      skipTo(actual, expected.values());
      for (var exchange : expected.entrySet()) {
        String key = script + " " + exchange.getKey();
        String got = actual.isEmpty() ? "(the shell did not come so far)" : actual.removeFirst();
        boolean agrees = exchange.getValue().equals(got);
        if (agrees == meant.contains(key)) {
          complaints.add(
              agrees
                  ? key + " does not differ"
                  : "%s%n--- HBase%n%s%n--- hblite%n%s"
                      .formatted(key, cut(exchange.getValue()), cut(got)));
        }
      }
    }
    complaints.forEach(System.out::println);
    System.out.printf("shell     %d prompts, %d differ%n", compared, complaints.size());
    System.exit(complaints.isEmpty() ? 0 : 1);
  }

  /** A shell that ran several scripts has printed earlier ones first. */
  private static void skipTo(Deque<String> actual, Collection<String> expected) {
    String first = expected.iterator().next().lines().findFirst().orElse("");
    while (!actual.isEmpty() && !actual.peekFirst().startsWith(first)) {
      actual.removeFirst();
    }
  }

  private static String cut(String text) {
    return text.length() > SHOWN_MAX ? text.substring(0, SHOWN_MAX) + " ..." : text;
  }

  /** Masked commands with their answers, by the number of the prompt. */
  private static Map<String, String> exchanges(String transcript) {
    // After calls on a table object the shell leaves out a line end.
    String text = transcript.replaceAll("(Took [0-9.]+ seconds)([^\\n])", "$1\n$2");
    Map<String, String> exchanges = new LinkedHashMap<>();
    Matcher prompt = PROMPT.matcher(text);
    int from = -1;
    String number = null;
    while (prompt.find()) {
      put(exchanges, number, text, from, prompt.start());
      number = prompt.group(1);
      from = prompt.end();
    }
    put(exchanges, number, text, from, text.length());
    return exchanges;
  }

  private static void put(
      Map<String, String> exchanges, String number, String text, int from, int to) {
    if (number != null && !text.substring(from, to).isBlank()) {
      exchanges.put(number, mask(text.substring(from, to)));
    }
  }

  private static Map<Pattern, String> masks() {
    Map<Pattern, String> masks = new LinkedHashMap<>();
    String[][] all = {
      {"(?m)^(?:\\tat |\\t\\.\\.\\. |Caused by: ).*\\n?", ""},
      {"'(\\d+) B \\([^)]*\\)'", "'$1'"},
      {"Took [0-9.]+ seconds", "Took N seconds"},
      {"timestamp=20\\d\\d-[0-9T:.-]+", "timestamp=NOW"},
      {"\\(20\\d\\d-\\d\\d-\\d\\d [0-9:]+ \\+0000\\)", "(NOW)"},
      {"[0-9a-f]{32}", "ENCODED"},
      {"\\b1[67]\\d{11}\\b", "MILLIS"},
      {"(?:localhost|127\\.0\\.0\\.1)(?:/[0-9.]+)?([:,])\\d+", "localhost$1PORT"},
      {":0x[0-9a-f]+>", ">"},
      {"(?m)^\\d+\\.\\d+\\.\\d+[\\w-]*, .*$", "VERSION"},
      {"(?m)\\|[ 0-9]+\\|[ 0-9]+\\|[ 0-9.]+\\|$", "| N | N | N |"},
      {"(column=info:(?:seqnumDuringOpen|serverstartcode)(?:_\\d{4})?, .*value=)\\\\x.*", "$1BYTES"},
      {"--+", "-"},
      {"  +", " "},
      {"(?m)^ .*?(numberOfOnlineRegions=\\d+, ).*?(numberOfStores=\\d+),.*$", " $1$2"},
      {"(?m)^ (numberOfStores=\\d+, numberOfStorefiles=\\d+),.*$", " $1"},
      {"Aggregate load: \\d+", "Aggregate load: N"},
      {"pid=\\d+", "pid=N"},
      {"(hbase:namespace,,)(MILLIS|1)\\b", "$1ID"},
      {"(?m)^=> #<Java::JavaUtil::.*>\\n?", ""},
    };
    for (String[] mask : all) {
      masks.put(Pattern.compile(mask[0]), mask[1]);
    }
    return masks;
  }

  private static String mask(String text) {
    // The order of a family's settings depends on the release.
    String masked = FAMILY.matcher(text).replaceAll(found -> settings(found.group()));
    for (var mask : MASKS.entrySet()) {
      masked = mask.getKey().matcher(masked).replaceAll(mask.getValue());
    }
    return masked.stripTrailing();
  }

  private static String settings(String family) {
    TreeSet<String> settings = new TreeSet<>();
    Map<String, String> seen = new HashMap<>();
    Matcher setting = SETTING.matcher(family.replaceAll("'(\\d+) B \\([^)]*\\)'", "'$1'"));
    while (setting.find()) {
      seen.put(setting.group(1), setting.group(2));
    }
    seen.forEach((key, value) -> settings.add(key + "=" + value));
    return Matcher.quoteReplacement(settings.toString());
  }
}
