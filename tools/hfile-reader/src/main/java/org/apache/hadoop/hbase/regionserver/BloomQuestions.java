package org.apache.hadoop.hbase.regionserver;

import java.util.TreeSet;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Asks a store file's Bloom filter as a region server does. In HBase's package, because the
 * method is not public.
 */
public final class BloomQuestions {
  private BloomQuestions() {}

  /** Whether a Get of the whole row looks into the file. */
  public static boolean mayHoldRow(StoreFileReader reader, byte[] row) {
    return reader.passesBloomFilter(new Scan(new Get(row)), null);
  }

  /** Whether a Get of one column looks into the file. */
  public static boolean mayHoldColumn(
      StoreFileReader reader, byte[] row, byte[] family, byte[] qualifier) {
    Scan scan = new Scan(new Get(row).addColumn(family, qualifier));
    TreeSet<byte[]> columns = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    columns.add(qualifier);
    return reader.passesBloomFilter(scan, columns);
  }
}
