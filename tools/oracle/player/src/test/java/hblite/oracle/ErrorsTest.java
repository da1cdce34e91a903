package hblite.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.Test;

class ErrorsTest {
  private static final String TRACE = "\n\tat org.example.Server.call(Server.java:1)\n";

  private static void assertAnswer(String expected, Throwable thrown) {
    assertEquals(expected.replace('\'', '"'), Errors.answer(thrown).toString());
  }

  @Test
  void ofTheClient() {
    assertAnswer(
        "{'error':'IllegalArgumentException','message':'Row length is 0','where':'client'}",
        new IllegalArgumentException("Row length is 0"));
    assertAnswer(
        "{'error':'IllegalStateException','message':'','where':'client'}",
        new ExecutionException(new IllegalStateException()));
  }

  @Test
  void ofTheServer() {
    String name = DoNotRetryIOException.class.getName();
    assertAnswer(
        "{'error':'DoNotRetryIOException','message':'no','where':'server','retry':false}",
        new DoNotRetryIOException(name + ": no" + TRACE));
    assertAnswer(
        "{'error':'IOException','message':'no','where':'server','retry':true}",
        new IOException("java.io.IOException: no" + TRACE));
  }

  @Test
  void ofAClassThatOnlyTheServerHas() {
    String name = "org.example.ConstraintException";
    assertAnswer(
        "{'error':'ConstraintException','message':'no','where':'server','retry':false}",
        new DoNotRetryIOException(
            "Unable to load exception received from server:" + name,
            new RemoteException(name, name + ": no" + TRACE)));
  }

  @Test
  void afterManyTries() {
    assertAnswer(
        "{'error':'RetriesExhaustedException','message':'','where':'server','cause':"
            + "{'error':'IOException','message':'no','where':'server','retry':true}}",
        new RetriesExhaustedException("6 tries", new IOException("no" + TRACE)));
  }

  @Test
  void ofAServerThatBroke() {
    assertAnswer(
        "{'error':'IOException','message':'','where':'server',"
            + "'internal':'NullPointerException','retry':true}",
        new IOException("java.io.IOException" + TRACE + "java.lang.NullPointerException"));
  }
}
