package hblite.testing;

import hblite.embedded.EmbeddedHBlite;
import java.io.IOException;
import java.util.Map;

/** A server in this process, without ports. */
final class EmbeddedHost implements Host {
  private final EmbeddedHBlite store;

  private EmbeddedHost(EmbeddedHBlite store) {
    this.store = store;
  }

  static Host start(int regionServers, Map<String, String> settings) {
    try {
      EmbeddedHBlite.Builder builder = EmbeddedHBlite.builder().regionServers(regionServers);
      settings.forEach(builder::set);
      return new EmbeddedHost(builder.inMemory());
    } catch (NoClassDefFoundError e) {
      throw new HBliteException(
          "a server in this process needs the artifact hblite-embedded: " + e.getMessage(), e);
    } catch (IOException | LinkageError e) {
      throw new HBliteException("cannot start in this process: " + e.getMessage(), e);
    }
  }

  @Override
  public String send(String method, String path, String body) {
    try {
      return store.admin(method, path, body);
    } catch (IOException e) {
      throw new HBliteException(e.getMessage(), e);
    }
  }

  @Override
  public Host fork(String checkpoint) {
    try {
      return new EmbeddedHost(store.fork(checkpoint));
    } catch (IOException e) {
      throw new HBliteException(e.getMessage(), e);
    }
  }

  @Override
  public Map<String, String> settings() {
    return store.settings();
  }

  @Override
  public int port(String name) {
    throw noPorts();
  }

  @Override
  public String named(String name) {
    throw noPorts();
  }

  private static HBliteException noPorts() {
    return new HBliteException("a server in this process has no ports: start one without "
        + "HBLITE_IN_PROCESS and inProcess()");
  }

  /** Nothing: its log is that of this process. */
  @Override
  public String log() {
    return "";
  }

  @Override
  public void stop() {
    try {
      store.close();
    } catch (IOException e) {
      throw new HBliteException("cannot close the store: " + e.getMessage(), e);
    }
  }
}
