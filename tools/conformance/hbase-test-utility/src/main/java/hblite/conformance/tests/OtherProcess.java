package hblite.conformance.tests;

import org.junit.AssumptionViolatedException;

/** Access to the inside of a server, which a test cannot have if the server is another process. */
public final class OtherProcess {
  private static volatile boolean wasWanted;

  private OtherProcess() {}

  /** Whether such access was requested since the last call of this method. */
  static boolean wasWanted() {
    boolean before = wasWanted;
    wasWanted = false;
    return before;
  }

  /**
   * Reports that the test cannot run here; JUnit counts it as skipped.
   *
   * @param what the part of the server that it needs
   */
  public static AssumptionViolatedException has(String what) {
    wasWanted = true;
    return new AssumptionViolatedException(what + " is in the server's process");
  }
}
