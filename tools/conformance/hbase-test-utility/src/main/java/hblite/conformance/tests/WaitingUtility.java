package hblite.conformance.tests;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter.ExplainingPredicate;
import org.apache.hadoop.hbase.Waiter.Predicate;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.util.Bytes;

/** Waits until a client sees what a test needs. */
public abstract class WaitingUtility extends ClusterUtility {
  private static final long WAITS_MS = 60_000;
  private static final long LOOKS_AGAIN_MS = 20;

  protected WaitingUtility(Configuration configuration) {
    super(configuration);
  }

  /** A condition on the cluster. */
  private interface Question {
    boolean ask() throws IOException;
  }

  private static ExplainingPredicate<IOException> predicate(String what, Question question) {
    return new ExplainingPredicate<>() {
      @Override
      public String explainFailure() {
        return what;
      }

      @Override
      public boolean evaluate() throws IOException {
        return question.ask();
      }
    };
  }

  private void await(long timeoutMs, Predicate<IOException> predicate) throws IOException {
    waitFor(timeoutMs, LOOKS_AGAIN_MS, true, predicate);
  }

  public Predicate<IOException> predicateTableEnabled(TableName table) {
    return predicate(
        table + " is not enabled",
        () -> getAdmin().tableExists(table) && getAdmin().isTableEnabled(table));
  }

  public Predicate<IOException> predicateTableDisabled(TableName table) {
    return predicate(table + " is not disabled", () -> getAdmin().isTableDisabled(table));
  }

  public Predicate<IOException> predicateTableAvailable(TableName table) {
    return predicate(table + " is not available", () -> getAdmin().isTableAvailable(table));
  }

  public ExplainingPredicate<IOException> predicateNoRegionsInTransition() {
    return predicate(
        "regions are in transition",
        () -> getAdmin().getClusterMetrics().getRegionStatesInTransition().isEmpty());
  }

  public void waitTableAvailable(TableName table) throws IOException {
    waitTableAvailable(table, WAITS_MS);
  }

  public void waitTableAvailable(byte[] table, long timeoutMs) throws IOException {
    waitTableAvailable(TableName.valueOf(table), timeoutMs);
  }

  public void waitTableAvailable(TableName table, long timeoutMs) throws IOException {
    await(timeoutMs, predicateTableAvailable(table));
  }

  public void waitTableEnabled(TableName table) throws IOException {
    waitTableEnabled(table, WAITS_MS);
  }

  public void waitTableEnabled(byte[] table, long timeoutMs) throws IOException {
    waitTableEnabled(TableName.valueOf(table), timeoutMs);
  }

  public void waitTableEnabled(TableName table, long timeoutMs) throws IOException {
    await(timeoutMs, predicateTableEnabled(table));
  }

  public void waitTableDisabled(byte[] table) throws IOException {
    waitTableDisabled(table, WAITS_MS);
  }

  public void waitTableDisabled(byte[] table, long timeoutMs) throws IOException {
    waitTableDisabled(TableName.valueOf(table), timeoutMs);
  }

  public void waitTableDisabled(TableName table, long timeoutMs) throws IOException {
    await(timeoutMs, predicateTableDisabled(table));
  }

  public void waitUntilNoRegionsInTransition() throws IOException {
    waitUntilNoRegionsInTransition(WAITS_MS);
  }

  public void waitUntilNoRegionsInTransition(long timeoutMs) throws IOException {
    await(timeoutMs, predicateNoRegionsInTransition());
  }

  public void waitUntilAllRegionsAssigned(TableName table) throws IOException {
    waitUntilAllRegionsAssigned(table, WAITS_MS);
  }

  public void waitUntilAllRegionsAssigned(TableName table, long timeoutMs) throws IOException {
    await(
        timeoutMs,
        predicate(
            "regions of " + table + " are not assigned",
            () -> {
              List<HRegionLocation> locations = locationsOf(table);
              return !locations.isEmpty()
                  && locations.stream().allMatch(each -> each.getServerName() != null);
            }));
  }

  public void waitUntilAllSystemRegionsAssigned() throws IOException {
    waitUntilAllRegionsAssigned(TableName.META_TABLE_NAME);
  }

  private List<HRegionLocation> locationsOf(TableName table) throws IOException {
    try (RegionLocator locator = getConnection().getRegionLocator(table)) {
      locator.clearRegionLocationCache();
      return locator.getAllRegionLocations();
    }
  }

  private ServerName serverOf(RegionInfo region) throws IOException {
    for (HRegionLocation location : locationsOf(region.getTable())) {
      if (Bytes.equals(location.getRegion().getRegionName(), region.getRegionName())) {
        return location.getServerName();
      }
    }
    return null;
  }

  public void moveRegionAndWait(RegionInfo region, ServerName server) throws IOException {
    getAdmin().move(region.getEncodedNameAsBytes(), server);
    await(
        WAITS_MS,
        predicate(region + " was not moved", () -> server.equals(serverOf(region))));
  }

  public boolean assignRegion(RegionInfo region) throws IOException {
    getAdmin().assign(region.getRegionName());
    await(WAITS_MS, predicate(region + " is nowhere", () -> serverOf(region) != null));
    return true;
  }

  public void assertRegionOnServer(RegionInfo region, ServerName server, long timeoutMs)
      throws IOException {
    await(
        timeoutMs,
        predicate(region + " is not on " + server, () -> server.equals(serverOf(region))));
  }

  public void assertRegionOnlyOnServer(RegionInfo region, ServerName server, long timeoutMs)
      throws IOException {
    assertRegionOnServer(region, server, timeoutMs);
    for (ServerName other : getAdmin().getRegionServers()) {
      boolean isThere =
          getAdmin().getRegions(other).stream()
              .anyMatch(each -> Bytes.equals(each.getRegionName(), region.getRegionName()));
      assertEquals(region + " on " + other, other.equals(server), isThere);
    }
  }
}
