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
import java.util.stream.Stream;

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

  /**
   * Opens a store.
   *
   * @param directory its path in UTF-8, or null for an empty store in memory
   * @param settings lines with {@code name=value} in UTF-8
   */
  static native long open(byte[] directory, int regionServers, byte[] settings) throws IOException;

  /** Opens the state of a checkpoint as a store of its own. */
  static native long fork(long store, byte[] checkpoint) throws IOException;

  /** Sends a request to the admin endpoint; all texts are in UTF-8. */
  static native byte[] admin(long store, byte[] method, byte[] path, byte[] body)
      throws IOException;

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
    if (path == null) {
      String name = "/hblite/native/" + platform() + "/" + System.mapLibraryName("hblite_jni");
      try (InputStream library = Native.class.getResourceAsStream(name)) {
        if (library == null) {
          throw new UnsatisfiedLinkError(
              "the jar has no " + name + ": name the library with -D" + LIBRARY + "=FILE");
        }
        loadCopy(library);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot unpack " + name, e);
      }
      return;
    }
    try {
      System.load(Paths.get(path).toAbsolutePath().toString());
    } catch (UnsatisfiedLinkError error) {
      if (!String.valueOf(error.getMessage()).contains("another classloader")) {
        throw error;
      }
      try (InputStream library = Files.newInputStream(Paths.get(path))) {
        loadCopy(library);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot copy " + path, e);
      }
    }
  }

  /** Each class loader needs a file of its own: the JVM refuses one that another has loaded. */
  private static void loadCopy(InputStream library) throws IOException {
    Path file = Files.createTempFile("hblite", System.mapLibraryName("hblite_jni"));
    try {
      Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
      System.load(file.toString());
    } finally {
      // Windows does not remove a library that is loaded.
      if (!file.toFile().delete()) {
        file.toFile().deleteOnExit();
      }
    }
  }

  private static String platform() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String arch = System.getProperty("os.arch");
    String system =
        os.startsWith("mac")
            ? "macos"
            : os.startsWith("windows") ? "windows" : isMusl() ? "linux-musl" : "linux";
    return system + "-" + (arch.equals("aarch64") ? "arm64" : "x86_64");
  }

  /** Whether this JVM was built for the C library musl. */
  private static boolean isMusl() {
    try (Stream<String> mappings = Files.lines(Paths.get("/proc/self/maps"))) {
      return mappings.anyMatch(mapping -> mapping.contains("/ld-musl-"));
    } catch (IOException | UncheckedIOException e) {
      // It tells nothing; most systems have glibc.
      return false;
    }
  }
}
