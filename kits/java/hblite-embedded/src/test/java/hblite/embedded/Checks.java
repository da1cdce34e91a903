package hblite.embedded;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.util.Bytes;

/** Uses a store in this process as programs do. Its arguments: an empty directory. */
public final class Checks {
  private static final byte[] F = bytes("f");
  private static final byte[] Q = bytes("q");
  private static final TableName NAME = TableName.valueOf("t");

  private static int passed;

  private Checks() {}

  public static void main(String[] arguments) {
    int status = 1;
    try {
      check(Paths.get(arguments[0], "store"));
      status = 0;
    } catch (Throwable e) {
      e.printStackTrace();
    }
    // Some releases leave threads that would keep the JVM alive.
    System.exit(status);
  }

  private static void check(Path directory) throws Exception {
    try (EmbeddedHBlite store = EmbeddedHBlite.open(directory)) {
      fails(StoreLockedException.class, () -> EmbeddedHBlite.open(directory));
      Configuration configuration = store.configuration();
      try (Connection connection = ConnectionFactory.createConnection(configuration)) {
        uses(connection);
      }
      asynchronous(configuration);
    }
    try (EmbeddedHBlite store = EmbeddedHBlite.inMemory();
        Connection connection = store.connect()) {
      uses(connection);
    }
    reopens(directory);
    twoStores();
    opensOften();
    inAnotherClassLoader();
    System.out.println(passed + " checks passed");
  }

  private static void uses(Connection connection) throws Exception {
    createsAndDescribes(connection);
    readsAndWrites(connection);
    readsMuch(connection);
    serverSideOperations(connection);
    failsAsHBase(connection);
    buffers(connection);
    threads(connection);
  }

  private static void createsAndDescribes(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      create(admin, NAME, bytes("b"), bytes("c"), bytes("d"));
      equal(4, admin.getRegions(NAME).size());
      equal(true, admin.tableExists(NAME));
      equal("[t]", Arrays.toString(admin.listTableNames()));
      equal(1, admin.getDescriptor(NAME).getColumnFamilyCount());
      admin.flush(NAME);
      admin.snapshot("s", NAME);
      equal(1, admin.listSnapshots().size());
      admin.disableTable(NAME);
      equal(true, admin.isTableDisabled(NAME));
      admin.enableTable(NAME);
      TableName other = TableName.valueOf("other");
      create(admin, other);
      admin.disableTable(other);
      admin.deleteTable(other);
      equal(false, admin.tableExists(other));
      equal(true, admin.getClusterMetrics().getLiveServerMetrics().size() == 1);
    }
  }

  private static void readsAndWrites(Connection connection) throws IOException {
    try (Table table = connection.getTable(NAME)) {
      table.put(new Put(bytes("a1")).addColumn(F, Q, bytes("v")));
      equal("v", value(table.get(new Get(bytes("a1")))));
      equal(true, table.get(new Get(bytes("none"))).isEmpty());
      equal(true, table.exists(new Get(bytes("a1"))));
      table.delete(new Delete(bytes("a1")));
      equal(false, table.exists(new Get(bytes("a1"))));
      // Requests and answers beyond the buffer of a thread, and one that just fits it.
      for (int size : new int[] {1, 60_000, 65_300, 70_000, 5_000_000}) {
        byte[] large = new byte[size];
        Arrays.fill(large, (byte) size);
        table.put(new Put(bytes("large")).addColumn(F, Q, large));
        equal(true, Arrays.equals(large, table.get(new Get(bytes("large"))).getValue(F, Q)));
      }
      table.delete(new Delete(bytes("large")));
    }
  }

  private static void readsMuch(Connection connection) throws Exception {
    try (Table table = connection.getTable(NAME)) {
      List<Put> puts = new ArrayList<>();
      for (int row = 0; row < 4000; row++) {
        String key = "abcd".charAt(row % 4) + String.format("%05d", row);
        puts.add(new Put(bytes(key)).addColumn(F, Q, bytes("value " + row)));
      }
      table.put(puts);
      equal(4000, count(table, new Scan()));
      equal(4000, count(table, new Scan().setCaching(7)));
      equal(1000, count(table, new Scan().withStartRow(bytes("b")).withStopRow(bytes("c"))));
      equal(10, count(table, new Scan().setLimit(10)));
      equal(4000, count(table, new Scan().setReversed(true)));
      try (ResultScanner scanner = table.getScanner(new Scan().setReversed(true))) {
        equal("d03999", Bytes.toString(scanner.next().getRow()));
      }
      List<Get> gets = new ArrayList<>();
      for (int row = 0; row < 200; row++) {
        gets.add(new Get(puts.get(row).getRow()));
      }
      Result[] results = table.get(gets);
      equal(200, results.length);
      equal("value 199", value(results[199]));
      List<Row> batch =
          Arrays.asList(
              new Put(bytes("a-batch")).addColumn(F, Q, bytes("1")),
              new Get(puts.get(1).getRow()),
              new Delete(puts.get(2).getRow()));
      Object[] answers = new Object[3];
      table.batch(batch, answers);
      equal("value 1", value((Result) answers[1]));
      equal(4000, count(table, new Scan()));
    }
  }

  private static void serverSideOperations(Connection connection) throws IOException {
    try (Table table = connection.getTable(NAME)) {
      byte[] row = bytes("counter");
      equal(5L, table.incrementColumnValue(row, F, bytes("n"), 5));
      table.increment(new Increment(row).addColumn(F, bytes("n"), 2));
      equal(8L, table.incrementColumnValue(row, F, bytes("n"), 1));
      table.append(new Append(row).addColumn(F, Q, bytes("x")));
      equal("xy", value(table.append(new Append(row).addColumn(F, Q, bytes("y")))));
      CheckAndMutate.Builder check = CheckAndMutate.newBuilder(row).ifEquals(F, Q, bytes("xy"));
      Put put = new Put(row).addColumn(F, Q, bytes("z"));
      equal(true, table.checkAndMutate(check.build(put)).isSuccess());
      check = CheckAndMutate.newBuilder(row).ifEquals(F, Q, bytes("xy"));
      equal(false, table.checkAndMutate(check.build(put)).isSuccess());
      Put other = new Put(row).addColumn(F, bytes("m"), bytes("m"));
      Delete first = new Delete(row).addColumns(F, Q);
      table.mutateRow(RowMutations.of(Arrays.asList(other, first)));
      Result result = table.get(new Get(row));
      equal("m", Bytes.toString(result.getValue(F, bytes("m"))));
      equal(true, result.getValue(F, Q) == null);
    }
  }

  private static void failsAsHBase(Connection connection) throws IOException {
    try (Table table = connection.getTable(NAME);
        Table none = connection.getTable(TableName.valueOf("none"));
        Admin admin = connection.getAdmin()) {
      fails(TableNotFoundException.class, () -> none.get(new Get(bytes("r"))));
      fails(TableExistsException.class, () -> create(admin, NAME));
      Get wrong = new Get(bytes("r")).addFamily(bytes("none"));
      fails(NoSuchColumnFamilyException.class, () -> table.get(wrong));
    }
  }

  private static void buffers(Connection connection) throws IOException {
    try (BufferedMutator mutator = connection.getBufferedMutator(NAME)) {
      for (int row = 0; row < 2000; row++) {
        mutator.mutate(new Put(bytes("buffered" + row)).addColumn(F, Q, new byte[2000]));
      }
    }
    try (Table table = connection.getTable(NAME)) {
      equal(2000, count(table, new Scan().setRowPrefixFilter(bytes("buffered"))));
    }
  }

  private static void threads(Connection connection) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<Object>> tasks = new ArrayList<>();
    for (int thread = 0; thread < 8; thread++) {
      tasks.add(
          threads.submit(
              () -> {
                try (Table table = connection.getTable(NAME)) {
                  for (int i = 0; i < 200; i++) {
                    table.incrementColumnValue(bytes("shared"), F, Q, 1);
                  }
                }
                return null;
              }));
    }
    for (Future<Object> task : tasks) {
      task.get();
    }
    threads.shutdown();
    try (Table table = connection.getTable(NAME)) {
      equal(1600L, Bytes.toLong(table.get(new Get(bytes("shared"))).getValue(F, Q)));
    }
  }

  private static void asynchronous(Configuration configuration) throws Exception {
    try (AsyncConnection connection = ConnectionFactory.createAsyncConnection(configuration).get()) {
      AsyncTable<?> table = connection.getTable(NAME);
      List<CompletableFuture<Void>> puts = new ArrayList<>();
      for (int row = 0; row < 3000; row++) {
        puts.add(table.put(new Put(bytes("e" + row)).addColumn(F, Q, bytes("async"))));
      }
      CompletableFuture.allOf(puts.toArray(new CompletableFuture<?>[0])).get(60, TimeUnit.SECONDS);
      equal("async", value(table.get(new Get(bytes("e7"))).get(60, TimeUnit.SECONDS)));
      // The client's cache is always full: it stops after each answer, and resumes when it is read.
      Scan narrow = new Scan().setRowPrefixFilter(bytes("e")).setMaxResultSize(1);
      CompletableFuture<Integer> counted =
          CompletableFuture.supplyAsync(
              () -> {
                int rows = 0;
                try (ResultScanner scanner = table.getScanner(narrow)) {
                  while (scanner.next() != null) {
                    rows++;
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                return rows;
              });
      equal(puts.size(), counted.get(60, TimeUnit.SECONDS));
      // Each answer's callback asks for the next row.
      Scan scan = new Scan().setRowPrefixFilter(bytes("e")).setCaching(1);
      equal(3000, table.scanAll(scan).get(60, TimeUnit.SECONDS).size());
      CompletableFuture<Result> wrong = table.get(new Get(bytes("r")).addFamily(bytes("none")));
      try {
        wrong.get(60, TimeUnit.SECONDS);
        throw new AssertionError("there is no such family");
      } catch (ExecutionException e) {
        equal(NoSuchColumnFamilyException.class, e.getCause().getClass());
      }
      equal(1, connection.getAdmin().listTableNames().get(60, TimeUnit.SECONDS).size());
    }
  }

  private static void reopens(Path directory) throws IOException {
    EmbeddedHBlite store = EmbeddedHBlite.open(directory);
    Connection connection = ConnectionFactory.createConnection(store.configuration());
    Table table = connection.getTable(NAME);
    equal("async", value(table.get(new Get(bytes("e7")))));
    store.close();
    store.close();
    fails(IOException.class, () -> table.get(new Get(bytes("e7"))));
    connection.close();
    fails(IOException.class, () -> Native.master(1));
    equal(Native.CLOSED, Native.call(1, null, 0, null));
  }

  private static void twoStores() throws IOException {
    try (EmbeddedHBlite one = EmbeddedHBlite.inMemory();
        EmbeddedHBlite two = EmbeddedHBlite.inMemory();
        Connection first = ConnectionFactory.createConnection(one.configuration());
        Connection second = ConnectionFactory.createConnection(two.configuration())) {
      for (Connection connection : Arrays.asList(first, second)) {
        try (Admin admin = connection.getAdmin()) {
          create(admin, NAME);
        }
      }
      try (Table here = first.getTable(NAME);
          Table there = second.getTable(NAME)) {
        here.put(new Put(bytes("r")).addColumn(F, Q, bytes("first")));
        equal("first", value(here.get(new Get(bytes("r")))));
        equal(false, there.exists(new Get(bytes("r"))));
      }
    }
  }

  private static void opensOften() throws IOException {
    int before = Thread.activeCount();
    for (int i = 0; i < 30; i++) {
      try (EmbeddedHBlite store = EmbeddedHBlite.inMemory();
          Connection connection = ConnectionFactory.createConnection(store.configuration());
          Admin admin = connection.getAdmin()) {
        equal(0, admin.listTableNames().length);
      }
    }
    equal(true, Thread.activeCount() < before + 30);
  }

  /** As in a server that isolates the programs that it runs. */
  private static void inAnotherClassLoader() throws Exception {
    List<URL> path = new ArrayList<>();
    for (String part : System.getProperty("java.class.path").split(File.pathSeparator)) {
      path.add(new File(part).toURI().toURL());
    }
    ClassLoader parent = ClassLoader.getSystemClassLoader().getParent();
    try (URLClassLoader loader = new URLClassLoader(path.toArray(new URL[0]), parent);
        EmbeddedHBlite own = EmbeddedHBlite.inMemory()) {
      Class<?> other = loader.loadClass(EmbeddedHBlite.class.getName());
      try (AutoCloseable store = (AutoCloseable) other.getMethod("inMemory").invoke(null)) {
        equal(true, store.getClass() != own.getClass());
        other.getMethod("configuration").invoke(store);
      }
    }
  }

  private static void create(Admin admin, TableName name, byte[]... splits) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    table.setColumnFamily(ColumnFamilyDescriptorBuilder.of(F));
    if (splits.length == 0) {
      admin.createTable(table.build());
    } else {
      admin.createTable(table.build(), splits);
    }
  }

  private static int count(Table table, Scan scan) throws IOException {
    int count = 0;
    try (ResultScanner scanner = table.getScanner(scan)) {
      while (scanner.next() != null) {
        count++;
      }
    }
    return count;
  }

  private static String value(Result result) {
    return Bytes.toString(result.getValue(F, Q));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private interface Action {
    void run() throws Exception;
  }

  private static void fails(Class<? extends Exception> expected, Action action) {
    try {
      action.run();
    } catch (Exception e) {
      if (!expected.isInstance(e)) {
        throw new AssertionError("not a " + expected, e);
      }
      passed++;
      return;
    }
    throw new AssertionError("not a " + expected);
  }

  private static void equal(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError("expected " + expected + ", not " + actual);
    }
    passed++;
  }
}
