package hblite.oracle;

import java.util.List;
import java.util.regex.Pattern;

/** Placeholders for what differs from run to run in messages. */
final class Masks {
  private record Mask(Pattern pattern, String placeholder) {}

  // In this order: a region's name holds a time and a hash, a server's name a time.
  private static final List<Mask> ALL =
      List.of(
          new Mask(Pattern.compile(",\\d{13}\\.[0-9a-f]{32}\\."), ",<id>.<hash>."),
          new Mask(Pattern.compile("\\b[0-9a-f]{32}\\b"), "<hash>"),
          new Mask(Pattern.compile("[\\w.-]+,\\d+,\\d{13}\\b"), "<server>"),
          new Mask(Pattern.compile("(\\blocalhost|[\\w.-]+/[\\d.]+):\\d+\\b"), "<server>"),
          new Mask(Pattern.compile("\\bpid=\\d+"), "pid=<n>"),
          new Mask(Pattern.compile("\\b[1-3]\\d{12}\\b"), "<now>"));

  private Masks() {}

  /** The message with its placeholders. */
  static String mask(String message) {
    String masked = message;
    for (Mask mask : ALL) {
      masked = mask.pattern().matcher(masked).replaceAll(mask.placeholder());
    }
    return masked;
  }
}
