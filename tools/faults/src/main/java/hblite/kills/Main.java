package hblite.kills;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/**
 * Kills a server repeatedly while threads of an unmodified client write to it. After every
 * kill, every acknowledged write must be there exactly once.
 */
public final class Main {
  private static final TableName NAME = TableName.valueOf("kills");
  private static final int WRITERS = 4;
  /** Kills between two runs of check. */
  private static final int CHECK_PERIOD = 10;
  private static final String[] WORK =
      {"nothing", "flush", "compaction", "major compaction", "split", "checkpoint", "snapshot"};

  private final Server server;
  private final Random random;
  private final ReentrantReadWriteLock turn = new ReentrantReadWriteLock(true);
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final ExecutorService administration = Executors.newCachedThreadPool(work -> {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  });
  private final List<Writer> writers = new ArrayList<>();
  private final long[] killsDuring = new long[WORK.length];
  private long killsOfStart;
  private long checks;
  private long verified;
  private int snapshots;

  private Main(Server server, long seed) {
    this.server = server;
    this.random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 4) {
      throw new IllegalArgumentException("hblite, a directory, kills, seed");
    }
    int kills = Integer.parseInt(arguments[2]);
    long seed = Long.parseLong(arguments[3]);
    PrintStream errors = System.err;
    // The client prints a trace for calls that it does not repeat.
    System.setErr(new PrintStream(OutputStream.nullOutputStream()));
    try (Server server = new Server(arguments[0], Path.of(arguments[1]))) {
      server.start();
      server.awaitStart();
      Main main = new Main(server, seed);
      try (Connection connection = connect(server, 200, 60_000);
          Connection once = connect(server, 0, 2_000)) {
        main.run(connection, once, kills, seed);
      }
    } catch (Throwable failure) {
      failure.printStackTrace(errors);
      System.exit(1);
    }
    System.exit(0);
  }

  private static Connection connect(Server server, int retries, int limit) throws Exception {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set("hbase.client.registry.impl",
        "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    configuration.set("hbase.client.bootstrap.servers", "127.0.0.1:" + server.rpcPort());
    configuration.setInt("hbase.client.pause", 5);
    configuration.setInt("hbase.client.pause.server.overloaded", 10);
    configuration.setInt("hbase.client.retries.number", retries);
    configuration.setInt("hbase.rpc.timeout", Math.min(limit, 5_000));
    configuration.setInt("hbase.client.operation.timeout", limit);
    configuration.setInt("hbase.client.scanner.timeout.period", limit);
    // Retry a dead server immediately.
    configuration.setInt("hbase.ipc.client.failed.servers.expiry", 1);
    return ConnectionFactory.createConnection(configuration);
  }

  private void run(Connection connection, Connection once, int kills, long seed) throws Exception {
    try (var admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(Writer.F))
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(Writer.G))
              .build(),
          new byte[][] {Writer.bytes("w1"), Writer.bytes("w3")});
    }
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> work = new ArrayList<>();
    for (int number = 0; number < WRITERS; number++) {
      Writer writer = new Writer(number, connection, NAME, seed, turn, isOver);
      writers.add(writer);
      work.add(threads.submit(writer));
    }
    long began = System.nanoTime();
    for (int kill = 1; kill <= kills; kill++) {
      long before = acknowledged();
      Thread.sleep(20 + random.nextInt(150));
      disturb(once);
      server.kill();
      if (kill % CHECK_PERIOD == 0) {
        server.check();
        checks++;
      }
      server.start();
      if (random.nextInt(8) == 0) {
        // Another one while the store is being opened.
        Thread.sleep(random.nextInt(25));
        server.kill();
        killsOfStart++;
        kill++;
        server.start();
      }
      server.awaitStart();
      verify();
      if (kill % 100 < 2) {
        System.out.printf("%d kills, %d writes acknowledged, %d since the kill before, %d failed%n",
            kill, acknowledged(), acknowledged() - before, failed());
      }
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    isOver.set(true);
    for (Future<?> one : work) {
      one.get();
    }
    threads.shutdown();
    verify();
    server.kill();
    server.check();
    report(kills, seconds);
  }

  /** Begins work that the kill may interrupt, after a random time. */
  private void disturb(Connection once) throws Exception {
    int work = random.nextInt(WORK.length);
    killsDuring[work]++;
    int place = random.nextInt(100);
    int snapshot = snapshots++;
    administration.submit(() -> {
      try (var admin = once.getAdmin()) {
        switch (work) {
          case 1 -> admin.flush(NAME);
          case 2 -> admin.compact(NAME);
          case 3 -> admin.majorCompact(NAME);
          case 4 -> {
            List<String> regions = server.regions();
            if (!regions.isEmpty() && regions.size() < 12) {
              server.post("/regions/" + regions.get(place % regions.size()) + "/split", "{}");
            }
          }
          case 5 -> server.post("/checkpoints", "{\"name\":\"here\"}");
          case 6 -> admin.snapshot("s" + snapshot % 20, NAME);
          default -> { }
        }
      } catch (Exception expected) {
        // The server was killed meanwhile.
      }
      return null;
    });
    // From the start of the work to a short time after its end.
    Thread.sleep(random.nextInt(random.nextInt(4) == 0 ? 60 : 12));
  }

  /** Once no write is in progress, all rows must be in a state that the writers expect. */
  private void verify() throws Exception {
    if (!turn.writeLock().tryLock(120, TimeUnit.SECONDS)) {
      throw new AssertionError("a write has not ended for two minutes");
    }
    try {
      for (Writer writer : writers) {
        if (writer.failure != null) {
          throw new AssertionError("a writer failed", writer.failure);
        }
        verified += writer.verify();
      }
    } finally {
      turn.writeLock().unlock();
    }
  }

  private long acknowledged() {
    return writers.stream().mapToLong(writer -> writer.acknowledgedWrites).sum();
  }

  private long failed() {
    return writers.stream().mapToLong(writer -> writer.failedWrites).sum();
  }

  private void print(String title, Function<Writer, long[]> counts) {
    System.out.print(title);
    for (int kind = 0; kind < Writer.KINDS.length; kind++) {
      int at = kind;
      long sum = writers.stream().mapToLong(writer -> counts.apply(writer)[at]).sum();
      System.out.printf(" %d %s%s", sum, Writer.KINDS[kind], kind + 1 < Writer.KINDS.length ? "," : "\n");
    }
  }

  private void report(int kills, double seconds) {
    System.out.printf("%d kills in %.1f s, %d of them while the store was opened; check found no defect %d times%n",
        kills, seconds, killsOfStart, checks + 1);
    System.out.print("begun just before the kill:");
    for (int work = 0; work < WORK.length; work++) {
      System.out.printf(" %d %s%s", killsDuring[work], WORK[work], work + 1 < WORK.length ? "," : "\n");
    }
    print("acknowledged calls:", writer -> writer.acknowledged);
    print("failed calls:", writer -> writer.failed);
    System.out.printf("%d acknowledged writes, %d calls failed, %d rows verified: none lost, none twice%n",
        acknowledged(), failed(), verified);
  }
}
