package hblite.oracle;

/** An operation that does not follow the format: an error in the file, not an answer. */
final class BadOperation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BadOperation(String message) {
    super(message);
  }
}
