package hblite.kills;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReadWriteLock;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A thread that writes to its own rows and knows what each of them may contain: one state if the
 * last write was acknowledged, and two if it failed.
 */
final class Writer implements Runnable {
  static final byte[] F = bytes("f");
  static final byte[] G = bytes("g");
  static final byte[] Q = bytes("q");
  /** Kinds of writes, in the order of their counts. */
  static final String[] KINDS = {
    "puts", "deletes", "increments", "appends", "conditional writes", "row mutations", "batches"
  };
  private static final int ROWS = 150;

  private final int number;
  private final Connection connection;
  private final TableName name;
  private final Random random;
  private final ReadWriteLock turn;
  private final AtomicBoolean isOver;
  /** What a row may hold; null for a row that may not exist. */
  private final Map<String, Set<String>> rows = new TreeMap<>();
  private long written;
  final long[] acknowledged = new long[KINDS.length];
  final long[] failed = new long[KINDS.length];
  volatile long acknowledgedWrites;
  volatile long failedWrites;
  volatile Throwable failure;

  Writer(int number, Connection connection, TableName name, long seed, ReadWriteLock turn,
      AtomicBoolean isOver) {
    this.number = number;
    this.connection = connection;
    this.name = name;
    this.random = new Random(seed * 31 + number);
    this.turn = turn;
    this.isOver = isOver;
  }

  @Override
  public void run() {
    try (Table table = connection.getTable(name)) {
      while (!isOver.get()) {
        turn.readLock().lock();
        try {
          write(table);
        } finally {
          turn.readLock().unlock();
        }
      }
    } catch (Throwable caught) {
      failure = caught;
    }
  }

  private interface Call {
    void run() throws IOException;
  }

  private void write(Table table) throws IOException {
    int kind = random.nextInt(KINDS.length);
    switch (kind) {
      case 0 -> {
        String row = row("p");
        String value = value();
        expecting(kind, Map.of(row, value), () -> table.put(put(row, value)));
      }
      case 1 -> {
        String row = row("p");
        Delete delete = new Delete(bytes(row)).setDurability(durability());
        Map<String, String> after = new TreeMap<>();
        after.put(row, null);
        expecting(kind, after, () -> table.delete(delete));
      }
      case 2 -> {
        String row = row("c");
        long step = 1 + random.nextInt(5);
        Increment increment = new Increment(bytes(row)).addColumn(F, Q, step).addColumn(G, Q, step);
        changing(kind, row, before -> "" + (before == null ? step : Long.parseLong(before) + step),
            () -> table.increment(increment.setDurability(durability())));
      }
      case 3 -> {
        String row = row("a");
        String text = Character.toString('a' + random.nextInt(26));
        Append append = new Append(bytes(row)).addColumn(F, Q, bytes(text)).addColumn(G, Q, bytes(text));
        changing(kind, row, before -> before == null ? text : before + text,
            () -> table.append(append.setDurability(durability())));
      }
      case 4 -> conditional(table, kind);
      case 5 -> {
        String row = row("p");
        String value = value();
        RowMutations both = new RowMutations(bytes(row)).add(List.of(
            new Delete(bytes(row)).addColumns(F, bytes("no")), put(row, value)));
        expecting(kind, Map.of(row, value), () -> table.mutateRow(both));
      }
      default -> batch(table, kind);
    }
  }

  /** A put on the condition that the row contains the expected value. */
  private void conditional(Table table, int kind) throws IOException {
    String row = row("p");
    Set<String> before = states(row);
    String held = before.iterator().next();
    if (before.size() > 1) {
      return;
    }
    String value = value();
    CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(bytes(row));
    CheckAndMutate check = (held == null ? builder.ifNotExists(F, Q)
        : builder.ifEquals(F, Q, bytes(held))).build(put(row, value));
    expecting(kind, Map.of(row, value), () -> {
      // If it was applied before the kill, the retry finds that its condition no longer holds.
      if (!table.checkAndMutate(check).isSuccess()) {
        throw new IOException("the condition did not hold");
      }
    });
  }

  private void batch(Table table, int kind) throws IOException {
    Map<String, String> after = new TreeMap<>();
    List<Row> actions = new ArrayList<>();
    for (int count = 2 + random.nextInt(8); count > 0; count--) {
      String row = row("p");
      String value = value();
      if (after.putIfAbsent(row, value) == null) {
        actions.add(put(row, value));
      }
    }
    expecting(kind, after, () -> {
      try {
        table.batch(actions, new Object[actions.size()]);
      } catch (InterruptedException interrupted) {
        throw new IOException(interrupted);
      }
    });
  }

  /**
   * Makes a call after which these rows hold these values, or what they held before if it fails.
   */
  private void expecting(int kind, Map<String, String> after, Call call) {
    boolean isDone = attempt(kind, call, after.size());
    after.forEach((row, value) -> {
      Set<String> states = isDone ? new HashSet<>() : new HashSet<>(states(row));
      states.add(value);
      rows.put(row, states);
    });
  }

  private interface Change {
    String apply(String before);
  }

  /** The same with values that depend on what the row holds. */
  private void changing(int kind, String row, Change change, Call call) {
    Set<String> before = states(row);
    boolean isDone = attempt(kind, call, 1);
    Set<String> states = isDone ? new HashSet<>() : new HashSet<>(before);
    before.forEach(held -> states.add(change.apply(held)));
    rows.put(row, states);
  }

  private boolean attempt(int kind, Call call, int count) {
    try {
      call.run();
    } catch (IOException unknown) {
      failed[kind]++;
      failedWrites++;
      return false;
    }
    acknowledged[kind]++;
    acknowledgedWrites += count;
    return true;
  }

  /**
   * Compares all rows with the states they may have, and keeps the states found. Returns their
   * number.
   */
  int verify() throws IOException {
    Map<String, String> found = new TreeMap<>();
    byte[] prefix = bytes("w%d-".formatted(number));
    try (Table table = connection.getTable(name);
        ResultScanner scanner = table.getScanner(new Scan().setRowPrefixFilter(prefix))) {
      for (Result result : scanner) {
        String row = Bytes.toString(result.getRow());
        byte[] value = result.getValue(F, Q);
        byte[] other = result.getValue(G, Q);
        check(value != null && Bytes.equals(value, other), "%s is torn: %s", row, result);
        boolean isCounter = row.charAt(row.indexOf('-') + 1) == 'c';
        found.put(row, isCounter ? "" + Bytes.toLong(value) : Bytes.toString(value));
      }
    }
    for (String row : found.keySet()) {
      check(rows.containsKey(row), "%s was never written", row);
    }
    rows.replaceAll((row, states) -> {
      String held = found.get(row);
      check(states.contains(held), "%s holds %s instead of one of %s", row, held, states);
      Set<String> now = new HashSet<>();
      now.add(held);
      return now;
    });
    return rows.size();
  }

  private Set<String> states(String row) {
    return rows.computeIfAbsent(row, missing -> {
      Set<String> states = new HashSet<>();
      states.add(null);
      return states;
    });
  }

  private String row(String kind) {
    int count = kind.equals("p") ? ROWS : 5;
    return "w%d-%s%03d".formatted(number, kind, random.nextInt(count));
  }

  private String value() {
    written++;
    return "%d-%d-%s".formatted(number, written, "x".repeat(random.nextInt(400)));
  }

  private Put put(String row, String value) {
    return new Put(bytes(row)).addColumn(F, Q, bytes(value)).addColumn(G, Q, bytes(value))
        .setDurability(durability());
  }

  /** What survives a kill: see docs/durability.md. */
  private Durability durability() {
    return switch (random.nextInt(3)) {
      case 0 -> Durability.USE_DEFAULT;
      case 1 -> Durability.SYNC_WAL;
      default -> Durability.FSYNC_WAL;
    };
  }

  private static void check(boolean holds, String message, Object... arguments) {
    if (!holds) {
      throw new AssertionError(message.formatted(arguments));
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
