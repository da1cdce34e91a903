package hblite.testing;

import java.util.Map;

/** Where a server runs: in a process of its own, or in this one. */
interface Host {
  /**
   * Sends a request to the admin endpoint.
   *
   * @param body JSON, or null for none
   * @return the body of the answer
   */
  String send(String method, String path, String body);

  /** A server in the state of a checkpoint, which ends with this one at the latest. */
  Host fork(String checkpoint);

  /** What a client needs in its {@code hbase-site.xml}. */
  Map<String, String> settings();

  /** A port by its name in the ready line, or -1 if there is none. */
  int port(String name);

  /** A text of the ready line, or null if it has none of that name. */
  String named(String name);

  /** What the server logged. */
  String log();

  /** Ends the server. A second call does nothing. */
  void stop();
}
