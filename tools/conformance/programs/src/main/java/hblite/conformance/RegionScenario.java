package hblite.conformance;

import static hblite.conformance.Text.bytes;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.MasterSwitchType;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Regions: found, flushed, compacted, split, merged, moved; and the cluster around them. */
final class RegionScenario implements Scenario {
  private static final int WAITS_SECONDS = 60;

  @Override
  public void run(Store store, Answers answers) throws Exception {
    Admin admin = store.admin;
    TableName name = store.name("regions");
    admin.createTable(Store.descriptor(name, 1, "f"), bytes("b"), bytes("y"), 4);
    Table table = store.connection.getTable(name);
    List<Put> puts = new ArrayList<>();
    for (char row = 'a'; row <= 'z'; row++) {
      puts.add(Store.put(String.valueOf(row), "q", 1, "v"));
    }
    table.put(puts);
    locate(store, name, answers);
    answers.ask("flushed and compacted",
        () -> {
          admin.flush(name);
          admin.majorCompact(name);
          await(() -> admin.getCompactionState(name) == CompactionState.NONE);
          return Store.rows(table, new Scan()).size();
        });
    byte[] region = admin.getRegions(name).get(0).getRegionName();
    answers.ask("one region flushed and compacted",
        () -> {
          admin.flushRegion(region);
          admin.compactRegion(region);
          return admin.getLastMajorCompactionTimestamp(name) >= 0;
        });
    split(store, name, answers);
    cluster(store, answers);
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void await(Condition condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAITS_SECONDS);
    while (!condition.holds()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("waited too long");
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static List<String> bounds(Admin admin, TableName name) throws Exception {
    return admin.getRegions(name).stream()
        .map(region -> Bytes.toStringBinary(region.getStartKey()) + ".."
            + Bytes.toStringBinary(region.getEndKey()))
        .toList();
  }

  private static void locate(Store store, TableName name, Answers answers) throws Exception {
    answers.ask("regions", () -> bounds(store.admin, name));
    try (RegionLocator locator = store.connection.getRegionLocator(name)) {
      answers.ask("start keys", locator::getStartKeys);
      answers.ask("end keys", locator::getEndKeys);
      answers.ask("where a row is",
          () -> locator.getRegionLocation(bytes("m")).getRegion().getStartKey());
      answers.ask("all locations", () -> locator.getAllRegionLocations().size());
    }
    answers.ask("regions by server",
        () -> {
          int count = 0;
          for (var server : store.admin.getRegionServers()) {
            count += (int) store.admin.getRegions(server).stream()
                .filter(region -> region.getTable().equals(name)).count();
          }
          return count;
        });
  }

  private static void split(Store store, TableName name, Answers answers) throws Exception {
    Admin admin = store.admin;
    Table table = store.connection.getTable(name);
    admin.split(name, bytes("e"));
    await(() -> bounds(admin, name).stream().anyMatch(each -> each.startsWith("e..")));
    answers.ask("regions after a split", () -> bounds(admin, name));
    answers.ask("rows after a split", () -> Store.rows(table, new Scan()).size());
    answers.ask("a row after a split", () -> table.get(new Get(bytes("e"))));
    admin.majorCompact(name);
    await(() -> admin.getCompactionState(name) == CompactionState.NONE);
    List<RegionInfo> regions = admin.getRegions(name);
    RegionInfo first = regions.get(0);
    answers.ask("merge what is not adjacent",
        () -> admin.mergeRegionsAsync(
            new byte[][] {first.getRegionName(), regions.get(3).getRegionName()}, false)
            .get(WAITS_SECONDS, TimeUnit.SECONDS));
    answers.ask("move to no server", () -> {
      admin.move(first.getEncodedNameAsBytes());
      return Store.rows(table, new Scan()).size();
    });
    answers.ask("unassign and assign", () -> {
      admin.unassign(first.getRegionName());
      admin.assign(first.getRegionName());
      return Store.rows(table, new Scan()).size();
    });
  }

  private static void cluster(Store store, Answers answers) throws Exception {
    Admin admin = store.admin;
    ClusterMetrics metrics = admin.getClusterMetrics();
    answers.ask("a master", () -> metrics.getMasterName() != null);
    answers.ask("dead servers", () -> metrics.getDeadServerNames().size());
    answers.ask("regions in transition", () -> metrics.getRegionStatesInTransition().size());
    answers.ask("the cluster's id", () -> metrics.getClusterId().length());
    answers.ask("one option",
        () -> admin.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.HBASE_VERSION)).getHBaseVersion().startsWith("2.6."));
    answers.ask("balancer, before", () -> admin.balancerSwitch(false, true));
    answers.ask("balancer, after", () -> admin.balancerSwitch(true, true));
    answers.ask("is it on", admin::isBalancerEnabled);
    answers.ask("splits, before", () -> admin.splitSwitch(false, true));
    answers.ask("splits, after", () -> admin.splitSwitch(true, true));
    answers.ask("merges", admin::isMergeEnabled);
    answers.ask("switch", () -> admin.isSplitEnabled() && MasterSwitchType.values().length == 2);
    answers.ask("normalizer, before", () -> admin.normalizerSwitch(false));
    answers.ask("normalizer, after", () -> admin.normalizerSwitch(true));
    answers.ask("catalog janitor", admin::isCatalogJanitorEnabled);
    answers.ask("cleaner", admin::isCleanerChoreEnabled);
    answers.ask("dead servers by name", admin::listDeadServers);
    answers.ask("decommissioned servers", admin::listDecommissionedRegionServers);
    answers.ask("peers", admin::listReplicationPeers);
    answers.ask("security", admin::getSecurityCapabilities);
    answers.ask("in maintenance", admin::isMasterInMaintenanceMode);
  }
}
