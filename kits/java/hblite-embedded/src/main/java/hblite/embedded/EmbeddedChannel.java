package hblite.embedded;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.codec.Codec;
import org.apache.hadoop.hbase.exceptions.ConnectionClosedException;
import org.apache.hadoop.hbase.ipc.CallTimeoutException;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.ipc.HBaseRpcControllerImpl;
import org.apache.hadoop.hbase.ipc.RemoteWithExtrasException;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.CellBlockMeta;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.ExceptionResponse;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.ResponseHeader;
import org.apache.hbase.thirdparty.com.google.protobuf.BlockingRpcChannel;
import org.apache.hbase.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.hbase.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.hbase.thirdparty.com.google.protobuf.Descriptors.MethodDescriptor;
import org.apache.hbase.thirdparty.com.google.protobuf.Descriptors.ServiceDescriptor;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;
import org.apache.hbase.thirdparty.com.google.protobuf.RpcCallback;
import org.apache.hbase.thirdparty.com.google.protobuf.RpcChannel;
import org.apache.hbase.thirdparty.com.google.protobuf.RpcController;
import org.apache.hbase.thirdparty.com.google.protobuf.ServiceException;

/** The calls of a user to one server. They run in the calling thread. */
final class EmbeddedChannel implements BlockingRpcChannel, RpcChannel {
  /** Larger frames and answers are passed as arrays. */
  private static final int BUFFER_SIZE = 64 * 1024;

  private static final int LENGTH_SIZE = 4;

  private static final CellBlock NO_CELLS = new CellBlock(0);

  /** Callbacks make calls themselves: nested more deeply than this, calls continue in the pool. */
  private static final int DEPTH_MAX = 8;

  private static final ThreadLocal<State> STATE = ThreadLocal.withInitial(State::new);

  private final EmbeddedRpcClient client;
  private final ServerName server;
  private final User user;
  private final int timeout;

  /** The channel of the native library for the service of the last call. */
  private volatile Opened opened;

  private static final class Opened {
    final ServiceDescriptor service;
    final long handle;

    /**
     * The header of the last call of each method. Calls of several threads may replace each other's:
     * each is complete, and says what it is for.
     */
    final Header[] headers;

    Opened(ServiceDescriptor service, long handle) {
      this.service = service;
      this.handle = handle;
      headers = new Header[service.getMethods().size()];
    }
  }

  /** The header of calls of one method without cells. */
  private static final class Header {
    final int priority;
    final int timeout;
    final byte[] bytes;

    Header(int priority, int timeout, byte[] bytes) {
      this.priority = priority;
      this.timeout = timeout;
      this.bytes = bytes;
    }
  }

  /** Encoded cells, which are not copied out. */
  private static final class CellBlock extends ByteArrayOutputStream {
    CellBlock(int size) {
      super(size);
    }

    void writeTo(CodedOutputStream out) throws IOException {
      out.writeRawBytes(buf, 0, count);
    }
  }

  /** What a thread has for its calls. */
  private static final class State {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_SIZE);
    int depth;

    /** The size of the last call's cells, at most that of the buffer. */
    int cellsSize;
  }

  /** An answer: a message and cells. */
  private static final class Answer {
    final Message message;
    final CellScanner cells;

    Answer(Message message, CellScanner cells) {
      this.message = message;
      this.cells = cells;
    }
  }

  EmbeddedChannel(EmbeddedRpcClient client, ServerName server, User user, int timeout) {
    this.client = client;
    this.server = server;
    this.user = user;
    this.timeout = timeout;
  }

  @Override
  public Message callBlockingMethod(
      MethodDescriptor method, RpcController controller, Message request, Message prototype)
      throws ServiceException {
    HBaseRpcController hbase = hbase(controller);
    try {
      Answer answer = call(method, hbase, request, prototype);
      hbase.setDone(answer.cells);
      return answer.message;
    } catch (IOException e) {
      hbase.setFailed(e);
      throw new ServiceException(e);
    }
  }

  @Override
  public void callMethod(
      MethodDescriptor method,
      RpcController controller,
      Message request,
      Message prototype,
      RpcCallback<Message> done) {
    HBaseRpcController hbase = hbase(controller);
    State state = STATE.get();
    if (state.depth >= DEPTH_MAX || !isShort(method)) {
      EmbeddedRpcClient.POOL.execute(() -> run(method, hbase, request, prototype, done));
    } else {
      run(method, hbase, request, prototype, done);
    }
  }

  /**
   * Whether the call rarely waits for anything but the store, and may be answered before the client
   * has it. A scan's may not: when {@code AsyncTableResultScanner} resumes a scan, an answer that
   * suspends it at once would be forgotten.
   */
  private static boolean isShort(MethodDescriptor method) {
    switch (method.getName()) {
      case "Get":
      case "Mutate":
      case "Multi":
        return true;
      default:
        return false;
    }
  }

  private void run(
      MethodDescriptor method,
      HBaseRpcController controller,
      Message request,
      Message prototype,
      RpcCallback<Message> done) {
    State state = STATE.get();
    state.depth++;
    try {
      Message message = null;
      try {
        Answer answer = call(method, controller, request, prototype);
        controller.setDone(answer.cells);
        message = answer.message;
      } catch (IOException e) {
        controller.setFailed(e);
      } catch (RuntimeException e) {
        controller.setFailed(new IOException(e));
      }
      done.run(message);
    } finally {
      state.depth--;
    }
  }

  private HBaseRpcController hbase(RpcController controller) {
    HBaseRpcController hbase =
        controller instanceof HBaseRpcController
            ? (HBaseRpcController) controller
            : new HBaseRpcControllerImpl();
    if (!hbase.hasCallTimeout()) {
      hbase.setCallTimeout(timeout);
    }
    return hbase;
  }

  private Answer call(
      MethodDescriptor method, HBaseRpcController controller, Message request, Message prototype)
      throws IOException {
    CellBlock cells = encode(controller.cellScanner());
    Opened opened = open(method.getService());
    byte[] header =
        cells.size() == 0
            ? header(opened, method, controller)
            : newHeader(method, controller, cells.size());
    byte[] answer = exchange(opened.handle, method, controller, header, request, cells);
    return decode(answer, prototype);
  }

  private static byte[] header(
      Opened opened, MethodDescriptor method, HBaseRpcController controller) {
    int priority = controller.getPriority();
    int timeout = controller.getCallTimeout();
    Header header = opened.headers[method.getIndex()];
    if (header == null || header.priority != priority || header.timeout != timeout) {
      header = new Header(priority, timeout, newHeader(method, controller, 0));
      opened.headers[method.getIndex()] = header;
    }
    return header.bytes;
  }

  private static byte[] newHeader(
      MethodDescriptor method, HBaseRpcController controller, int cellsLength) {
    String name = isOfId(method.getService()) ? "GetClusterId" : method.getName();
    RequestHeader.Builder header = RequestHeader.newBuilder().setCallId(0).setMethodName(name);
    header.setRequestParam(true).setPriority(controller.getPriority());
    if (controller.getCallTimeout() > 0) {
      header.setTimeout(controller.getCallTimeout());
    }
    if (cellsLength > 0) {
      header.setCellBlockMeta(CellBlockMeta.newBuilder().setLength(cellsLength));
    }
    return header.build().toByteArray();
  }

  /**
   * Whether it is the service with which HBase 2.6 and later ask for the cluster's id before any
   * connection. Over a socket, its form is another. GetClusterId has the same answer.
   */
  private static boolean isOfId(ServiceDescriptor service) {
    return service.getName().equals("ConnectionRegistryService");
  }

  private Opened open(ServiceDescriptor service) throws IOException {
    Opened last = opened;
    if (last == null || last.service != service) {
      String name = isOfId(service) ? "ClientMetaService" : service.getName();
      last = new Opened(service, client.handle(server, name, user));
      opened = last;
    }
    return last;
  }

  private byte[] exchange(
      long channel,
      MethodDescriptor method,
      HBaseRpcController controller,
      byte[] header,
      Message request,
      CellBlock cells)
      throws IOException {
    ByteBuffer buffer = STATE.get().buffer;
    int front = delimited(header.length) + delimited(request.getSerializedSize());
    int length = Math.addExact(front, cells.size());
    buffer.clear();
    int result;
    if (length <= buffer.capacity()) {
      write(CodedOutputStream.newInstance(buffer), header, request, cells);
      result = Native.call(channel, buffer, length, null);
    } else {
      byte[] frame = new byte[length];
      write(CodedOutputStream.newInstance(frame), header, request, cells);
      result = Native.call(channel, buffer, 0, frame);
    }
    if (result < 0) {
      throw failure(result, method, controller);
    }
    byte[] answer = new byte[result];
    if (result <= buffer.capacity()) {
      buffer.clear();
      buffer.get(answer);
    } else {
      Native.answer(answer);
    }
    return answer;
  }

  private static int delimited(int length) {
    return CodedOutputStream.computeUInt32SizeNoTag(length) + length;
  }

  private static void write(
      CodedOutputStream out, byte[] header, Message request, CellBlock cells) throws IOException {
    out.writeUInt32NoTag(header.length);
    out.writeRawBytes(header);
    out.writeUInt32NoTag(request.getSerializedSize());
    request.writeTo(out);
    cells.writeTo(out);
    out.flush();
  }

  private IOException failure(int result, MethodDescriptor method, HBaseRpcController controller) {
    String call = method.getName() + " to " + server;
    switch (result) {
      case Native.REFUSED:
        return new ConnectException(call + ": the server has crashed and refuses connections");
      case Native.TIMED_OUT:
        return new CallTimeoutException(
            call + " was not answered within " + controller.getCallTimeout() + " ms");
      case Native.CLOSED:
        return new DoNotRetryIOException(call + ": the store or the connection is closed");
      default:
        return new ConnectionClosedException(
            call + ": the server closed the connection before it answered");
    }
  }

  private CellBlock encode(CellScanner cells) throws IOException {
    if (cells == null) {
      return NO_CELLS;
    }
    Codec codec = client.codec();
    if (codec == null) {
      throw new DoNotRetryIOException("there are cells to send, but hbase.client.rpc.codec is empty");
    }
    State state = STATE.get();
    CellBlock out = new CellBlock(state.cellsSize);
    Codec.Encoder encoder = codec.getEncoder(out);
    while (cells.advance()) {
      Cell cell = cells.current();
      encoder.write(cell);
    }
    encoder.flush();
    state.cellsSize = Math.min(out.size(), BUFFER_SIZE);
    return out;
  }

  private Answer decode(byte[] frame, Message prototype) throws IOException {
    CodedInputStream in =
        CodedInputStream.newInstance(frame, LENGTH_SIZE, frame.length - LENGTH_SIZE);
    int limit = in.pushLimit(in.readRawVarint32());
    ResponseHeader header = ResponseHeader.parseFrom(in);
    in.popLimit(limit);
    if (header.hasException()) {
      throw remote(header.getException());
    }
    Message message = prototype;
    if (prototype != null) {
      limit = in.pushLimit(in.readRawVarint32());
      message = prototype.newBuilderForType().mergeFrom(in).build();
      in.popLimit(limit);
    }
    int length = header.hasCellBlockMeta() ? header.getCellBlockMeta().getLength() : 0;
    if (length == 0) {
      return new Answer(message, null);
    }
    // The cells stay in the frame, as they stay in what a socket's client has read.
    ByteBuffer cells = ByteBuffer.wrap(frame, frame.length - length, length).slice();
    return new Answer(message, client.codec().getDecoder(new SingleByteBuff(cells)));
  }

  private static IOException remote(ExceptionResponse e) {
    String name = e.getExceptionClassName();
    boolean doNotRetry = e.getDoNotRetry();
    return e.hasHostname()
        ? new RemoteWithExtrasException(
            name, e.getStackTrace(), e.getHostname(), e.getPort(), doNotRetry)
        : new RemoteWithExtrasException(name, e.getStackTrace(), doNotRetry);
  }
}
