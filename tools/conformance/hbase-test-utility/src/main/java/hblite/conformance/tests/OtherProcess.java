package hblite.conformance.tests;

import org.junit.AssumptionViolatedException;

/** What a test wants from the inside of a server that runs in another process. */
public final class OtherProcess {
  private static volatile boolean wasWanted;

  private OtherProcess() {}

  /** Whether something was wanted since the last time that this was asked. */
  static boolean wasWanted() {
    boolean before = wasWanted;
    wasWanted = false;
    return before;
  }

  /**
   * Says that the test cannot run here; JUnit counts it as skipped.
   *
   * @param what the part of the server that it wants
   */
  public static AssumptionViolatedException has(String what) {
    wasWanted = true;
    return new AssumptionViolatedException(what + " is in the server's process");
  }
}
