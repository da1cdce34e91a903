package hblite.conformance.gateways;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Passes every connection to the port that a test has chosen on to a gateway, byte by byte. */
public final class Forwarder implements AutoCloseable {
  private final ServerSocket listener;
  private final int gatewayPort;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  /**
   * Listens until it is closed.
   *
   * @throws IOException if the port is taken
   */
  public Forwarder(int port, int gatewayPort) throws IOException {
    this.listener = new ServerSocket(port, 0, InetAddress.getByName(Gateways.ADDRESS));
    this.gatewayPort = gatewayPort;
    start(this::accept);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "forwarder");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        sockets.add(client);
        Socket gateway = new Socket(Gateways.ADDRESS, gatewayPort);
        sockets.add(gateway);
        client.setTcpNoDelay(true);
        gateway.setTcpNoDelay(true);
        start(() -> pass(client, gateway));
        start(() -> pass(gateway, client));
      }
    } catch (IOException e) {
      // It was closed, or the gateway has ended.
      close();
    }
  }

  /** If one side ends, the connection ends. */
  private static void pass(Socket from, Socket to) {
    try (from;
        to) {
      InputStream input = from.getInputStream();
      input.transferTo(to.getOutputStream());
    } catch (IOException e) {
      // The other direction has ended.
      return;
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
