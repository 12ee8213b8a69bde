package io.borealis.push;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;

/**
 * A non-blocking connection, with TLS or without. Failures are IOExceptions, after which it has to be closed.
 */
final class Connection {
  private enum Stage {
    CONNECTING, HANDSHAKING, OPEN
  }

  private final ServerAddress server;
  private final TlsSettings tls;
  private final SocketChannel channel;
  private final SelectionKey key;
  private final SSLEngine engine;
  private Stage stage = Stage.CONNECTING;
  /**
   * What the app's side wrote and TLS has not encrypted yet, or what the socket has not accepted yet without
   * TLS.
   */
  private final ArrayDeque<ByteBuffer> output = new ArrayDeque<>();
  /** TLS: received and not decrypted; in the state for writing into. */
  private ByteBuffer encryptedInput;
  /** TLS: decrypted and not read; in the state for reading from. */
  private ByteBuffer plainInput;
  /** TLS: encrypted and not accepted by the socket; in the state for reading from. */
  private ByteBuffer encryptedOutput;

  /** Starts to connect; {@code tls} is null for a connection without TLS. */
  Connection(ServerAddress server, InetAddress address, TlsSettings tls, Selector selector)
      throws IOException {
    this.server = server;
    this.tls = tls;
    channel = SocketChannel.open();
    boolean isOpen = false;
    try {
      channel.configureBlocking(false);
      channel.socket().setTcpNoDelay(true);
      channel.connect(new InetSocketAddress(address, server.port));
      key = channel.register(selector, SelectionKey.OP_CONNECT);
      engine = tls == null ? null : tls.engine(server);
      if (engine != null) {
        int packet = engine.getSession().getPacketBufferSize();
        encryptedInput = ByteBuffer.allocate(packet);
        encryptedOutput = emptied(ByteBuffer.allocate(packet));
        plainInput = emptied(ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()));
      }
      isOpen = true;
    } finally {
      if (!isOpen) channel.close();
    }
  }

  private static ByteBuffer emptied(ByteBuffer buffer) {
    buffer.limit(0);
    return buffer;
  }

  boolean isOpen() {
    return stage == Stage.OPEN;
  }

  /** Goes on with connecting and the handshake; true once the connection is open. */
  boolean proceed() throws IOException {
    if (stage == Stage.CONNECTING) {
      if (!channel.finishConnect()) return false;
      stage = Stage.HANDSHAKING;
      if (engine != null) engine.beginHandshake();
    }
    if (stage == Stage.HANDSHAKING) {
      if (engine != null) {
        if (!handshake()) return false;
        tls.verify(server, engine);
      }
      stage = Stage.OPEN;
    }
    return true;
  }

  /** Goes on until the handshake is done (true) or waits for the socket (false). */
  private boolean handshake() throws IOException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK:
          runTasks();
          break;
        case NEED_WRAP:
          if (!wrap(ByteBuffer.allocate(0))) return false;
          break;
        case NEED_UNWRAP:
          if (!drain()) return false;
          if (unwrap()) break;
          int count = channel.read(encryptedInput);
          if (count < 0) throw new IOException("the server closed during the TLS handshake");
          if (count == 0) return false;
          break;
        default:
          return drain();
      }
    }
  }

  private void runTasks() {
    Runnable task = engine.getDelegatedTask();
    while (task != null) {
      task.run();
      task = engine.getDelegatedTask();
    }
  }

  /** Writes what is encrypted; false if the socket does not accept all of it now. */
  private boolean drain() throws IOException {
    channel.write(encryptedOutput);
    return !encryptedOutput.hasRemaining();
  }

  /** Encrypts as much as fits a packet, and writes it; false if the socket does not accept all of it now. */
  private boolean wrap(ByteBuffer plain) throws IOException {
    if (!drain()) return false;
    encryptedOutput.clear();
    SSLEngineResult result = engine.wrap(plain, encryptedOutput);
    if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
      encryptedOutput = emptied(ByteBuffer.allocate(2 * encryptedOutput.capacity()));
      return true;
    }
    encryptedOutput.flip();
    if (result.getStatus() == SSLEngineResult.Status.CLOSED && plain.hasRemaining()) {
      throw new IOException("the TLS session is closed");
    }
    return drain();
  }

  /** Decrypts a record; false if it is not complete yet. */
  private boolean unwrap() throws IOException {
    encryptedInput.flip();
    ByteBuffer plain = plainInput;
    plain.compact();
    SSLEngineResult result;
    try {
      result = engine.unwrap(encryptedInput, plain);
    } finally {
      plain.flip();
      encryptedInput.compact();
    }
    switch (result.getStatus()) {
      case BUFFER_UNDERFLOW:
        if (encryptedInput.hasRemaining()) return false;
        ByteBuffer larger = ByteBuffer.allocate(2 * encryptedInput.capacity());
        encryptedInput.flip();
        larger.put(encryptedInput);
        encryptedInput = larger;
        return false;
      case BUFFER_OVERFLOW:
        int room = engine.getSession().getApplicationBufferSize();
        ByteBuffer roomier = ByteBuffer.allocate(plain.remaining() + room);
        roomier.put(plain);
        roomier.flip();
        plainInput = roomier;
        return true;
      case CLOSED:
        throw new IOException("the server closed");
      default:
        return true;
    }
  }

  /**
   * Reads what has arrived: a number of bytes, 0 if there is nothing now. It fails when the peer has closed.
   */
  int read(byte[] into) throws IOException {
    if (engine == null) {
      int count = channel.read(ByteBuffer.wrap(into));
      if (count < 0) throw new IOException("the server closed");
      return count;
    }
    while (!plainInput.hasRemaining()) {
      boolean isDecrypted = unwrap();
      if (!answerHandshake()) return 0;
      if (isDecrypted) continue;
      int count = channel.read(encryptedInput);
      if (count < 0) throw new IOException("the server closed");
      if (count == 0) return 0;
    }
    int count = Math.min(into.length, plainInput.remaining());
    plainInput.get(into, 0, count);
    return count;
  }

  /**
   * After the handshake TLS may have something to say as well, such as new keys; false if the socket does not
   * accept it now.
   */
  private boolean answerHandshake() throws IOException {
    if (engine.getHandshakeStatus() == HandshakeStatus.NEED_TASK) runTasks();
    while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
      if (!wrap(ByteBuffer.allocate(0))) return false;
    }
    return true;
  }

  /** Adds bytes to what {@link #flush} sends. */
  void send(byte[] bytes) {
    output.add(ByteBuffer.wrap(bytes));
  }

  /** Sends as much as the socket accepts. */
  void flush() throws IOException {
    if (stage != Stage.OPEN) return;
    if (engine != null && !drain()) return;
    while (!output.isEmpty()) {
      ByteBuffer next = output.peek();
      if (engine == null) channel.write(next);
      else if (!wrap(next)) return;
      if (next.hasRemaining() && engine == null) return;
      if (!next.hasRemaining()) output.remove();
    }
  }

  /** Tells the selector what to wait for. */
  void updateInterest(boolean isReading) {
    if (!key.isValid()) return;
    boolean isEncryptedWaiting = encryptedOutput != null && encryptedOutput.hasRemaining();
    int interest;
    if (stage == Stage.CONNECTING) {
      interest = SelectionKey.OP_CONNECT;
    } else if (stage == Stage.HANDSHAKING) {
      interest = isEncryptedWaiting ? SelectionKey.OP_WRITE : SelectionKey.OP_READ;
    } else {
      int writing = isEncryptedWaiting || !output.isEmpty() ? SelectionKey.OP_WRITE : 0;
      interest = isReading ? writing | SelectionKey.OP_READ : writing;
    }
    if (key.interestOps() != interest) key.interestOps(interest);
  }

  /** Sends what the socket still accepts, and closes it. */
  void close() {
    try {
      flush();
      if (engine != null && stage == Stage.OPEN && output.isEmpty()) {
        engine.closeOutbound();
        wrap(ByteBuffer.allocate(0));
      }
    } catch (IOException error) {
      // The peer does not need it any more.
      abort();
      return;
    }
    abort();
  }

  /** Closes the socket, whatever waits to be sent. */
  void abort() {
    key.cancel();
    try {
      channel.close();
    } catch (IOException error) {
      // There is nothing left to do.
      return;
    }
  }
}
