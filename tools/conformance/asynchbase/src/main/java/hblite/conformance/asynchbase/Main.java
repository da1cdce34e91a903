package hblite.conformance.asynchbase;

import com.stumbleupon.async.Deferred;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.hbase.async.AppendRequest;
import org.hbase.async.AtomicIncrementRequest;
import org.hbase.async.BinaryPrefixComparator;
import org.hbase.async.CompareFilter.CompareOp;
import org.hbase.async.DeleteRequest;
import org.hbase.async.FuzzyRowFilter;
import org.hbase.async.GetRequest;
import org.hbase.async.HBaseClient;
import org.hbase.async.KeyRegexpFilter;
import org.hbase.async.KeyValue;
import org.hbase.async.NonRecoverableException;
import org.hbase.async.PutRequest;
import org.hbase.async.QualifierFilter;
import org.hbase.async.Scanner;
import org.hbase.async.TableNotFoundException;

/** What OpenTSDB does: puts, counters, compare-and-set and filtered scans over asynchbase. */
public final class Main {
  private static final byte[] TABLE = bytes("asynchbase");
  private static final byte[] F = bytes("f");
  private static final byte[] Q = bytes("q");
  private static final int ROWS = 300;

  private final HBaseClient client;
  private int passed;
  private int failed;

  private Main(HBaseClient client) {
    this.client = client;
  }

  /**
   * Ends with 0 if all answers are those expected. The table {@code asynchbase} with family
   * {@code f} must be there: this client cannot create it.
   *
   * @param arguments ZooKeeper's address
   */
  public static void main(String[] arguments) throws Exception {
    HBaseClient client = new HBaseClient(arguments[0]);
    Main main = new Main(client);
    main.run();
    client.shutdown().join(20_000);
    System.out.printf("asynchbase %d passed, %d failed%n", main.passed, main.failed);
    System.exit(main.failed == 0 ? 0 : 1);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static <T> T wait(Deferred<T> deferred) throws Exception {
    return deferred.join(20_000);
  }

  private void check(String what, Object expected, Callable<?> question) {
    Object answer;
    try {
      answer = question.call();
    } catch (Exception e) {
      answer = e.getClass().getSimpleName();
    }
    if (expected.equals(answer)) {
      passed++;
    } else {
      failed++;
      System.out.println(what + ": " + expected + " expected, got " + answer);
    }
  }

  private String values(List<KeyValue> cells) {
    List<String> values = new ArrayList<>();
    cells.forEach(cell -> values.add(new String(cell.value(), StandardCharsets.ISO_8859_1)));
    return String.join(" ", values);
  }

  private List<String> rows(Scanner scanner) throws Exception {
    List<String> rows = new ArrayList<>();
    ArrayList<ArrayList<KeyValue>> some;
    while ((some = wait(scanner.nextRows())) != null) {
      some.forEach(row -> rows.add(new String(row.get(0).key(), StandardCharsets.ISO_8859_1)));
    }
    return rows;
  }

  private Scanner scanner() {
    Scanner scanner = client.newScanner(TABLE);
    scanner.setFamily(F);
    return scanner;
  }

  private void run() throws Exception {
    check("a table that is there", "there", () -> {
      wait(client.ensureTableFamilyExists(TABLE, F));
      return "there";
    });
    check("a table that is not there", TableNotFoundException.class.getSimpleName(),
        () -> wait(client.ensureTableExists(bytes("aaa"))));
    // As on HBase 2: asynchbase reads hbase:meta backwards, and tries again with what it finds.
    check("a missing table with another before it",
        NonRecoverableException.class.getSimpleName(),
        () -> wait(client.ensureTableExists(bytes("nowhere"))));
    writes();
    atomic();
    scans();
  }

  private void writes() {
    check("put and get", "v", () -> {
      wait(client.put(new PutRequest(TABLE, bytes("r"), F, Q, bytes("v"))));
      return values(wait(client.get(new GetRequest(TABLE, bytes("r"), F, Q))));
    });
    check("get what is not there", "", () -> values(wait(client.get(new GetRequest(TABLE, bytes("no"))))));
    check("many puts in batches", ROWS, () -> {
      List<Deferred<Object>> puts = new ArrayList<>();
      for (int row = 0; row < ROWS; row++) {
        puts.add(client.put(
            new PutRequest(TABLE, bytes("s%03d".formatted(row)), F, Q, bytes("v" + row), 1L)));
      }
      wait(client.flush());
      return wait(Deferred.group(puts)).size();
    });
    check("delete", "", () -> {
      wait(client.delete(new DeleteRequest(TABLE, bytes("r"), F, Q)));
      return values(wait(client.get(new GetRequest(TABLE, bytes("r")))));
    });
  }

  private void atomic() {
    check("count", 7L, () -> {
      wait(client.atomicIncrement(new AtomicIncrementRequest(TABLE, bytes("c"), F, Q, 3)));
      return wait(client.atomicIncrement(new AtomicIncrementRequest(TABLE, bytes("c"), F, Q, 4)));
    });
    check("count in a buffer", 9L, () -> {
      Deferred<Long> one =
          client.bufferAtomicIncrement(new AtomicIncrementRequest(TABLE, bytes("c"), F, Q, 2));
      wait(client.flush());
      return wait(one);
    });
    check("set what is not there", true,
        () -> wait(client.compareAndSet(
            new PutRequest(TABLE, bytes("u"), F, Q, bytes("1")), new byte[0])));
    check("set what is there", false,
        () -> wait(client.compareAndSet(
            new PutRequest(TABLE, bytes("u"), F, Q, bytes("2")), new byte[0])));
    check("compare and set", true,
        () -> wait(client.compareAndSet(
            new PutRequest(TABLE, bytes("u"), F, Q, bytes("2")), bytes("1"))));
    check("append", "2+", () -> {
      wait(client.append(new AppendRequest(TABLE, bytes("u"), F, Q, bytes("+"))));
      return values(wait(client.get(new GetRequest(TABLE, bytes("u")))));
    });
  }

  private void scans() {
    check("scan", ROWS, () -> {
      Scanner scanner = scanner();
      scanner.setStartKey(bytes("s"));
      scanner.setStopKey(bytes("t"));
      scanner.setMaxNumRows(64);
      return rows(scanner).size();
    });
    check("scan backwards", "s299 s298", () -> {
      Scanner scanner = scanner();
      scanner.setReversed(true);
      scanner.setStartKey(bytes("s299"));
      scanner.setStopKey(bytes("s297"));
      return String.join(" ", rows(scanner));
    });
    check("rows by expression", "s007 s017", () -> {
      Scanner scanner = scanner();
      scanner.setFilter(new KeyRegexpFilter("(?s)^s0[01]7$", StandardCharsets.ISO_8859_1));
      return String.join(" ", rows(scanner));
    });
    check("fuzzy rows", "s005 s105 s205", () -> {
      Scanner scanner = scanner();
      scanner.setFilter(new FuzzyRowFilter(
          new FuzzyRowFilter.FuzzyFilterPair(bytes("s?05"), new byte[] {0, 1, 0, 0})));
      return String.join(" ", rows(scanner));
    });
    check("qualifiers", ROWS, () -> {
      Scanner scanner = scanner();
      scanner.setStartKey(bytes("s"));
      scanner.setStopKey(bytes("t"));
      scanner.setFilter(new QualifierFilter(CompareOp.EQUAL, new BinaryPrefixComparator(Q)));
      return rows(scanner).size();
    });
    check("closed early", "s000", () -> {
      Scanner scanner = scanner();
      scanner.setStartKey(bytes("s"));
      scanner.setMaxNumRows(1);
      String first = new String(wait(scanner.nextRows()).get(0).get(0).key(), StandardCharsets.ISO_8859_1);
      wait(scanner.close());
      return first;
    });
  }
}
