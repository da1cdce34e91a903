package hblite.conformance.tests;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doNothing;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.MasterFileSystem;
import org.apache.hadoop.hbase.master.cleaner.HFileCleaner;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RSRpcServices;
import org.apache.hadoop.hbase.util.JVMClusterUtil.RegionServerThread;
import org.mockito.invocation.InvocationOnMock;
import org.mockito.stubbing.Answer;

/**
 * Objects that represent servers in another process. They do what a client can request; everything
 * else skips the test.
 */
public final class RemoteServers {
  private final Configuration configuration;
  private final AdminSupplier admins;

  /** The source of a connection's admin. */
  public interface AdminSupplier {
    Admin get() throws IOException;
  }

  public RemoteServers(Configuration configuration, AdminSupplier admins) {
    this.configuration = configuration;
    this.admins = admins;
  }

  private static Object refuse(InvocationOnMock call) {
    String type = call.getMethod().getDeclaringClass().getSimpleName();
    if (call.getMethod().getName().equals("toString")) {
      return type + " in another process";
    }
    throw OtherProcess.has(type + "." + call.getMethod().getName());
  }

  private static <T> T refusing(Class<T> type) {
    return mock(type, (Answer<?>) RemoteServers::refuse);
  }

  private interface Question<T> {
    T ask(Admin admin) throws IOException;
  }

  private <T> Answer<T> answer(Question<T> question) {
    return call -> {
      try (Admin admin = admins.get()) {
        return question.ask(admin);
      }
    };
  }

  /** The active master. */
  public HMaster master() throws IOException {
    Path root = new Path(configuration.get(HConstants.HBASE_DIR));
    FileSystem fileSystem = root.getFileSystem(configuration);
    MasterFileSystem files = refusing(MasterFileSystem.class);
    doReturn(root).when(files).getRootDir();
    doReturn(fileSystem).when(files).getFileSystem();
    // There are no files that only a cleaner removes.
    HFileCleaner cleaner = refusing(HFileCleaner.class);
    doNothing().when(cleaner).choreForTesting();
    HMaster master = refusing(HMaster.class);
    doReturn(files).when(master).getMasterFileSystem();
    doReturn(cleaner).when(master).getHFileCleaner();
    doReturn(true).when(master).isInitialized();
    doAnswer(answer(Admin::getMaster)).when(master).getServerName();
    doAnswer(answer(Admin::getClusterMetrics)).when(master).getClusterMetrics();
    doAnswer(answer(RemoteServers::balance)).when(master).balance();
    return master;
  }

  /** Returns what a master's {@code balance()} does. HBase 2.4 has no {@code BalanceRequest}. */
  private static Object balance(Admin admin) throws IOException {
    try {
      Class<?> type = Class.forName("org.apache.hadoop.hbase.client.BalanceRequest");
      Object request = type.getMethod("defaultInstance").invoke(null);
      return Admin.class.getMethod("balance", type).invoke(admin, request);
    } catch (ClassNotFoundException e) {
      return admin.balance();
    } catch (ReflectiveOperationException e) {
      throw new IOException("the balancer was not run", e);
    }
  }

  /** The live region servers, each in a thread that does nothing. */
  public List<RegionServerThread> regionServers() throws IOException {
    List<RegionServerThread> threads = new ArrayList<>();
    try (Admin admin = admins.get()) {
      for (ServerName name : admin.getRegionServers()) {
        threads.add(new RegionServerThread(regionServer(name), threads.size()));
      }
    }
    return threads;
  }

  private HRegionServer regionServer(ServerName name) {
    HRegionServer server = refusing(HRegionServer.class);
    doReturn(name).when(server).getServerName();
    RSRpcServices services = refusing(RSRpcServices.class);
    Answer<Integer> scanners = call -> Endpoint.of(configuration).scanners();
    doAnswer(scanners).when(services).getScannersCount();
    doReturn(services).when(server).getRSRpcServices();
    Answer<Void> crash = call -> crash(name);
    doAnswer(crash).when(server).abort(any());
    doAnswer(crash).when(server).abort(any(), any());
    return server;
  }

  private Void crash(ServerName name) throws IOException {
    stop(name);
    return null;
  }

  /** Stops a region server; the others get its regions at once. */
  public void stop(ServerName name) throws IOException {
    Endpoint.of(configuration).crash(name.getPort());
  }

  /** Starts one of the region servers that were stopped again, at this port if it is not 0. */
  public RegionServerThread start(int port) throws IOException {
    OptionalInt started =
        Endpoint.of(configuration).restartOne(each -> port == 0 || each == port);
    if (started.isEmpty()) {
      throw OtherProcess.has("a region server beyond those it was started with");
    }
    for (RegionServerThread thread : regionServers()) {
      if (thread.getRegionServer().getServerName().getPort() == started.getAsInt()) {
        return thread;
      }
    }
    throw new IOException("the region server at port " + started.getAsInt() + " did not start");
  }

  /** Restarts the dead region servers. Returns whether there were any. */
  public boolean restartDead() throws IOException {
    return Endpoint.of(configuration).restartDead();
  }
}
