package hblite.testing;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Where the hblite binary is: the same order of places in every kit (kits/README.md). */
final class Binary {
  private static Path unpacked;

  private Binary() {}

  /**
   * The given one, that of {@code HBLITE_BIN}, the one on the class path, or that on the {@code
   * PATH}.
   *
   * @param given a path, or null
   */
  static Path find(Path given) {
    if (given != null) {
      return executable(given, "the given path");
    }
    String fromEnvironment = System.getenv("HBLITE_BIN");
    if (fromEnvironment != null && !fromEnvironment.isEmpty()) {
      return executable(Path.of(fromEnvironment), "HBLITE_BIN");
    }
    Path bundled = unpack();
    if (bundled != null) {
      return executable(bundled, "the artifact hblite-binary");
    }
    String path = System.getenv().getOrDefault("PATH", "");
    for (String directory : path.split(File.pathSeparator)) {
      Path file = Path.of(directory, fileName());
      if (Files.isRegularFile(file)) {
        return executable(file, "the PATH");
      }
    }
    throw new HBliteException(
        "no hblite binary found: there is no hblite-binary for "
            + platform()
            + " on the class path, HBLITE_BIN is not set, and there is no hblite on the PATH");
  }

  static Path executable(Path file, String origin) {
    if (!Files.isRegularFile(file)) {
      throw new HBliteException(file + " (from " + origin + ") is not a file");
    }
    if (!Files.isExecutable(file)) {
      throw new HBliteException(
          file
              + " (from "
              + origin
              + ") may not be executed: run `chmod +x` on it, and if it is on a file system"
              + " mounted with noexec, copy it elsewhere and set HBLITE_BIN; -Djava.io.tmpdir"
              + " says where the artifact is unpacked");
    }
    return file;
  }

  /** The binary of the artifact for this platform, as a file; null if there is none. */
  private static synchronized Path unpack() {
    if (unpacked != null) {
      return unpacked;
    }
    String resource = "/hblite/bin/" + platform() + "/" + fileName();
    try (InputStream content = Binary.class.getResourceAsStream(resource)) {
      if (content == null) {
        return null;
      }
      // A separate directory, so that concurrent suites share nothing.
      Path directory = Files.createTempDirectory("hblite");
      Path file = directory.resolve(fileName());
      // Files are deleted in the reverse order of their registration.
      directory.toFile().deleteOnExit();
      file.toFile().deleteOnExit();
      Files.copy(content, file);
      // The result shows in `executable`.
      file.toFile().setExecutable(true);
      unpacked = file;
      return file;
    } catch (IOException e) {
      throw new HBliteException("cannot unpack " + resource + ": " + e.getMessage(), e);
    }
  }

  private static String fileName() {
    return isWindows() ? "hblite.exe" : "hblite";
  }

  private static boolean isWindows() {
    return System.getProperty("os.name").startsWith("Windows");
  }

  /** The classifier of the artifact for this platform. */
  static String platform() {
    String name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String system = isWindows() ? "windows" : name.startsWith("mac") ? "macos" : "linux";
    String machine = System.getProperty("os.arch");
    boolean isArm = machine.equals("aarch64") || machine.equals("arm64");
    return system + "-" + (isArm ? "arm64" : "x86_64");
  }
}
