import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.hbase.rest.model.CellModel;
import org.apache.hadoop.hbase.rest.model.CellSetModel;
import org.apache.hadoop.hbase.rest.model.RowModel;
import org.apache.hadoop.hbase.thrift.generated.BatchMutation;
import org.apache.hadoop.hbase.thrift.generated.ColumnDescriptor;
import org.apache.hadoop.hbase.thrift.generated.Hbase;
import org.apache.hadoop.hbase.thrift.generated.Mutation;
import org.apache.hadoop.hbase.thrift2.generated.TColumnValue;
import org.apache.hadoop.hbase.thrift2.generated.TGet;
import org.apache.hadoop.hbase.thrift2.generated.THBaseService;
import org.apache.hadoop.hbase.thrift2.generated.TPut;
import org.apache.hadoop.hbase.thrift2.generated.TScan;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TMemoryInputTransport;

/**
 * Loads the gateways of hblite and those of HBase in turn, and prints a table.
 *
 * <p>The client costs little, because it shares the processors with what it measures: requests are
 * made with HBase's generated code before a turn begins, and one answer in {@link #LOOKS_AT_EVERY}
 * is decoded and checked.
 *
 * <p>Arguments: connections, seconds of a turn, rounds, hblite's process id, and for each gateway
 * its name, hblite's port, HBase's port and the process id of HBase's.
 */
public final class GatewayLoad {
  private static final int ROWS = 20_000;
  private static final int BATCH = 100;
  private static final int LOOKS_AT_EVERY = 64;

  /** Requests of a turn, at random rows. */
  private static final int REQUESTS = 1_000;

  private static final String TABLE = "load";
  private static final byte[] VALUE = "v".repeat(100).getBytes(StandardCharsets.US_ASCII);
  private static final double TICKS_PER_SECOND = 100;

  private enum Work {
    /** What the protocol and the kernel cost: the gateway answers with its type. */
    CALL("call without work", 1),
    GET("get", 1),
    PUT("put", 1),
    PUT_BATCH("put of 100 rows", BATCH),
    SCAN("scan of 100 rows", BATCH);

    private final String title;
    private final int rows;

    Work(String title, int rows) {
      this.title = title;
      this.rows = rows;
    }
  }

  private GatewayLoad() {}

  private static String row(int number) {
    return String.format(Locale.ROOT, "row-%012d", number);
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }

  /** One connection to a gateway. */
  private abstract static class Client implements AutoCloseable {
    final Socket socket;
    final OutputStream output;
    final DataInputStream input;
    private long calls;

    Client(int port) throws IOException {
      socket = new Socket("127.0.0.1", port);
      socket.setTcpNoDelay(true);
      output = socket.getOutputStream();
      input = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
    }

    static Client open(String gateway, int port) throws IOException {
      return switch (gateway) {
        case "Thrift 1" -> new Thrift1(port);
        case "Thrift 2" -> new Thrift2(port);
        case "REST" -> new Rest(port);
        default -> throw new IllegalArgumentException(gateway);
      };
    }

    boolean isLookedAt() {
      return calls++ % LOOKS_AT_EVERY == 0;
    }

    /** The request for it, at this row. */
    abstract byte[] request(Work work, int row) throws IOException, TException;

    /** Sends such a request and waits for the answer. */
    abstract void run(Work work, byte[] request) throws IOException, TException;

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** A connection for framed binary Thrift. */
  private abstract static class Thrift extends Client {
    private final ByteArrayOutputStream request = new ByteArrayOutputStream();
    final TProtocol requests;
    private final TMemoryInputTransport answer;
    final TProtocol answers;
    private byte[] buffer = new byte[1 << 16];

    Thrift(int port) throws IOException {
      super(port);
      try {
        requests = new TBinaryProtocol(new TIOStreamTransport(request));
        answer = new TMemoryInputTransport();
      } catch (TException e) {
        throw new IOException(e);
      }
      answers = new TBinaryProtocol(answer);
    }

    /** Like {@link #message}, with the sequence id that a new client expects in an answer. */
    byte[] firstMessage() {
      byte[] message = message();
      ByteBuffer whole = ByteBuffer.wrap(message);
      int nameAt = 3 * Integer.BYTES;
      whole.putInt(nameAt + whole.getInt(nameAt - Integer.BYTES), 0);
      return message;
    }

    /** What was written to {@link #requests}, with its length. */
    byte[] message() {
      byte[] message = new byte[request.size() + Integer.BYTES];
      ByteBuffer.wrap(message).putInt(request.size()).put(request.toByteArray());
      request.reset();
      return message;
    }

    /** Sends a message and waits for the answer. */
    void exchange(byte[] message) throws IOException, TException {
      output.write(message);
      int length = input.readInt();
      if (buffer.length < length) {
        buffer = new byte[length];
      }
      input.readFully(buffer, 0, length);
      answer.reset(buffer, 0, length);
      // A message of the type for exceptions has 3 in its fourth byte.
      check(buffer[3] == 2, "the gateway answered with an exception");
    }
  }

  private static final class Thrift1 extends Thrift {
    private final Hbase.Client client = new Hbase.Client(answers, requests);

    Thrift1(int port) throws IOException {
      super(port);
    }

    private static List<Mutation> mutations() {
      return List.of(new Mutation(false, bytes("f:q"), ByteBuffer.wrap(VALUE), true));
    }

    @Override
    byte[] request(Work work, int row) throws TException {
      switch (work) {
        case CALL -> client.send_getThriftServerType();
        case GET -> client.send_getRow(bytes(TABLE), bytes(row(row)), Map.of());
        case PUT -> client.send_mutateRow(bytes(TABLE), bytes(row(row)), mutations(), Map.of());
        case PUT_BATCH -> {
          List<BatchMutation> batch = new ArrayList<>();
          for (int each = 0; each < BATCH; each++) {
            batch.add(new BatchMutation(bytes(row((row + each) % ROWS)), mutations()));
          }
          client.send_mutateRows(bytes(TABLE), batch, Map.of());
        }
        case SCAN -> {
          int from = row % (ROWS - BATCH);
          client.send_scannerOpen(bytes(TABLE), bytes(row(from)), List.of(), Map.of());
        }
      }
      return firstMessage();
    }

    @Override
    void run(Work work, byte[] request) throws IOException, TException {
      exchange(request);
      Hbase.Client reader = new Hbase.Client(answers, requests);
      if (work == Work.SCAN) {
        int scanner = reader.recv_scannerOpen();
        reader.send_scannerGetList(scanner, BATCH);
        exchange(message());
        if (isLookedAt()) {
          check(reader.recv_scannerGetList().size() == BATCH, "rows are missing");
        }
        reader.send_scannerClose(scanner);
        exchange(message());
      } else if (isLookedAt()) {
        switch (work) {
          case CALL -> reader.recv_getThriftServerType();
          case GET ->
              check(reader.recv_getRow().get(0).getColumnsSize() == 1, "the row is not there");
          case PUT -> reader.recv_mutateRow();
          default -> reader.recv_mutateRows();
        }
      }
    }
  }

  private static final class Thrift2 extends Thrift {
    private final THBaseService.Client client = new THBaseService.Client(answers, requests);

    Thrift2(int port) throws IOException {
      super(port);
    }

    private static TPut put(int row) {
      TColumnValue value = new TColumnValue(bytes("f"), bytes("q"), ByteBuffer.wrap(VALUE));
      return new TPut(bytes(row(row)), List.of(value));
    }

    @Override
    byte[] request(Work work, int row) throws TException {
      switch (work) {
        case CALL -> client.send_getThriftServerType();
        case GET -> client.send_get(bytes(TABLE), new TGet(bytes(row(row))));
        case PUT -> client.send_put(bytes(TABLE), put(row));
        case PUT_BATCH -> {
          List<TPut> batch = new ArrayList<>();
          for (int each = 0; each < BATCH; each++) {
            batch.add(put((row + each) % ROWS));
          }
          client.send_putMultiple(bytes(TABLE), batch);
        }
        case SCAN -> {
          TScan scan = new TScan().setStartRow(bytes(row(row % (ROWS - BATCH))));
          client.send_getScannerResults(bytes(TABLE), scan, BATCH);
        }
      }
      return firstMessage();
    }

    @Override
    void run(Work work, byte[] request) throws IOException, TException {
      exchange(request);
      if (isLookedAt()) {
        THBaseService.Client reader = new THBaseService.Client(answers, requests);
        switch (work) {
          case CALL -> reader.recv_getThriftServerType();
          case GET -> check(reader.recv_get().getColumnValuesSize() == 1, "the row is not there");
          case PUT -> reader.recv_put();
          case PUT_BATCH -> reader.recv_putMultiple();
          case SCAN ->
              check(reader.recv_getScannerResults().size() == BATCH, "rows are missing");
        }
      }
    }
  }

  /** HTTP/1.1 with bodies in protobuf; single values are bytes. */
  private static final class Rest extends Client {
    private static final String PROTOBUF = "application/x-protobuf";

    Rest(int port) throws IOException {
      super(port);
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      int next;
      while ((next = input.read()) != '\n') {
        check(next >= 0, "the gateway ended the connection");
        if (next != '\r') {
          line.append((char) next);
        }
      }
      return line.toString();
    }

    private static byte[] message(String method, String path, String headers, byte[] body) {
      String head = method + " /" + TABLE + "/" + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers;
      if (body.length > 0) {
        head += "Content-Length: " + body.length + "\r\n";
      }
      byte[] start = (head + "\r\n").getBytes(StandardCharsets.US_ASCII);
      byte[] message = Arrays.copyOf(start, start.length + body.length);
      System.arraycopy(body, 0, message, start.length, body.length);
      return message;
    }

    /** The body of the answer, whose status must be 200. */
    private byte[] exchange(byte[] message) throws IOException {
      output.write(message);
      String status = line();
      check(status.contains(" 200 "), status);
      int length = 0;
      boolean isChunked = false;
      for (String field = line(); !field.isEmpty(); field = line()) {
        String lower = field.toLowerCase(Locale.ROOT);
        if (lower.startsWith("content-length:")) {
          length = Integer.parseInt(lower.substring("content-length:".length()).trim());
        }
        isChunked |= lower.startsWith("transfer-encoding: chunked");
      }
      if (!isChunked) {
        return input.readNBytes(length);
      }
      byte[] whole = new byte[0];
      while (true) {
        int size = Integer.parseInt(line(), 16);
        int before = whole.length;
        whole = Arrays.copyOf(whole, before + size);
        input.readFully(whole, before, size);
        check(line().isEmpty(), "a chunk has no end");
        if (size == 0) {
          return whole;
        }
      }
    }

    private static int rows(byte[] body) throws IOException {
      CellSetModel cells = new CellSetModel();
      cells.getObjectFromMessage(body);
      return cells.getRows().size();
    }

    /** A scan is answered with several messages, each after its size in two bytes. */
    private static int rowsOfScan(byte[] body) throws IOException {
      ByteBuffer rest = ByteBuffer.wrap(body);
      int rows = 0;
      while (rest.hasRemaining()) {
        byte[] message = new byte[Short.toUnsignedInt(rest.getShort())];
        rest.get(message);
        rows += rows(message);
      }
      return rows;
    }

    @Override
    byte[] request(Work work, int row) {
      return switch (work) {
        case CALL -> throw new IllegalArgumentException("REST has no such request");
        case GET -> message("GET", row(row), "Accept: " + PROTOBUF + "\r\n", new byte[0]);
        case PUT ->
            message("PUT", row(row) + "/f:q", "Content-Type: application/octet-stream\r\n", VALUE);
        case PUT_BATCH -> {
          CellSetModel cells = new CellSetModel();
          for (int each = 0; each < BATCH; each++) {
            RowModel model = new RowModel(row((row + each) % ROWS));
            model.addCell(new CellModel("f:q".getBytes(StandardCharsets.US_ASCII), VALUE));
            cells.addRow(model);
          }
          byte[] body = cells.createProtobufOutput();
          yield message("PUT", "many", "Content-Type: " + PROTOBUF + "\r\n", body);
        }
        case SCAN -> {
          String path = "*?limit=" + BATCH + "&startrow=" + row(row % (ROWS - BATCH));
          yield message("GET", path, "Accept: " + PROTOBUF + "\r\n", new byte[0]);
        }
      };
    }

    @Override
    void run(Work work, byte[] request) throws IOException {
      byte[] body = exchange(request);
      if (work == Work.GET) {
        check(!isLookedAt() || rows(body) == 1, "the row is not there");
      } else if (work == Work.SCAN) {
        check(!isLookedAt() || rowsOfScan(body) == BATCH, "rows are missing");
      }
    }
  }

  /** The result of a turn. */
  private record Turn(double rowsPerSecond, double cpuMicrosPerRow) {}

  private static double cpuSeconds(List<Long> processes) throws IOException {
    double ticks = 0;
    for (long process : processes) {
      String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
    return ticks / TICKS_PER_SECOND;
  }

  private static Turn turn(
      String gateway, int port, List<Long> processes, Work work, int connections, double seconds)
      throws IOException, TException, InterruptedException {
    List<byte[]> requests = new ArrayList<>();
    try (Client client = Client.open(gateway, port)) {
      for (int each = 0; each < REQUESTS; each++) {
        requests.add(client.request(work, ThreadLocalRandom.current().nextInt(ROWS)));
      }
    }
    AtomicLong rows = new AtomicLong();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    double cpuBefore = cpuSeconds(processes);
    long begun = System.nanoTime();
    long until = begun + (long) (seconds * 1e9);
    List<Thread> threads = new ArrayList<>();
    for (int index = 0; index < connections; index++) {
      Thread thread =
          new Thread(
              () -> {
                try (Client client = Client.open(gateway, port)) {
                  long done = 0;
                  while (System.nanoTime() < until) {
                    int next = ThreadLocalRandom.current().nextInt(REQUESTS);
                    client.run(work, requests.get(next));
                    done += work.rows;
                  }
                  rows.addAndGet(done);
                } catch (IOException | TException | RuntimeException e) {
                  failure.set(e);
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException(gateway + ", " + work.title, failure.get());
    }
    double took = (System.nanoTime() - begun) / 1e9;
    double cpu = cpuSeconds(processes) - cpuBefore;
    return new Turn(rows.get() / took, cpu * 1e6 / rows.get());
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  /** The table, with all of its rows, through the gateway for Thrift 1. */
  private static void fill(int port) throws IOException, TException {
    try (Thrift1 filler = new Thrift1(port)) {
      ColumnDescriptor family = new ColumnDescriptor();
      family.setName(bytes("f:"));
      filler.client.send_createTable(bytes(TABLE), List.of(family));
      filler.exchange(filler.message());
      filler.client.recv_createTable();
      for (int row = 0; row < ROWS; row += BATCH) {
        filler.run(Work.PUT_BATCH, filler.request(Work.PUT_BATCH, row));
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    int connections = Integer.parseInt(arguments[0]);
    double seconds = Double.parseDouble(arguments[1]);
    int rounds = Integer.parseInt(arguments[2]);
    long hblite = Long.parseLong(arguments[3]);
    fill(Integer.parseInt(arguments[5]));
    System.out.println(
        "| gateway | rows a second | HBase | hblite | ratio | servers, µs a row: HBase | hblite | ratio |");
    System.out.println("|---|---|---|---|---|---|---|---|");
    for (int at = 4; at < arguments.length; at += 4) {
      String gateway = arguments[at];
      int ours = Integer.parseInt(arguments[at + 1]);
      int theirs = Integer.parseInt(arguments[at + 2]);
      List<Long> behind = List.of(hblite, Long.parseLong(arguments[at + 3]));
      for (Work work : Work.values()) {
        if (work == Work.CALL && gateway.equals("REST")) {
          continue;
        }
        List<Turn> of = new ArrayList<>();
        List<Turn> to = new ArrayList<>();
        // The first round warms up both.
        for (int round = 0; round <= rounds; round++) {
          of.add(turn(gateway, theirs, behind, work, connections, seconds));
          to.add(turn(gateway, ours, List.of(hblite), work, connections, seconds));
        }
        double hbaseRows = median(of.stream().skip(1).map(Turn::rowsPerSecond).toList());
        double hbliteRows = median(to.stream().skip(1).map(Turn::rowsPerSecond).toList());
        double hbaseCpu = median(of.stream().skip(1).map(Turn::cpuMicrosPerRow).toList());
        double hbliteCpu = median(to.stream().skip(1).map(Turn::cpuMicrosPerRow).toList());
        System.out.printf(
            Locale.ROOT,
            "| %s | %s | %,.0f | %,.0f | %.1f | %.2f | %.2f | %.1f |%n",
            gateway,
            work.title,
            hbaseRows,
            hbliteRows,
            hbliteRows / hbaseRows,
            hbaseCpu,
            hbliteCpu,
            hbaseCpu / hbliteCpu);
      }
    }
  }
}
