package hblite.conformance.gateways;

import org.apache.hadoop.conf.Configuration;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;

/** The ports of the gateways of a test's cluster. */
public enum Gateways {
  THRIFT,
  THRIFT2,
  REST;

  /** The address on which all of them listen. */
  public static final String ADDRESS = "127.0.0.1";

  /** The gateway's port, which the cluster's utility wrote into the test's settings. */
  public int port(Configuration configuration) {
    String name = "hblite.tests." + name().toLowerCase() + ".port";
    int port = configuration.getInt(name, 0);
    if (port == 0) {
      throw new IllegalStateException("the cluster has no " + name);
    }
    return port;
  }

  /** A connection of its own, as unframed binary Thrift. */
  public TProtocol connect(Configuration configuration) {
    try {
      TSocket socket = new TSocket(ADDRESS, port(configuration));
      socket.open();
      return new TBinaryProtocol(socket);
    } catch (TTransportException e) {
      throw new IllegalStateException(this + " does not answer", e);
    }
  }
}
