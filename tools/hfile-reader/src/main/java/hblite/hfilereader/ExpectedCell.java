package hblite.hfilereader;

import java.util.Arrays;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ExtendedCell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;

/** A cell as a description has it. */
record ExpectedCell(
    byte[] row,
    byte[] family,
    byte[] qualifier,
    long timestamp,
    byte type,
    byte[] value,
    byte[] tags,
    long mvcc) {

  ExpectedCell keeping(boolean keepsTags, boolean keepsMvcc) {
    byte[] keptTags = keepsTags ? tags : new byte[0];
    long keptMvcc = keepsMvcc ? mvcc : 0;
    return new ExpectedCell(row, family, qualifier, timestamp, type, value, keptTags, keptMvcc);
  }

  /** Its key, to seek for. */
  KeyValue key() {
    return new KeyValue(
        row, family, qualifier, timestamp, KeyValue.Type.codeToType(type), new byte[0]);
  }

  boolean isRow(ExpectedCell other) {
    return other != null && Arrays.equals(row, other.row);
  }

  boolean hasKeyOf(Cell cell) {
    return Arrays.equals(CellUtil.cloneRow(cell), row)
        && CellUtil.matchingColumn(cell, family, qualifier)
        && cell.getTimestamp() == timestamp
        && ((ExtendedCell) cell).getTypeByte() == type;
  }

  boolean is(Cell cell) {
    return hasKeyOf(cell)
        && Arrays.equals(CellUtil.cloneValue(cell), value)
        && Arrays.equals(PrivateCellUtil.cloneTags(cell), tags)
        && ((ExtendedCell) cell).getSequenceId() == mvcc;
  }

  @Override
  public String toString() {
    return key() + "/vlen=" + value.length + "/tags=" + tags.length + "/mvcc=" + mvcc;
  }
}
