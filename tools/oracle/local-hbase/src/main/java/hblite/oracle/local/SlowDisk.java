package hblite.oracle.local;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.wal.WALEdit;

/**
 * Lets each put and get wait in its handler, as for a disk. A server with few handlers then has a
 * limit of its own, although all servers share the processors of one machine.
 *
 * <p>{@code -Dhbase.coprocessor.user.region.classes=hblite.oracle.local.SlowDisk} turns it on, and
 * {@code -Dhblite.slow.disk.us} is the mean time in microseconds. The times lie evenly between half
 * of the mean and one and a half times the mean.
 */
public final class SlowDisk implements RegionCoprocessor, RegionObserver {
  private static final long MEAN_US = Long.getLong("hblite.slow.disk.us", 8_000);

  @Override
  public Optional<RegionObserver> getRegionObserver() {
    return Optional.of(this);
  }

  @Override
  public void preGetOp(
      ObserverContext<RegionCoprocessorEnvironment> context, Get get, List<Cell> result)
      throws IOException {
    await();
  }

  @Override
  public void prePut(
      ObserverContext<RegionCoprocessorEnvironment> context, Put put, WALEdit edit)
      throws IOException {
    await();
  }

  private static void await() throws IOException {
    long nanos = ThreadLocalRandom.current().nextLong(MEAN_US * 500, MEAN_US * 1_500);
    try {
      Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("the server stops").initCause(e);
    }
  }
}
