package hblite.conformance.tests;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;

/** The settings of a test for its cluster. */
final class Settings {
  /** The settings that hblite has. */
  private static final Set<String> KNOWN =
      Set.of(
          "hbase.catalogjanitor.interval",
          "hbase.client.scanner.timeout.period",
          "hbase.http.filter.csp.value",
          "hbase.http.filter.hsts.value",
          "hbase.hregion.max.filesize",
          "hbase.hregion.memstore.block.multiplier",
          "hbase.hregion.memstore.flush.size",
          "hbase.hstore.blockingStoreFiles",
          "hbase.hstore.compaction.max",
          "hbase.hstore.compaction.min",
          "hbase.hstore.compaction.min.size",
          "hbase.hstore.compaction.ratio",
          "hbase.hregion.majorcompaction",
          "hbase.master.cleaner.snapshot.interval",
          "hbase.rest-csrf.browser-useragents-regex",
          "hbase.rest.csrf.enabled",
          "hbase.rest.readonly",
          "hbase.server.keyvalue.maxsize",
          "hbase.server.scanner.max.result.size",
          "hbase.table.sanity.checks",
          "hbase.thrift.readonly");

  private Settings() {}

  /**
   * The settings that a cluster in the test's own process would read, as far as hblite has them and
   * they differ from the defaults.
   */
  static Map<String, String> known(Configuration configuration) {
    Configuration defaults = defaults();
    Map<String, String> known = new TreeMap<>();
    for (String name : new TreeSet<>(KNOWN)) {
      String value = configuration.get(name);
      if (value != null && !value.equals(defaults.get(name))) {
        known.put(name, value);
      }
    }
    return known;
  }

  /** All that differ from HBase's defaults. */
  static Configuration changed(Configuration configuration) {
    Configuration defaults = defaults();
    Configuration changed = new Configuration(false);
    for (Map.Entry<String, String> setting : configuration) {
      if (!setting.getValue().equals(defaults.getRaw(setting.getKey()))) {
        changed.set(setting.getKey(), setting.getValue());
      }
    }
    return changed;
  }

  /** Without the settings that all tests share. */
  private static Configuration defaults() {
    Configuration defaults = new Configuration();
    defaults.addResource("hbase-default.xml");
    return defaults;
  }
}
