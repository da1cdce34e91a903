package hblite.hfilereader;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomQuestions;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.util.Bytes;

/** Reads one file in all ways that HBase has, and compares the result with the description. */
final class FileCheck implements AutoCloseable {
  /** A difference between what HBase reads and the description. */
  static final class Mismatch extends Exception {
    private static final long serialVersionUID = 1;

    Mismatch(String message) {
      super(message);
    }
  }

  private final Configuration conf;
  private final Settings settings;
  private final List<ExpectedCell> cells;
  private final HStoreFile file;
  private final StoreFileReader reader;
  private final CellComparator comparator;

  FileCheck(
      FileSystem fs, Configuration conf, Path path, Settings settings, List<ExpectedCell> cells)
      throws IOException {
    this.conf = conf;
    this.settings = settings;
    this.cells = cells;
    BloomType bloom = BloomType.valueOf(settings.bloom());
    StoreFileInfo info = new StoreFileInfo(conf, fs, path, true);
    this.file = new HStoreFile(info, bloom, CacheConfig.DISABLED, new BloomFilterMetrics());
    file.initReader();
    this.reader = file.getReader();
    this.comparator = reader.getComparator();
  }

  @Override
  public void close() throws IOException {
    file.closeStoreFile(true);
  }

  void run() throws IOException, Mismatch {
    checkDescription();
    checkForwardScan();
    checkSeeks();
    checkReseeks();
    checkReverseScan();
    checkFilters();
  }

  private static void check(boolean condition, String message) throws Mismatch {
    if (!condition) {
      throw new Mismatch(message);
    }
  }

  private HFileScanner scanner() {
    return reader.getHFileReader().getScanner(conf, false, true);
  }

  /** File info, trailer, first, middle and last key. */
  private void checkDescription() throws IOException, Mismatch {
    HFile.Reader hfile = reader.getHFileReader();
    Map<byte[], byte[]> info = hfile.getHFileInfo();
    List<String> keys = new ArrayList<>(List.of("hfile.LASTKEY", "hfile.AVG_KEY_LEN"));
    keys.addAll(List.of("hfile.AVG_VALUE_LEN", "hfile.CREATE_TIME_TS", "TIMERANGE"));
    keys.addAll(List.of("EARLIEST_PUT_TS", "DELETE_FAMILY_COUNT", "MAJOR_COMPACTION_KEY"));
    keys.addAll(List.of("hfile.KEY_OF_BIGGEST_CELL", "hfile.LEN_OF_BIGGEST_CELL", "HISTORICAL"));
    for (String key : keys) {
      check(info.containsKey(Bytes.toBytes(key)), "no " + key + " in the file info");
    }
    checkOptional(info, "hfile.MAX_TAGS_LEN", settings.hasTags());
    checkOptional(info, "hfile.TAGS_COMPRESSED", settings.hasTags());
    checkOptional(info, "KEY_VALUE_VERSION", settings.mvcc());
    checkOptional(info, "MAX_MEMSTORE_TS_KEY", settings.mvcc());
    checkOptional(info, "DATA_BLOCK_ENCODING", !settings.encoding().equals("NONE"));
    checkOptional(info, "BLOOM_FILTER_TYPE", !settings.bloom().equals("NONE"));
    checkOptional(info, "LAST_BLOOM_KEY", !settings.bloom().equals("NONE"));
    checkOptional(info, "BLOOM_FILTER_PARAM", settings.bloom().startsWith("ROWPREFIX"));
    checkOptional(info, "MAX_SEQ_ID_KEY", !settings.bulkLoad());
    checkOptional(info, "BULKLOAD_TIMESTAMP", settings.bulkLoad());
    checkOptional(info, "BULKLOAD_SOURCE_TASK", settings.bulkLoad());
    check(file.isBulkLoadResult() == settings.bulkLoad(), "bulk load: " + file.isBulkLoadResult());
    String encoding = hfile.getDataBlockEncoding().name();
    check(encoding.equals(settings.encoding()), "encoding " + encoding);
    String codec = hfile.getTrailer().getCompressionCodec().name();
    check(codec.equals(settings.compression()), "codec " + codec);
    check(reader.getBloomFilterType().name().equals(settings.bloom()), "Bloom filter type");
    check(hfile.getEntries() == cells.size(), hfile.getEntries() + " cells in the trailer");
    check(cells.get(0).hasKeyOf(hfile.getFirstKey().orElseThrow()), "first key");
    check(cells.get(cells.size() - 1).hasKeyOf(hfile.getLastKey().orElseThrow()), "last key");
    Optional<Cell> middle = hfile.midKey();
    check(
        comparator.compare(middle.orElseThrow(), hfile.getFirstKey().get()) >= 0
            && comparator.compare(middle.get(), hfile.getLastKey().get()) <= 0,
        "mid-key " + middle.get());
  }

  private static void checkOptional(Map<byte[], byte[]> info, String key, boolean isExpected)
      throws Mismatch {
    boolean isThere = info.containsKey(Bytes.toBytes(key));
    check(isThere == isExpected, key + (isThere ? " is" : " is not") + " in the file info");
  }

  private void checkForwardScan() throws IOException, Mismatch {
    try (HFileScanner scanner = scanner()) {
      boolean more = scanner.seekTo();
      for (ExpectedCell cell : cells) {
        check(more, "the scan ends before " + cell);
        check(cell.is(scanner.getCell()), "scan: " + scanner.getCell() + ", not " + cell);
        more = scanner.next();
      }
      check(!more, "the scan goes on behind the last cell");
    }
  }

  /** Seeks to every cell, before it, and to a key just behind it. */
  private void checkSeeks() throws IOException, Mismatch {
    int step = Math.max(1, cells.size() / 150);
    try (HFileScanner scanner = scanner()) {
      for (int at = 0; at < cells.size(); at += step) {
        KeyValue key = cells.get(at).key();
        int first = firstOf(key, at);
        check(scanner.seekTo(key) == 0, "seekTo does not find " + key);
        check(cells.get(first).is(scanner.getCell()), "seekTo " + key + ": " + scanner.getCell());
        checkSeekBefore(scanner, first);
        // Before all other versions of the column.
        ExpectedCell cell = cells.get(at);
        Cell column = PrivateCellUtil.createFirstOnRowCol(key, cell.qualifier(), 0,
            cell.qualifier().length);
        int found = scanner.seekTo(column);
        check(found != 0, "seekTo finds what is not there: " + column);
        if (found != -1) {
          // 1: on the last smaller cell; -2: on the first cell of a block, which is greater.
          boolean isSmaller = comparator.compare(scanner.getCell(), column) < 0;
          check(isSmaller == (found == 1), "seekTo " + column + " is " + found);
        }
      }
    }
  }

  /** Within a row of ROW_INDEX_V1, HBase finds the preceding cell only by chance. */
  private void checkSeekBefore(HFileScanner scanner, int at) throws IOException, Mismatch {
    ExpectedCell before = at == 0 ? null : cells.get(at - 1);
    if (settings.encoding().equals("ROW_INDEX_V1") && cells.get(at).isRow(before)) {
      return;
    }
    KeyValue key = cells.get(at).key();
    boolean found = scanner.seekBefore(key);
    check(found == (before != null), "seekBefore " + key + " is " + found);
    // With compressed tags HBase gives such a cell the tags of the next one: keys are compared.
    check(
        !found || before.hasKeyOf(scanner.getCell()),
        "seekBefore " + key + " stands on " + (found ? scanner.getCell() : "nothing"));
  }

  private int firstOf(KeyValue key, int at) {
    int first = at;
    while (first > 0 && cells.get(first - 1).hasKeyOf(key)) {
      first--;
    }
    return first;
  }

  private void checkReseeks() throws IOException, Mismatch {
    for (int step : new int[] {1, 2, 7, 40}) {
      try (HFileScanner scanner = scanner()) {
        check(scanner.seekTo(), "no first cell");
        for (int at = 0; at < cells.size(); at += Math.max(step, cells.size() / 300)) {
          KeyValue key = cells.get(at).key();
          if (firstOf(key, at) != at) {
            continue;
          }
          check(scanner.reseekTo(key) == 0, "reseekTo does not find " + key);
          check(cells.get(at).is(scanner.getCell()), "reseekTo: " + scanner.getCell());
        }
      }
    }
  }

  /** From row to row, as a reverse scan goes. */
  private void checkReverseScan() throws IOException, Mismatch {
    try (StoreFileScanner scanner =
        reader.getStoreFileScanner(false, true, false, Long.MAX_VALUE, 0, false)) {
      boolean more = scanner.seekToLastRow();
      for (int at = cells.size() - 1; at >= 0; at--) {
        ExpectedCell cell = cells.get(at);
        if (at > 0 && cell.isRow(cells.get(at - 1))) {
          continue;
        }
        check(more, "the reverse scan ends before " + cell);
        check(cell.hasKeyOf(scanner.peek()), "reverse: " + scanner.peek() + ", not " + cell);
        more = scanner.seekToPreviousRow(scanner.peek());
      }
      check(!more, "the reverse scan goes on before the first row");
    }
  }

  private void checkFilters() throws Mismatch {
    int absent = 0;
    int refused = 0;
    for (ExpectedCell cell : cells) {
      byte[] row = cell.row();
      check(BloomQuestions.mayHoldRow(reader, row), "the filter denies row " + cell);
      check(
          BloomQuestions.mayHoldColumn(reader, row, cell.family(), cell.qualifier()),
          "the filter denies " + cell);
      if (cell.type() == KeyValue.Type.DeleteFamily.getCode()
          || cell.type() == KeyValue.Type.DeleteFamilyVersion.getCode()) {
        check(
            reader.passesDeleteFamilyBloomFilter(row, 0, row.length),
            "the filter of family deletes denies " + cell);
      }
      byte[] other = Bytes.add(Bytes.toBytes("~"), row);
      absent++;
      refused +=
          BloomQuestions.mayHoldColumn(reader, other, cell.family(), cell.qualifier()) ? 0 : 1;
    }
    boolean refusesMost = refused * 10 >= absent * 9;
    check(
        refusesMost == !settings.bloom().equals("NONE"),
        "the filter refuses " + refused + " of " + absent + " absent rows");
  }
}
