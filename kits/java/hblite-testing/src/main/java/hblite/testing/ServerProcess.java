package hblite.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The operating system's side of a server: pipes, log, end. Safe for use by many threads. */
final class ServerProcess {
  private static final int LOG_LENGTH_MAX = 1 << 20;
  private static final long START_SECONDS_MAX = 30;
  private static final long STOP_SECONDS_MAX = 10;

  private final Process process;
  private final StringBuilder log = new StringBuilder();
  private final Thread logReader;
  private final String readyLine;

  ServerProcess(List<String> command) {
    try {
      process = new ProcessBuilder(command).start();
    } catch (IOException e) {
      throw new HBliteException("cannot execute " + command.get(0) + ": " + e.getMessage(), e);
    }
    logReader = daemon(this::readLog);
    BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    readyLine = readLine(output);
    if (readyLine == null || !readyLine.startsWith("{")) {
      stop();
      throw new HBliteException(String.join(" ", command) + " did not start: " + finalLog());
    }
    daemon(() -> drain(output));
  }

  private String readLine(BufferedReader output) {
    Thread late =
        daemon(
            () -> {
              try {
                TimeUnit.SECONDS.sleep(START_SECONDS_MAX);
                process.destroyForcibly();
              } catch (InterruptedException e) {
                // It is ready.
                return;
              }
            });
    try {
      return output.readLine();
    } catch (IOException e) {
      return null;
    } finally {
      late.interrupt();
    }
  }

  private static void drain(BufferedReader output) {
    try {
      while (output.readLine() != null) {
        // A full pipe would stop the server.
        continue;
      }
    } catch (IOException e) {
      // It has ended.
      return;
    }
  }

  private void readLog() {
    byte[] buffer = new byte[8192];
    try (InputStream errors = process.getErrorStream()) {
      for (int length = errors.read(buffer); length >= 0; length = errors.read(buffer)) {
        synchronized (log) {
          log.append(new String(buffer, 0, length, StandardCharsets.UTF_8));
          log.delete(0, Math.max(0, log.length() - LOG_LENGTH_MAX));
        }
      }
    } catch (IOException e) {
      // It has ended.
      return;
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "hblite");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  String readyLine() {
    return readyLine;
  }

  String log() {
    synchronized (log) {
      return log.toString();
    }
  }

  private String finalLog() {
    try {
      logReader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return log().trim();
  }

  /** Closes the server's input, which ends it on every platform. A second call does nothing. */
  void stop() {
    try (OutputStream input = process.getOutputStream()) {
      input.flush();
    } catch (IOException e) {
      // It has ended already.
      process.destroy();
    }
    try {
      if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
