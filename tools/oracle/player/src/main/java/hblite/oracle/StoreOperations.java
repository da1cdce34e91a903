package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;

/** Operations on regions and their files. Each is over when the server is idle again. */
final class StoreOperations {
  private static final int REGION_CHANGE_SECONDS_MAX = 60;

  private final Connection connection;
  private final Admin admin;
  private final Patience patience;

  StoreOperations(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
    this.patience = new Patience(connection, admin);
  }

  /** The operations by their names in the files. */
  Map<String, Operation> all() {
    return Map.of(
        "flush", this::flush,
        "major_compact", this::majorCompact,
        "split", this::split,
        "merge", this::merge,
        "regions", op -> Answers.regions(regions(Arguments.table(op))),
        "region_of", this::regionOf);
  }

  private JsonNode flush(JsonNode arguments) throws IOException {
    admin.flush(Arguments.table(arguments));
    return Answers.ok();
  }

  private JsonNode majorCompact(JsonNode arguments) throws Exception {
    TableName table = Arguments.table(arguments);
    admin.majorCompact(table);
    if (admin.isTableEnabled(table)) {
      patience.untilCompacted(table);
    }
    return Answers.ok();
  }

  private JsonNode split(JsonNode arguments) throws Exception {
    TableName table = Arguments.table(arguments);
    byte[] key = Arguments.bytes(arguments, "at");
    if (!admin.tableExists(table)) {
      // Without a region to name there is only the call that takes the table.
      admin.split(table, key);
    }
    patience.untilDone(() -> await(admin.splitRegionAsync(regionNameOf(table, key), key)));
    return regionsAfterChange(table, arguments);
  }

  private JsonNode merge(JsonNode arguments) throws Exception {
    TableName table = Arguments.table(arguments);
    byte[][] starts = Arguments.byteLists(arguments, "starts");
    patience.untilDone(
        () -> await(admin.mergeRegionsAsync(encodedNames(table, starts), false)));
    return regionsAfterChange(table, arguments);
  }

  private JsonNode regionOf(JsonNode arguments) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(Arguments.table(arguments))) {
      byte[] row = Arguments.bytes(arguments, "row");
      return Answers.region(locator.getRegionLocation(row, true).getRegion());
    }
  }

  private static void await(Future<?> change) throws Exception {
    change.get(REGION_CHANGE_SECONDS_MAX, TimeUnit.SECONDS);
  }

  private JsonNode regionsAfterChange(TableName table, JsonNode arguments) throws Exception {
    patience.untilIndependent(regions(table));
    if (arguments.path("major_compact").asBoolean(true)) {
      admin.majorCompact(table);
      patience.untilCompacted(table);
    }
    return Answers.regions(regions(table));
  }

  private List<RegionInfo> regions(TableName table) throws IOException {
    List<RegionInfo> regions = new ArrayList<>(admin.getRegions(table));
    regions.sort(RegionInfo.COMPARATOR);
    return regions;
  }

  private byte[] regionNameOf(TableName table, byte[] key) throws IOException {
    for (RegionInfo region : regions(table)) {
      if (region.containsRow(key)) {
        return region.getRegionName();
      }
    }
    throw new BadOperation("no region of " + table + " holds the key");
  }

  private byte[][] encodedNames(TableName table, byte[][] starts) throws IOException {
    List<RegionInfo> regions = regions(table);
    List<byte[]> names = new ArrayList<>();
    for (byte[] start : starts) {
      regions.stream()
          .filter(region -> Arrays.equals(region.getStartKey(), start))
          .map(RegionInfo::getEncodedNameAsBytes)
          .forEach(names::add);
    }
    return names.toArray(new byte[0][]);
  }
}
