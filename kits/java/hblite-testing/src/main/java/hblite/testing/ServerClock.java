package hblite.testing;

import java.time.Duration;
import java.time.Instant;

/**
 * The clock of a server: timestamps, times to live and scanner leases follow it.
 *
 * <p>It shows the real time until a test stops it, or lets it run independently. Then it can be set
 * and advanced.
 */
public final class ServerClock {
  private final Host host;
  private volatile boolean isChanged;

  ServerClock(Host host) {
    this.host = host;
  }

  /** Whether it may differ from the real time. */
  public boolean isChanged() {
    return isChanged;
  }

  /** What time it is for the server. */
  public Instant now() {
    String clock = host.send("GET", "/clock", null);
    return Instant.ofEpochMilli(Json.number(clock, "now_ms"));
  }

  /** Stops it at its present time; from then on it moves only on request. */
  public void stop() {
    post("\"mode\":\"manual\"");
  }

  /** Restarts it at its present time, independent of the real time. */
  public void run() {
    post("\"mode\":\"offset\"");
  }

  /** Sets it to the real time. */
  public void reset() {
    post("\"mode\":\"real\"");
    isChanged = false;
  }

  /** Sets the time. The server refuses to set it back while scanners are open. */
  public void set(Instant time) {
    post("\"now_ms\":" + time.toEpochMilli());
  }

  /** Moves it forward. */
  public void advance(Duration time) {
    post("\"advance_ms\":" + time.toMillis());
  }

  private void post(String member) {
    isChanged = true;
    host.send("POST", "/clock", "{" + member + "}");
  }
}
