package hblite.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** What a server answered, question by question, as lines {@code question = answer}. */
public final class Answers {
  private static final String BETWEEN = " = ";
  private static final int CLOCK_MOVES_MS = 2;

  private final Map<String, String> answers = new LinkedHashMap<>();
  private String scenario = "";

  /** Starts a scenario: the questions that follow belong to it. */
  public void scenario(String name) {
    scenario = name;
  }

  /** Asks, and records the answer or the error as text. */
  public void ask(String question, Callable<?> answer) {
    String text;
    try {
      // Waits for the next millisecond: a delete hides what is written in its own.
      TimeUnit.MILLISECONDS.sleep(CLOCK_MOVES_MS);
      text = Text.of(answer.call());
    } catch (Exception e) {
      text = Text.ofError(cause(e));
    }
    String key = scenario + ": " + question;
    if (answers.put(key, text) != null) {
      throw new IllegalStateException("asked twice: " + key);
    }
  }

  private static Throwable cause(Throwable error) {
    boolean wraps = error instanceof ExecutionException || error instanceof CompletionException;
    return wraps && error.getCause() != null ? cause(error.getCause()) : error;
  }

  public int count() {
    return answers.size();
  }

  public void write(Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    answers.forEach((question, answer) -> lines.add(question + BETWEEN + answer));
    Files.write(file, lines);
  }

  /** The differences from a recording, except the known ones, as lines of text. */
  public List<String> differences(Path file, List<String> known) throws IOException {
    Map<String, String> expected = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      int at = line.indexOf(BETWEEN);
      expected.put(line.substring(0, at), line.substring(at + BETWEEN.length()));
    }
    List<String> differences = new ArrayList<>();
    expected.forEach(
        (question, answer) -> {
          String got = answers.get(question);
          if (known.contains(question)) {
            if (answer.equals(got)) {
              differences.add(question + "\n    does not differ any more");
            }
          } else if (!answer.equals(got)) {
            differences.add(question + "\n    HBase:  " + answer + "\n    hblite: " + got);
          }
        });
    answers.keySet().stream()
        .filter(question -> !expected.containsKey(question) && !known.contains(question))
        .forEach(question -> differences.add(question + "\n    is not recorded"));
    return differences;
  }
}
