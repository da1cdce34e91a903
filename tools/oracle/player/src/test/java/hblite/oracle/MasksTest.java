package hblite.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class MasksTest {
  private static final String HASH = "0123456789abcdef0123456789abcdef";

  @Test
  void theNameOfARegion() {
    assertEquals(
        "region t,row,<id>.<hash>. in",
        Masks.mask("region t,row,1700000000000." + HASH + ". in"));
    assertEquals("'<hash>', '<hash>'", Masks.mask("'" + HASH + "', '" + HASH + "'"));
  }

  @Test
  void theNameOfAServer() {
    assertEquals(
        "not online on <server>",
        Masks.mask("not online on region-1.example.org,16020,1700000000000"));
    assertEquals("call to <server> failed", Masks.mask("call to h1/10.0.0.7:16020 failed"));
  }

  @Test
  void timesAndProcedures() {
    assertEquals("at <now> pid=<n>, done", Masks.mask("at 1700000000000 pid=17, done"));
  }

  @Test
  void whatAFileSaysItselfStays() {
    String message = "ts=4000000000001 in 'ns:1', {VERSIONS => '3'}, Row length 32768 is > 32767";
    assertEquals(message, Masks.mask(message));
  }
}
