package org.apache.hadoop.hbase.thrift;

import hblite.conformance.gateways.Forwarder;
import hblite.conformance.gateways.Gateways;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hbase.thirdparty.org.eclipse.jetty.server.Server;
import org.apache.thrift.server.TServer;
import org.objenesis.ObjenesisStd;

/**
 * Replaces HBase's server: forwards what arrives on its port to the cluster's
 * gateway, and shows an object of the class that the test expects.
 */
public class ThriftServer {
  private static final int PORT_DEFAULT = 9090;

  protected int listenPort;
  protected volatile TServer tserver;
  private final Configuration configuration;
  private final Gateways gateway;
  private final CountDownLatch isStopped = new CountDownLatch(1);
  private volatile Server httpServer;
  private Forwarder forwarder;

  public ThriftServer(Configuration configuration) {
    this(configuration, Gateways.THRIFT);
  }

  protected ThriftServer(Configuration configuration, Gateways gateway) {
    this.configuration = configuration;
    this.gateway = gateway;
  }

  public TServer getTserver() {
    return tserver;
  }

  public Server getHttpServer() {
    return httpServer;
  }

  public int run() throws Exception {
    return run(new String[0]);
  }

  /** Serves until it is stopped, with the options of {@code hbase thrift}. */
  public int run(String[] arguments) throws Exception {
    List<String> options = Arrays.asList(arguments);
    int at = options.indexOf("-" + Constants.PORT_OPTION);
    listenPort =
        at >= 0
            ? Integer.parseInt(options.get(at + 1))
            : configuration.getInt(Constants.PORT_CONF_KEY, PORT_DEFAULT);
    forwarder = new Forwarder(listenPort, gateway.port(configuration));
    if (configuration.getBoolean(Constants.USE_HTTP_CONF_KEY, false)) {
      httpServer = new Server();
    } else {
      tserver = new ObjenesisStd().newInstance(serverClass(options));
    }
    isStopped.await();
    return 0;
  }

  private static Class<? extends TServer> serverClass(List<String> options) {
    for (ImplType type : ImplType.values()) {
      if (options.contains(type.toString())) {
        return type.serverClass;
      }
    }
    return ImplType.THREAD_POOL.serverClass;
  }

  public void stop() {
    isStopped.countDown();
    if (forwarder != null) {
      forwarder.close();
    }
  }
}
