package hblite.oracle;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos.GetRegionInfoRequest;

/**
 * Waits for work that HBase does in the background: compactions, and the removal of what splits
 * and merges left behind.
 */
final class Patience {
  /** An operation that the server may have to postpone. */
  @FunctionalInterface
  interface Action {
    void run() throws Exception;
  }

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int COMPACTION_PAUSE_MS = 20;
  private static final int REGION_PAUSE_MS = 200;

  /** The server's messages for a region that is still busy with its last split or merge. */
  private static final Pattern NOT_YET =
      Pattern.compile(
          "not splittable|not mergeable|reference|merge qualifier|SPLITTING|MERGING",
          Pattern.CASE_INSENSITIVE);

  private final ClusterConnection connection;
  private final Admin admin;

  Patience(Connection connection, Admin admin) {
    this.connection = (ClusterConnection) connection;
    this.admin = admin;
  }

  /**
   * Returns when no compaction of the table runs.
   *
   * @throws IOException the server's exception, or a timeout
   */
  void untilCompacted(TableName table) throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (admin.getCompactionState(table) != CompactionState.NONE) {
      if (isOver(start)) {
        throw new IOException("the compaction of " + table + " does not end");
      }
      Thread.sleep(COMPACTION_PAUSE_MS);
    }
  }

  /**
   * Returns when the regions read no files of the regions that they were made of: a server compacts
   * such files as soon as it has opened the region.
   *
   * @throws Exception the server's exception, or a timeout
   */
  void untilIndependent(List<RegionInfo> regions) throws Exception {
    long start = System.nanoTime();
    for (RegionInfo region : regions) {
      while (!isIndependent(region)) {
        if (isOver(start)) {
          throw new IOException(region.getRegionNameAsString() + " keeps its references");
        }
        Thread.sleep(COMPACTION_PAUSE_MS);
      }
    }
  }

  private boolean isIndependent(RegionInfo region) throws Exception {
    HRegionLocation location =
        connection.relocateRegion(region.getTable(), region.getStartKey());
    GetRegionInfoRequest question =
        RequestConverter.buildGetRegionInfoRequest(region.getRegionName());
    return connection
        .getAdmin(location.getServerName())
        .getRegionInfo(null, question)
        .getMergeable();
  }

  /**
   * Runs a split or merge again while the regions are not ready for it.
   *
   * @throws Exception the server's last exception
   */
  void untilDone(Action action) throws Exception {
    long start = System.nanoTime();
    while (true) {
      try {
        action.run();
        return;
      } catch (IOException | ExecutionException e) {
        if (!isForLater(e) || isOver(start)) {
          throw e;
        }
      }
      // The janitor forgets the parents of splits and merges to whose files no reference is left.
      admin.runCatalogJanitor();
      Thread.sleep(REGION_PAUSE_MS);
    }
  }

  private static boolean isOver(long start) {
    return System.nanoTime() - start > LIMIT.toNanos();
  }

  private static boolean isForLater(Exception thrown) {
    Throwable cause = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
    return cause instanceof NotServingRegionException
        || NOT_YET.matcher(String.valueOf(cause.getMessage())).find();
  }
}
