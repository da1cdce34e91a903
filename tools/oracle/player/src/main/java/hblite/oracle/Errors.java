package hblite.oracle;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.util.ForeignExceptionUtil;
import org.apache.hadoop.ipc.RemoteException;

/** Exceptions in the shape of the recordings. */
final class Errors {
  /** The start of the server's stack trace in a message from the server. */
  private static final String REMOTE_TRACE = "\n\tat ";

  /** What the client says when the server threw a class that only servers have. */
  private static final String NOT_LOADED = "Unable to load exception received from server:";

  /** Thrown by no code on purpose: an internal error of HBase. */
  private static final Pattern INTERNAL =
      Pattern.compile(
          "java\\.lang\\.(NullPointerException|ArrayIndexOutOfBoundsException"
              + "|StringIndexOutOfBoundsException|IndexOutOfBoundsException|ClassCastException"
              + "|NegativeArraySizeException|AssertionError)");

  private Errors() {}

  /** The answer that an exception is. */
  static ObjectNode answer(Throwable thrown) {
    if (thrown instanceof ExecutionException && thrown.getCause() != null) {
      return answer(thrown.getCause());
    }
    if (thrown instanceof RetriesExhaustedWithDetailsException details
        && details.getNumExceptions() > 0) {
      return answer(details.getCause(0)).put("wrapped", simpleName(thrown.getClass().getName()));
    }
    if (thrown instanceof RetriesExhaustedException && thrown.getCause() != null) {
      ObjectNode answer = answer(thrown.getClass().getName(), "", isFromServer(thrown));
      return answer.set("cause", answer(thrown.getCause()));
    }
    return single(thrown);
  }

  private static ObjectNode single(Throwable thrown) {
    String className = thrown.getClass().getName();
    String text = Objects.requireNonNullElse(thrown.getMessage(), "");
    if (text.startsWith(NOT_LOADED) && thrown.getCause() instanceof RemoteException remote) {
      className = remote.getClassName();
      text = remote.getMessage();
    }
    boolean isFromServer = isFromServer(thrown);
    Matcher internal = INTERNAL.matcher(text);
    ObjectNode answer;
    // A plain IOException may only wrap the actual error.
    if (thrown.getClass() == IOException.class && internal.find()) {
      answer = answer(className, "", isFromServer).put("internal", internal.group(1));
    } else {
      answer = answer(className, message(className, text), isFromServer);
    }
    if (isFromServer) {
      boolean isRetried =
          thrown instanceof IOException && !(thrown instanceof DoNotRetryIOException);
      answer.put("retry", isRetried);
    }
    return answer;
  }

  private static ObjectNode answer(String className, String message, boolean isFromServer) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("error", simpleName(className))
        .put("message", message)
        .put("where", isFromServer ? "server" : "client");
  }

  private static String simpleName(String className) {
    int lastDot = className.lastIndexOf('.');
    return className.substring(Math.max(lastDot, className.lastIndexOf('$')) + 1);
  }

  /** The message without the prefix of its class and without the server's stack trace. */
  private static String message(String className, String text) {
    int trace = text.indexOf(REMOTE_TRACE);
    String message = trace < 0 ? text : text.substring(0, trace);
    String prefix = className + ": ";
    return Masks.mask(message.startsWith(prefix) ? message.substring(prefix.length()) : message);
  }

  /**
   * Whether the exception, or one that caused it, was thrown in the server: it carries the server's
   * stack trace in its message, or was made from the outcome of a procedure.
   */
  private static boolean isFromServer(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (String.valueOf(cause.getMessage()).contains(REMOTE_TRACE)
          || Arrays.stream(cause.getStackTrace()).anyMatch(Errors::isOfProcedure)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOfProcedure(StackTraceElement frame) {
    return frame.getClassName().equals(ForeignExceptionUtil.class.getName());
  }
}
