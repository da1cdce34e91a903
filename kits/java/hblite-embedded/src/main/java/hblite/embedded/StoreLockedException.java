package hblite.embedded;

import java.io.IOException;

/** The store is open in another process, or a second time in this one. */
public final class StoreLockedException extends IOException {
  private static final long serialVersionUID = 1;

  public StoreLockedException(String message) {
    super(message);
  }
}
