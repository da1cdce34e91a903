package org.apache.hadoop.hbase.thrift2;

import hblite.conformance.gateways.Gateways;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.security.UserProvider;
import org.apache.hadoop.hbase.thrift2.generated.THBaseService;

/** Stands in the place of HBase's handler: a client of the cluster's gateway for Thrift 2. */
public class ThriftHBaseServiceHandler extends THBaseService.Client {
  public ThriftHBaseServiceHandler(Configuration configuration, UserProvider users) {
    super(Gateways.THRIFT2.connect(configuration));
  }
}
