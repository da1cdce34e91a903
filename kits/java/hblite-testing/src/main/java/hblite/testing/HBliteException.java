package hblite.testing;

/** hblite could not be started, or refused a request. The message says why. */
public final class HBliteException extends RuntimeException {
  private static final long serialVersionUID = 1;

  HBliteException(String message) {
    super(message);
  }

  HBliteException(String message, Throwable cause) {
    super(message, cause);
  }
}
