package hblite.conformance.tests;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs one class of tests and prints a line for each test: {@code passed}, {@code failed} or
 * {@code skipped}, the test, and the reason.
 */
public final class Run extends RunListener {
  /** The outcome of a test, and the reason. */
  private record Outcome(String word, String reason) {}

  private static final int REASON_LENGTH_MAX = 300;
  private static final long LEFT_RUNNING_SECONDS_MAX = 5;
  private static final String TRACED_CONSUMER = "TracedAdvancedScanResultConsumer";
  /** A test that names them is about the server's process. */
  private static final Set<String> UTILITIES =
      Set.of("HBaseTestingUtility", "MiniHBaseCluster", "LocalHBaseCluster");

  private final TreeMap<String, Outcome> outcomes = new TreeMap<>(Comparator.naturalOrder());

  private Run() {}

  /**
   * Exits with 0 if no test failed.
   *
   * @param arguments the class, and names of its tests to run these alone
   */
  public static void main(String[] arguments) throws ClassNotFoundException {
    Run run = new Run();
    JUnitCore core = new JUnitCore();
    core.addListener(run);
    Class<?> tests = Class.forName(arguments[0]);
    List<String> wanted = new ArrayList<>(List.of(arguments).subList(1, arguments.length));
    Request request = Request.aClass(tests);
    if (!wanted.isEmpty()) {
      request =
          request.filterWith(
              new Filter() {
                @Override
                public boolean shouldRun(Description test) {
                  String name = nameOf(test);
                  // Naming a test with parameters selects all of them.
                  return !test.isTest()
                      || wanted.contains(name)
                      || wanted.contains(name.replaceAll("\\[.*", ""));
                }

                @Override
                public String describe() {
                  return wanted.toString();
                }
              });
    }
    core.run(request);
    boolean hasFailed = false;
    for (var outcome : run.outcomes.entrySet()) {
      Outcome what = outcome.getValue();
      System.out.println(what.word + " " + outcome.getKey() + " " + what.reason);
      hasFailed |= what.word.equals("failed");
    }
    System.exit(hasFailed ? 1 : 0);
  }

  private static String nameOf(Description test) {
    String name = test.getMethodName();
    // Names of test parameters are long.
    return name == null
        ? "class"
        : name.replaceAll("\\s", "_").replace("class_org.apache.hadoop.hbase.client.", "");
  }

  private void note(Description test, String word, Throwable why) {
    String reason = "";
    if (why != null) {
      String text = why.toString().replaceAll("\\s+", " ");
      reason = text.substring(0, Math.min(text.length(), REASON_LENGTH_MAX));
    }
    String name = test.getClassName().replaceAll(".*\\.hbase\\.", "") + "#" + nameOf(test);
    outcomes.merge(
        name,
        new Outcome(word, reason),
        (before, now) -> before.word.equals("passed") ? now : before);
  }

  @Override
  public void testStarted(Description test) {
    OtherProcess.wasWanted();
    // Spans that the previous test left running would be counted for this one: tests examine all
    // spans.
    ForkJoinPool.commonPool().awaitQuiescence(LEFT_RUNNING_SECONDS_MAX, TimeUnit.SECONDS);
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEFT_RUNNING_SECONDS_MAX);
    while (isConsumerTraced() && System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  /** A test may continue once its consumer has all results, before the consumer's span ends. */
  private static boolean isConsumerTraced() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Stream::of)
        .anyMatch(frame -> frame.getClassName().contains(TRACED_CONSUMER));
  }

  @Override
  public void testFinished(Description test) {
    note(test, "passed", null);
  }

  @Override
  public void testIgnored(Description test) {
    note(test, "skipped", null);
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    note(failure.getDescription(), "skipped", failure.getException());
  }

  @Override
  public void testFailure(Failure failure) {
    Throwable why = failure.getException();
    // Tests catch unknown exceptions, and fail.
    boolean isMissing =
        OtherProcess.wasWanted()
            || (why instanceof NoSuchMethodError
                && UTILITIES.stream().anyMatch(name -> why.getMessage().contains(name)));
    if (!isMissing && Boolean.getBoolean("hblite.tests.traces")) {
      why.printStackTrace();
    }
    note(failure.getDescription(), isMissing ? "skipped" : "failed", why);
  }
}
