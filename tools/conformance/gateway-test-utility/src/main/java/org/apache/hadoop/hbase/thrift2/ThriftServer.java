package org.apache.hadoop.hbase.thrift2;

import hblite.conformance.gateways.Gateways;
import org.apache.hadoop.conf.Configuration;

/** Replaces HBase's server for Thrift 2. */
public class ThriftServer extends org.apache.hadoop.hbase.thrift.ThriftServer {
  public ThriftServer(Configuration configuration) {
    super(configuration, Gateways.THRIFT2);
  }
}
