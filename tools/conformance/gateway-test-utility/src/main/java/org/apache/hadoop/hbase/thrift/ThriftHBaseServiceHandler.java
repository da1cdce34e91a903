package org.apache.hadoop.hbase.thrift;

import hblite.conformance.gateways.Gateways;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.security.UserProvider;
import org.apache.hadoop.hbase.thrift.generated.Hbase;

/** Replaces HBase's handler: a client of the cluster's gateway for Thrift 1. */
public class ThriftHBaseServiceHandler extends Hbase.Client {
  public ThriftHBaseServiceHandler(Configuration configuration, UserProvider users) {
    super(Gateways.THRIFT.connect(configuration));
  }
}
