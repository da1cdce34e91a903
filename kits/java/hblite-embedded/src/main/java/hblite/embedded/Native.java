package hblite.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** The native library. Stores and channels are numbers, which are never used again. */
final class Native {
  /** The path of the library, in place of the one in the jar. */
  static final String LIBRARY = "hblite.library.path";

  // Results of a call without an answer.
  static final int REFUSED = -1;
  static final int DROPPED = -2;
  static final int TIMED_OUT = -3;
  static final int CLOSED = -4;

  static {
    load();
  }

  private Native() {}

  static native long open(byte[] directory) throws IOException;

  static native void close(long store) throws IOException;

  static native byte[] master(long store) throws IOException;

  static native long connect(long store, int port, byte[] header) throws IOException;

  static native void disconnect(long channel);

  /**
   * Runs a call and waits for its answer.
   *
   * @param buffer a direct buffer that no other thread uses
   * @param length the length of the frame at the beginning of the buffer
   * @param frame the frame if it does not fit the buffer, otherwise null
   * @return the length of the answer; it is in the buffer, or if it does not fit, for {@link
   *     #answer}
   */
  static native int call(long channel, ByteBuffer buffer, int length, byte[] frame);

  /** Copies the answer of this thread's last call that did not fit the buffer. */
  static native void answer(byte[] into);

  private static void load() {
    String path = System.getProperty(LIBRARY);
    if (path != null) {
      System.load(Paths.get(path).toAbsolutePath().toString());
      return;
    }
    String name = System.mapLibraryName("hblite_jni");
    String resource = "/hblite/native/" + platform() + "/" + name;
    try (InputStream library = Native.class.getResourceAsStream(resource)) {
      if (library == null) {
        throw new UnsatisfiedLinkError(
            "the jar has no " + resource + ": name the library with -D" + LIBRARY + "=FILE");
      }
      Path file = Files.createTempFile("hblite", name);
      file.toFile().deleteOnExit();
      Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
      System.load(file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot unpack " + resource, e);
    }
  }

  private static String platform() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch");
    String system = os.startsWith("mac") ? "macos" : os.startsWith("windows") ? "windows" : "linux";
    return system + "-" + (arch.equals("aarch64") ? "arm64" : "x86_64");
  }
}
