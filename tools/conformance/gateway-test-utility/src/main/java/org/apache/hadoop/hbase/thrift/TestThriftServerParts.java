package org.apache.hadoop.hbase.thrift;

import org.junit.Ignore;
import org.junit.Test;

/**
 * The parts of HBase's test of Thrift 1, which that runs as a single test, as one test each.
 *
 * <p>Two are omitted. One looks into the handler for its queue of increments; the other registers
 * filters in the server's process.
 */
public class TestThriftServerParts extends TestThriftServer {
  @Test
  @Ignore("its parts are the tests of this class")
  @Override
  public void testAll() {
    throw new UnsupportedOperationException();
  }

  @Test
  public void tableCreateDrop() throws Exception {
    doTestTableCreateDrop();
  }

  @Test
  public void thriftMetrics() throws Exception {
    doTestThriftMetrics();
  }

  @Test
  public void tableMutations() throws Exception {
    doTestTableMutations();
  }

  @Test
  public void tableTimestampsAndColumns() throws Exception {
    doTestTableTimestampsAndColumns();
  }

  @Test
  public void tableScanners() throws Exception {
    doTestTableScanners();
  }

  @Test
  public void getTableRegions() throws Exception {
    doTestGetTableRegions();
  }

  @Test
  public void getRegionInfo() throws Exception {
    doTestGetRegionInfo();
  }

  @Test
  public void append() throws Exception {
    doTestAppend();
  }

  @Test
  public void checkAndPut() throws Exception {
    doTestCheckAndPut();
  }
}
