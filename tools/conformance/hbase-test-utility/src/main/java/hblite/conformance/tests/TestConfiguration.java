package hblite.conformance.tests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * The settings of a test. Some tests change a setting while the cluster runs, and expect it to act
 * at once, as it does in their own process: it is passed on to the cluster.
 */
final class TestConfiguration extends Configuration {
  /** Which gateway a setting makes read-only. */
  private static final Map<String, String> READ_ONLY =
      Map.of("hbase.rest.readonly", "rest", "hbase.thrift.readonly", "thrift2");

  @Override
  public void set(String name, String value, String source) {
    super.set(name, value, source);
    String gateway = READ_ONLY.get(name);
    if (gateway == null || getInt(Endpoint.PORT, 0) == 0) {
      return;
    }
    try {
      Endpoint.of(this).setReadOnly(gateway, Boolean.parseBoolean(value));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
