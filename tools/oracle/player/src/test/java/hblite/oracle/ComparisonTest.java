package hblite.oracle;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static boolean agree(String recorded, String answer) throws Exception {
    return Comparison.agree(json(recorded), json(answer));
  }

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  @Test
  void cellsAreComparedInOrder() throws Exception {
    String two = "{'cells':[['f','a',1,'x'],['f','b','now','y']]}";
    assertTrue(agree(two, two));
    assertFalse(agree(two, "{'cells':[['f','b','now','y'],['f','a',1,'x']]}"));
    assertFalse(agree(two, "{'cells':[['f','a',1,'x']]}"));
    assertFalse(agree("{'cells':[['f','a',1,'x']]}", two));
  }

  @Test
  void anAnswerMayNotHaveMore() throws Exception {
    assertFalse(agree("{'success':true}", "{'success':true,'cells':[]}"));
    assertFalse(agree("{'success':true,'cells':[]}", "{'success':true}"));
  }

  @Test
  void errorsAgreeInAllButThePlace() throws Exception {
    String error = "{'error':'A','message':'m','where':'server','retry':false}";
    assertTrue(agree(error, error.replace("server", "client")));
    assertFalse(agree(error, error.replace("'A'", "'B'")));
    assertFalse(agree(error, error.replace("'m'", "'n'")));
    assertFalse(agree(error, error.replace("false", "true")));
    assertFalse(agree(error, "{'ok':true}"));
    assertFalse(agree("{'ok':true}", error));
  }

  @Test
  void causesAreCompared() throws Exception {
    String error = "{'error':'A','message':'','cause':{'error':'B','message':'m'}}";
    assertTrue(agree(error, error));
    assertFalse(agree(error, error.replace("'m'", "'n'")));
    assertFalse(agree(error, "{'error':'A','message':''}"));
    assertFalse(agree("{'error':'A','message':''}", error));
  }

  @Test
  void ofWhatBrokeInsideOnlyTheFailureCounts() throws Exception {
    String broken = "{'error':'A','message':'','internal':'NullPointerException'}";
    assertTrue(agree(broken, "{'error':'B','message':'m'}"));
    assertFalse(agree(broken, "{'ok':true}"));
  }

  @Test
  void messagesOfRegexEnginesAreTheirOwn() throws Exception {
    String error = "{'error':'PatternSyntaxException','message':'m'}";
    assertTrue(agree(error, error.replace("'m'", "'n'")));
  }

  @Test
  void errorsInsideABatchToo() throws Exception {
    String results = "{'results':[{'cells':[]},{'error':'A','message':'m','where':'server'}]}";
    assertTrue(agree(results, results.replace("server", "client")));
    assertFalse(agree(results, results.replace("'m'", "'n'")));
  }
}
