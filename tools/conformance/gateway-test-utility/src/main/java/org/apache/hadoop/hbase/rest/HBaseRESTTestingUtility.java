package org.apache.hadoop.hbase.rest;

import hblite.conformance.gateways.Gateways;
import org.apache.hadoop.conf.Configuration;

/** Replaces HBase's: its server is the REST gateway of the test's cluster. */
public class HBaseRESTTestingUtility {
  private int port;

  public int getServletPort() {
    return port;
  }

  public void startServletContainer(Configuration configuration) {
    port = Gateways.REST.port(configuration);
  }

  public void shutdownServletContainer() {
    // The gateway ends with the cluster.
    port = 0;
  }
}
