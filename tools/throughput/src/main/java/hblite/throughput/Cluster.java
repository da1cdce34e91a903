package hblite.throughput;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;

/** A cluster in its own process, HBase or hblite, which runs until it is closed. */
final class Cluster implements AutoCloseable {
  private static final int TICKS_PER_SECOND = 100;
  private static final int STOP_SECONDS = 60;
  private static final Pattern ZOOKEEPER =
      Pattern.compile("ZooKeeper at localhost:(\\d+)|\"zookeeper_port\":(\\d+)");

  /** HBase or hblite. */
  final String name;

  /** The time from the start of the process to the line that says that it accepts requests. */
  final double readyMs;

  private final Process process;
  private final int zooKeeperPort;

  private Cluster(String name, List<String> command, Path log) throws IOException {
    this.name = name;
    long start = System.nanoTime();
    process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    @SuppressWarnings("resource") // The process's, and closed with it.
    BufferedReader output = process.inputReader();
    String line = output.readLine();
    readyMs = (System.nanoTime() - start) / 1e6;
    Matcher matcher = ZOOKEEPER.matcher(line == null ? "" : line);
    if (!matcher.find()) {
      close();
      throw new IOException(name + " did not start:\n" + Files.readString(log));
    }
    String port = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
    zooKeeperPort = Integer.parseInt(port);
  }

  /**
   * Starts a standalone HBase.
   *
   * @param classPath of tools/oracle/local-hbase
   * @param directory for its files; its log is next to them
   */
  static Cluster hbase(String classPath, Path directory) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.add("-Xmx1g");
    command.add("--add-opens=java.base/java.nio=ALL-UNNAMED");
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    command.addAll(List.of("-cp", classPath, "hblite.oracle.local.LocalHBase"));
    command.add(directory.toString());
    return new Cluster("HBase", command, directory.resolveSibling("hbase.log"));
  }

  /**
   * Starts an hblite.
   *
   * @param binary the command
   * @param directory for its files; {@code null} to keep them in memory
   * @param log the file for its errors
   */
  static Cluster hblite(Path binary, Path directory, Path log) throws IOException {
    List<String> command = new ArrayList<>(List.of(binary.toString(), "serve"));
    command.addAll(directory == null ? List.of("--memory") : List.of("--dir", directory.toString()));
    command.addAll(List.of("--zookeeper-port", "0", "--rpc-port", "0"));
    return new Cluster("hblite", command, log);
  }

  /** What a client needs to connect; everything else is HBase's default. */
  Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "localhost");
    configuration.setInt(HConstants.ZOOKEEPER_CLIENT_PORT, zooKeeperPort);
    return configuration;
  }

  /** The memory that the process uses. */
  double residentMiB() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
      }
    }
    throw new IOException("no VmRSS of " + name);
  }

  /** The processor time of all threads of the process. */
  double cpuSeconds() throws IOException {
    String line = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
    // After the name, which may contain spaces: the state is field 3, utime 14, stime 15.
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / (double) TICKS_PER_SECOND;
  }

  @Override
  public void close() throws IOException {
    // HBase stops at the end of its input, hblite on SIGTERM.
    process.getOutputStream().close();
    if (name.equals("hblite")) {
      process.destroy();
    }
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
