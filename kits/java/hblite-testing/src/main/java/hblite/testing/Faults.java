package hblite.testing;

/** Faults on demand; docs/faults.md describes them. */
public final class Faults {
  private final Host host;

  Faults(Host host) {
    this.host = host;
  }

  /**
   * Sets a fault.
   *
   * @param json such as {@code {"drop":"after","methods":["Mutate"],"count":1}}
   * @return the number to clear it with
   */
  public long set(String json) {
    return Json.number(host.send("POST", "/faults", json), "id");
  }

  /** The active faults as JSON, with how often each was injected. */
  public String list() {
    return host.send("GET", "/faults", null);
  }

  /** Clears one fault. */
  public void clear(long id) {
    host.send("DELETE", "/faults/" + id, null);
  }

  /** Clears all faults. */
  public void clear() {
    host.send("DELETE", "/faults", null);
  }
}
