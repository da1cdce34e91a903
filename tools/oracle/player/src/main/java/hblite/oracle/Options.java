package hblite.oracle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/**
 * The options of the command line.
 *
 * @param records whether to write the files again, instead of comparing with them
 * @param zooKeeper hosts and port of the quorum, as in {@code localhost:2181}; null if not named
 * @param settings an hbase-site.xml to read; null if not named
 * @param files the files to play, in order
 */
record Options(boolean records, String zooKeeper, Path settings, List<Path> files) {
  static final String USAGE =
      """
      usage: oracle record|compare [--zookeeper HOSTS:PORT] [--settings HBASE-SITE.XML]
                    --yes-drop-all-tables FILE-OR-FOLDER...
        record   writes the files again, with what HBase answers
        compare  prints for each file the first answer that differs from the recorded one
      Each file starts on an empty store: ALL tables and namespaces of that HBase are dropped.""";

  /** An invalid command line. */
  static final class Wrong extends Exception {
    private static final long serialVersionUID = 1L;

    Wrong(String message) {
      super(message);
    }
  }

  /**
   * Reads the command line.
   *
   * @throws Wrong if it does not match the usage
   * @throws IOException if a folder cannot be read
   */
  static Options parse(String[] arguments) throws Wrong, IOException {
    Deque<String> rest = new ArrayDeque<>(List.of(arguments));
    String command = next(rest, "record or compare");
    if (!command.equals("record") && !command.equals("compare")) {
      throw new Wrong("unknown command " + command);
    }
    String zooKeeper = null;
    Path settings = null;
    boolean mayDrop = false;
    List<Path> files = new ArrayList<>();
    while (!rest.isEmpty()) {
      String argument = rest.pop();
      switch (argument) {
        case "--zookeeper" -> zooKeeper = next(rest, "HOSTS:PORT");
        case "--settings" -> settings = existing(next(rest, "HBASE-SITE.XML"));
        case "--yes-drop-all-tables" -> mayDrop = true;
        default -> files.addAll(filesOf(argument));
      }
    }
    if (!mayDrop) {
      throw new Wrong("it drops all tables: say --yes-drop-all-tables");
    }
    if (files.isEmpty()) {
      throw new Wrong("no files to play");
    }
    return new Options(command.equals("record"), zooKeeper, settings, files);
  }

  private static String next(Deque<String> rest, String what) throws Wrong {
    if (rest.isEmpty()) {
      throw new Wrong(what + " is missing");
    }
    return rest.pop();
  }

  private static Path existing(String argument) throws Wrong {
    Path path = Path.of(argument);
    if (argument.startsWith("--") || !Files.exists(path)) {
      throw new Wrong("no such option or file: " + argument);
    }
    return path;
  }

  private static List<Path> filesOf(String argument) throws Wrong, IOException {
    Path path = existing(argument);
    if (!Files.isDirectory(path)) {
      return List.of(path);
    }
    try (Stream<Path> inside = Files.list(path)) {
      return inside.filter(file -> file.toString().endsWith(".jsonl")).sorted().toList();
    }
  }
}
