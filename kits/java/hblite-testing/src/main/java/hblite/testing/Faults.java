package hblite.testing;

/** Faults on demand; docs/faults.md describes them. */
public final class Faults {
  private final Endpoint endpoint;

  Faults(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * Sets a fault.
   *
   * @param json such as {@code {"drop":"after","methods":["Mutate"],"count":1}}
   * @return the number to clear it with
   */
  public long set(String json) {
    return Endpoint.number(endpoint.send("POST", "/faults", json), "id");
  }

  /** The active faults as JSON, with how often each was injected. */
  public String list() {
    return endpoint.send("GET", "/faults", null);
  }

  /** Clears one fault. */
  public void clear(long id) {
    endpoint.send("DELETE", "/faults/" + id, null);
  }

  /** Clears all faults. */
  public void clear() {
    endpoint.send("DELETE", "/faults", null);
  }
}
