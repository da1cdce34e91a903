package hblite.hfilereader;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.hfile.HFile;

/** Writes files with hblite in all settings, and reads them with HBase's reader. */
public final class Main {
  private static final int FAILURES_SHOWN = 20;
  private static final List<String> NONE_AND_GZ = List.of("NONE", "GZ");

  private final Path hblite;
  private final Path work;
  private final Configuration conf = HBaseConfiguration.create();
  private final HFileSystem fs;
  private int written;
  private int read;
  private int failed;

  private Main(Path hblite, Path work) throws IOException {
    this.hblite = hblite;
    this.work = work;
    this.fs = new HFileSystem(conf, true);
  }

  /** Arguments: the hblite command, tests/golden/hfile, a folder to work in. */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) {
      System.err.println("usage: Main HBLITE GOLDEN-FOLDER WORK-FOLDER");
      System.exit(2);
    }
    Path golden = Path.of(arguments[1]);
    Main main = new Main(Path.of(arguments[0]), Path.of(arguments[2]));
    Description small = Description.read(golden.resolve("small-tags-none.json"));
    main.checkAll("all settings", small, Settings.all());
    main.checkAll("bulk load", small, Settings.some(NONE_AND_GZ, Settings.Tags.ON, true));
    for (String name : List.of("deletes-none", "binary-none", "mvcc-none", "tsedge-none")) {
      Description description = Description.read(golden.resolve(name + ".json"));
      main.checkAll(
          name, description, Settings.some(NONE_AND_GZ, Settings.Tags.OFF, false));
    }
    Description large = Description.large(main.work);
    main.checkAll("large", large, Settings.withDefaultBlocks());
    long failures = HFile.getChecksumFailuresCount();
    if (failures > 0) {
      main.failed++;
      System.out.println("FAILED: HBase counted " + failures + " checksum failures");
    }
    main.checkThatChecksumsAreVerified(small);
    System.out.printf(
        "%d files, %d read, %d failed%n", main.written, main.read, main.failed);
    System.exit(main.failed == 0 && main.read == main.written ? 0 : 1);
  }

  private void checkAll(String title, Description description, List<Settings> all)
      throws Exception {
    long start = System.nanoTime();
    int failedBefore = failed;
    for (Settings settings : all) {
      check(description, settings);
    }
    System.out.printf(
        "%-14s %5d files of %5d cells, %d failed, %.1f s%n",
        title,
        all.size(),
        description.cells().size(),
        failed - failedBefore,
        (System.nanoTime() - start) / 1e9);
  }

  private void check(Description description, Settings settings) throws Exception {
    Path file = null;
    try {
      file = write(description, settings);
      List<ExpectedCell> cells = description.cellsWith(settings);
      try (FileCheck check = new FileCheck(fs, conf, hadoopPath(file), settings, cells)) {
        check.run();
      }
      read++;
    } catch (IOException | RuntimeException | FileCheck.Mismatch | LinkageError error) {
      failed++;
      if (failed <= FAILURES_SHOWN) {
        System.out.println(
            "FAILED: " + description.file().getFileName() + " " + settings + ": " + error);
      }
    } finally {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static org.apache.hadoop.fs.Path hadoopPath(Path file) {
    return new org.apache.hadoop.fs.Path(file.toUri());
  }

  /** HBase takes only files with such names for store files. */
  private Path write(Description description, Settings settings) throws Exception {
    Path folder = Files.createDirectories(work.resolve("cf"));
    Path file = folder.resolve(String.format("%032x", ++written));
    List<String> command = new ArrayList<>(List.of(hblite.toString(), "hfile", "write"));
    command.addAll(List.of("--from", description.file().toString(), "--out", file.toString()));
    command.addAll(settings.options());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new IOException(said.strip());
    }
    return file;
  }

  /** A test of the test: what HBase does not verify would never fail. */
  private void checkThatChecksumsAreVerified(Description description) throws Exception {
    for (String checksum : List.of("CRC32", "CRC32C")) {
      Settings settings =
          Settings.some(List.of("NONE"), Settings.Tags.ON, false).get(0).with(checksum, true);
      Path file = write(description, settings);
      byte[] bytes = Files.readAllBytes(file);
      bytes[100] ^= 1;
      Files.write(file, bytes);
      HFile.getAndResetChecksumFailuresCount();
      List<ExpectedCell> cells = description.cellsWith(settings);
      try (FileCheck check = new FileCheck(fs, conf, hadoopPath(file), settings, cells)) {
        check.run();
      } catch (IOException | RuntimeException | FileCheck.Mismatch expected) {
        // Damaged cells may have any content.
      }
      written--;
      Files.delete(file);
      if (HFile.getAndResetChecksumFailuresCount() == 0) {
        failed++;
        System.out.println("FAILED: HBase did not notice damage under " + checksum);
      }
    }
  }
}
