package hblite.embedded;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.MetricsConnection;
import org.apache.hadoop.hbase.codec.Codec;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.ipc.RpcClient;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.ConnectionHeader;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.UserInformation;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.VersionInfo;
import org.apache.hbase.thirdparty.com.google.protobuf.BlockingRpcChannel;
import org.apache.hbase.thirdparty.com.google.protobuf.RpcChannel;

/**
 * Passes the calls of HBase's client to a store in this process. HBase creates it by its name, once
 * or several times for each connection.
 */
public final class EmbeddedRpcClient implements RpcClient {
  /** The setting with the number of the store. */
  static final String STORE = "hblite.embedded.store";

  private static final int THREADS = 16;
  private static final AtomicInteger THREAD_NUMBER = new AtomicInteger();

  /** For asynchronous calls that may take long. Its threads end when they are idle. */
  static final ThreadPoolExecutor POOL = pool();

  private final long store;
  private final Codec codec;

  /** Channels of the native library, by port, service and user. */
  private final ConcurrentMap<String, Long> handles = new ConcurrentHashMap<>();

  private volatile boolean isClosed;

  /** For HBase 2.4 and 2.5. */
  public EmbeddedRpcClient(
      Configuration configuration,
      String clusterId,
      SocketAddress localAddress,
      MetricsConnection metrics)
      throws IOException {
    String number = configuration.get(STORE);
    if (number == null) {
      throw new IOException("use the configuration of an EmbeddedHBlite: " + STORE + " is not set");
    }
    store = Long.parseLong(number);
    codec = codecOf(configuration);
  }

  /** For HBase 2.6 and later. */
  public EmbeddedRpcClient(
      Configuration configuration,
      String clusterId,
      SocketAddress localAddress,
      MetricsConnection metrics,
      Map<String, byte[]> attributes)
      throws IOException {
    this(configuration, clusterId, localAddress, metrics);
  }

  private static ThreadPoolExecutor pool() {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "hblite-call-" + THREAD_NUMBER.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** The codec for cells, as HBase's own clients choose it; null for none. */
  private static Codec codecOf(Configuration configuration) throws IOException {
    String standard =
        configuration.get(DEFAULT_CODEC_CLASS, KeyValueCodec.class.getCanonicalName());
    String name = configuration.get("hbase.client.rpc.codec", standard);
    if (name == null || name.isEmpty()) {
      return null;
    }
    try {
      return (Codec) Class.forName(name).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IOException("the codec " + name + " cannot be used", e);
    }
  }

  Codec codec() {
    return codec;
  }

  /** The channel of the native library, opened by its first call. */
  long handle(ServerName server, String service, User user) throws IOException {
    String key = server.getPort() + "/" + service + "/" + user.getName();
    Long handle = handles.get(key);
    if (handle != null) {
      return handle;
    }
    synchronized (handles) {
      if (isClosed) {
        throw new IOException("the RPC client is closed");
      }
      handle = handles.get(key);
      if (handle == null) {
        handle = Native.connect(store, server.getPort(), header(service, user));
        handles.put(key, handle);
      }
      return handle;
    }
  }

  private byte[] header(String service, User user) {
    ConnectionHeader.Builder header = ConnectionHeader.newBuilder().setServiceName(service);
    header.setUserInfo(UserInformation.newBuilder().setEffectiveUser(user.getName()));
    header.setVersionInfo(version());
    if (codec != null) {
      header.setCellBlockCodecClass(codec.getClass().getCanonicalName());
    }
    return header.build().toByteArray();
  }

  private static VersionInfo version() {
    String version = org.apache.hadoop.hbase.util.VersionInfo.getVersion();
    String[] parts = version.split("[.-]");
    return VersionInfo.newBuilder()
        .setVersion(version)
        .setUrl("")
        .setRevision("")
        .setUser("")
        .setDate("")
        .setSrcChecksum("")
        .setVersionMajor(Integer.parseInt(parts[0]))
        .setVersionMinor(Integer.parseInt(parts[1]))
        .build();
  }

  @Override
  public BlockingRpcChannel createBlockingRpcChannel(ServerName server, User user, int timeout) {
    return new EmbeddedChannel(this, server, user, timeout);
  }

  @Override
  public RpcChannel createRpcChannel(ServerName server, User user, int timeout) {
    return new EmbeddedChannel(this, server, user, timeout);
  }

  /** Does nothing: no call waits for a server that is gone. */
  @Override
  public void cancelConnections(ServerName server) {}

  /** Closes the channels. The store stays open. */
  @Override
  public void close() {
    synchronized (handles) {
      isClosed = true;
      handles.values().forEach(Native::disconnect);
      handles.clear();
    }
  }

  @Override
  public boolean hasCellBlockSupport() {
    return codec != null;
  }
}
