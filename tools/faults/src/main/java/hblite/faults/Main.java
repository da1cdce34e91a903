package hblite.faults;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Increments, appends, puts, batches and scans of an unmodified client while calls fail, answers
 * are lost, regions move and split, and servers die. At the end nothing may be lost or duplicated.
 */
public final class Main {
  private static final TableName NAME = TableName.valueOf("faults");
  private static final byte[] F = bytes("f");
  private static final byte[] Q = bytes("q");
  private static final int COUNTERS = 8;
  private static final String[] FAULTS = {
    "{\"error\":\"NotServingRegionException\",\"rate\":0.05,\"methods\":[\"Get\",\"Multi\",\"Scan\"]}",
    "{\"error\":\"RegionTooBusyException\",\"rate\":0.05,\"methods\":[\"Mutate\",\"Multi\"]}",
    "{\"error\":\"CallQueueTooBigException\",\"rate\":0.02,\"methods\":[\"Mutate\",\"Get\",\"Scan\"]}",
    "{\"drop\":\"after\",\"rate\":0.03,\"methods\":[\"Mutate\",\"Multi\"]}",
    "{\"drop\":\"after\",\"rate\":0.03,\"methods\":[\"Scan\"]}",
    "{\"drop\":\"before\",\"rate\":0.02,\"methods\":[\"Mutate\",\"Multi\",\"Get\"]}",
    "{\"delay_ms\":[1,30],\"rate\":0.05}",
  };

  private final Connection connection;
  private final Http http;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicLong[] increments = longs();
  private final AtomicLong[] appends = longs();
  /** The rows of writer n that exist: all up to this one. */
  private final AtomicLong[] puts = longs();

  private Main(Connection connection, Http http) {
    this.connection = connection;
    this.http = http;
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 4) {
      throw new IllegalArgumentException("ZooKeeper's port, HTTP port, seconds, seed");
    }
    Configuration configuration = HBaseConfiguration.create();
    configuration.set("hbase.zookeeper.quorum", "127.0.0.1");
    configuration.set("hbase.zookeeper.property.clientPort", arguments[0]);
    configuration.setInt("hbase.client.pause", 20);
    configuration.setInt("hbase.client.pause.server.overloaded", 50);
    configuration.setInt("hbase.client.retries.number", 200);
    configuration.setInt("hbase.rpc.timeout", 5_000);
    configuration.setInt("hbase.client.operation.timeout", 120_000);
    configuration.setInt("hbase.client.scanner.timeout.period", 120_000);
    // Retry a dead server immediately.
    configuration.setInt("hbase.ipc.client.failed.servers.expiry", 50);
    Http http = new Http("http://127.0.0.1:" + arguments[1]);
    try (Connection connection = ConnectionFactory.createConnection(configuration)) {
      new Main(connection, http).run(Integer.parseInt(arguments[2]), Long.parseLong(arguments[3]));
    }
  }

  private void run(int seconds, long seed) throws Exception {
    try (var admin = connection.getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
              .build(),
          new byte[][] {bytes("c3"), bytes("p1"), bytes("p3")});
    }
    for (int fault = 0; fault < FAULTS.length; fault++) {
      String rule = FAULTS[fault];
      String seeded = rule.substring(0, rule.length() - 1) + ",\"seed\":" + (seed + fault) + "}";
      http.post("/faults", seeded);
    }
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<Void>> work = new ArrayList<>();
    for (int writer = 0; writer < 4; writer++) {
      int number = writer;
      work.add(threads.submit(until(() -> count(number))));
      work.add(threads.submit(until(() -> put(number))));
    }
    AtomicLong scans = new AtomicLong();
    work.add(threads.submit(until(() -> {
      scan();
      scans.incrementAndGet();
    })));
    Random random = new Random(seed);
    AtomicLong crashes = new AtomicLong();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (System.nanoTime() < end && work.stream().noneMatch(Future::isDone)) {
      disturb(random, crashes);
      Thread.sleep(200);
    }
    isOver.set(true);
    List<String> happened = http.faults();
    http.delete("/faults");
    for (Future<Void> one : work) {
      one.get();
    }
    threads.shutdown();
    verify();
    System.out.printf(
        "nothing lost or duplicated: %d increments, %d appends, %d rows, %d scans, %d crashes, faults %s%n",
        sum(increments), sum(appends), sum(puts), scans.get(), crashes.get(), happened);
  }

  private interface Work {
    void run() throws Exception;
  }

  private Callable<Void> until(Work work) {
    return () -> {
      while (!isOver.get()) {
        work.run();
      }
      return null;
    };
  }

  private void disturb(Random random, AtomicLong crashes) throws Exception {
    List<String> regions = http.regions();
    String region = regions.get(random.nextInt(regions.size()));
    int server = random.nextInt(3);
    switch (random.nextInt(5)) {
      case 0 -> http.post("/regions/" + region + "/move", "{\"server\":" + server + "}");
      case 1 -> {
        if (regions.size() < 12) {
          http.tryPost("/regions/" + region + "/split", "{}");
        }
      }
      case 2 -> {
        http.post("/servers/" + server + "/crash", "{\"reassign_after_ms\":" + random.nextInt(300) + "}");
        crashes.incrementAndGet();
        Thread.sleep(random.nextInt(400));
        http.post("/servers/" + server + "/restart", "{}");
      }
      case 3 -> {
        http.post("/regions/" + region + "/unassign", "{}");
        Thread.sleep(random.nextInt(200));
        http.post("/regions/" + region + "/assign", "{}");
      }
      default -> Thread.sleep(random.nextInt(200));
    }
  }

  private void count(int writer) throws IOException {
    Random random = new Random();
    int counter = random.nextInt(COUNTERS);
    try (Table table = connection.getTable(NAME)) {
      if (random.nextBoolean()) {
        table.increment(new Increment(bytes("c" + counter)).addColumn(F, Q, 1));
        increments[counter].incrementAndGet();
      } else {
        table.append(new Append(bytes("a" + counter)).addColumn(F, Q, bytes("x")));
        appends[counter].incrementAndGet();
      }
    }
  }

  /** One row, or ten in a batch. */
  private void put(int writer) throws IOException {
    long first = puts[writer].get();
    int count = first % 3 == 0 ? 1 : 10;
    try (Table table = connection.getTable(NAME)) {
      List<Put> rows = new ArrayList<>();
      for (long row = first; row < first + count; row++) {
        rows.add(new Put(row(writer, row)).addColumn(F, Q, Bytes.toBytes(row)));
      }
      if (count == 1) {
        table.put(rows.get(0));
      } else {
        table.put(rows);
      }
      puts[writer].set(first + count);
      Result found = table.get(new Get(row(writer, first)));
      check(Bytes.toLong(found.getValue(F, Q)) == first, "row %d of %d was read as %s", first, writer, found);
    }
  }

  private static byte[] row(int writer, long row) {
    return bytes("p%d-%08d".formatted(writer, row));
  }

  private void scan() throws IOException {
    long[] least = new long[puts.length];
    for (int writer = 0; writer < least.length; writer++) {
      least[writer] = puts[writer].get();
    }
    long[] found = new long[puts.length];
    byte[] last = {};
    Scan scan = new Scan().withStartRow(bytes("p")).setCaching(50);
    try (Table table = connection.getTable(NAME);
        ResultScanner scanner = table.getScanner(scan)) {
      for (Result row : scanner) {
        check(Bytes.compareTo(last, row.getRow()) < 0, "%s after %s", row, Bytes.toString(last));
        last = row.getRow();
        found[last[1] - '0']++;
      }
    }
    for (int writer = 0; writer < least.length; writer++) {
      check(found[writer] >= least[writer], "%d rows of %d", found[writer], least[writer]);
    }
  }

  private void verify() throws IOException {
    scan();
    try (Table table = connection.getTable(NAME)) {
      for (int counter = 0; counter < COUNTERS; counter++) {
        byte[] value = table.get(new Get(bytes("c" + counter))).getValue(F, Q);
        long incremented = value == null ? 0 : Bytes.toLong(value);
        check(incremented == increments[counter].get(), "counter %d is %d instead of %d", counter,
            incremented, increments[counter].get());
        byte[] text = table.get(new Get(bytes("a" + counter))).getValue(F, Q);
        long appended = text == null ? 0 : text.length;
        check(appended == appends[counter].get(), "text %d has %d instead of %d", counter, appended,
            appends[counter].get());
      }
    }
  }

  private static void check(boolean holds, String message, Object... arguments) {
    if (!holds) {
      throw new AssertionError(message.formatted(arguments));
    }
  }

  private static AtomicLong[] longs() {
    AtomicLong[] all = new AtomicLong[COUNTERS];
    for (int index = 0; index < all.length; index++) {
      all[index] = new AtomicLong();
    }
    return all;
  }

  private static long sum(AtomicLong[] all) {
    long sum = 0;
    for (AtomicLong one : all) {
      sum += one.get();
    }
    return sum;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The server's admin endpoint. */
  private static final class Http {
    private static final Pattern REGION =
        Pattern.compile("\"encoded_name\":\"([0-9a-f]+)\"[^}]*\"table\":\"" + NAME + "\"");
    private static final Pattern HAPPENED = Pattern.compile("\"happened\":(\\d+)");
    private final HttpClient client = HttpClient.newHttpClient();
    private final String url;

    private Http(String url) {
      this.url = url;
    }

    private HttpResponse<String> send(String method, String path, String body) throws Exception {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url + path))
              .header("Content-Type", "application/json")
              .method(method, HttpRequest.BodyPublishers.ofString(body))
              .build();
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private void post(String path, String body) throws Exception {
      HttpResponse<String> response = send("POST", path, body);
      check(response.statusCode() == 200 || response.statusCode() == 404, "%s: %s", path, response.body());
    }

    private void tryPost(String path, String body) throws Exception {
      send("POST", path, body);
    }

    private void delete(String path) throws Exception {
      send("DELETE", path, "");
    }

    private List<String> regions() throws Exception {
      return all(REGION, send("GET", "/status", "").body());
    }

    private List<String> faults() throws Exception {
      return all(HAPPENED, send("GET", "/faults", "").body());
    }

    private static List<String> all(Pattern pattern, String text) {
      List<String> found = new ArrayList<>();
      Matcher matcher = pattern.matcher(text);
      while (matcher.find()) {
        found.add(matcher.group(1));
      }
      return found;
    }
  }
}
