package io.borealis.push;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The connection to the server, one at a time: resolves the server's name and tries its addresses. Belongs to
 * one thread.
 */
final class Link {
  /** Readings in one turn, so that a fast server does not keep the app's calls waiting. */
  private static final int MOST_READS = 64;

  /** Who uses the link. */
  interface Owner {
    /** The connection is ready for bytes. */
    void opened();

    /** Bytes have arrived, which the owner copies; false if nothing more is to be read now. */
    boolean received(byte[] bytes, int count);

    /** No connection could be made, or the peer has ended it; {@code reason} is for people. */
    void ended(String reason);

    /** Runs a task on the link's thread. */
    void post(Runnable task);
  }

  final Owner owner;
  /** Null for connections without TLS. */
  private final TlsSettings tls;
  private final Selector selector;
  private final Resolver resolver = new Resolver();
  private final byte[] buffer = new byte[16 * 1024];
  private Connection connection;
  private ServerAddress target;
  /** Addresses that were not tried yet. */
  private List<InetAddress> candidates = new ArrayList<>();
  /** Grows when an address does not respond at all, so that the next attempt begins with another one. */
  private int rotation;
  /** Bytes may wait that the selector does not report. */
  private boolean hasUnread;

  Link(Owner owner, TlsSettings tls, Selector selector) {
    this.owner = owner;
    this.tls = tls;
    this.selector = selector;
  }

  /** Opens a connection, after the previous one was closed. */
  void connect(ServerAddress server) {
    target = server;
    candidates.clear();
    if (!server.isNumeric()) {
      resolver.resolve(server.host);
      return;
    }
    try {
      resolved(Collections.singletonList(InetAddress.getByName(server.host)));
    } catch (UnknownHostException error) {
      resolved(Collections.<InetAddress>emptyList());
    }
  }

  void resolved(List<InetAddress> addresses) {
    candidates = new ArrayList<>(addresses);
    if (!candidates.isEmpty()) Collections.rotate(candidates, -(rotation % candidates.size()));
    tryNextAddress("no address found for " + target.host);
  }

  private void tryNextAddress(String failure) {
    String reason = failure;
    while (!candidates.isEmpty()) {
      try {
        connection = new Connection(target, candidates.remove(0), tls, selector);
        hasUnread = false;
        return;
      } catch (IOException | RuntimeException error) {
        reason = reason(error);
      }
    }
    owner.ended(reason);
  }

  private static String reason(Exception error) {
    return error.getMessage() == null ? error.toString() : error.getMessage();
  }

  /** Whether {@link #ready} has something to do without the selector. */
  boolean hasUnread() {
    return hasUnread;
  }

  /** Does what the connection's socket allows. */
  void ready(boolean isReading) {
    if (connection == null) return;
    boolean isNew = !connection.isOpen();
    try {
      if (isNew && !connection.proceed()) return;
    } catch (IOException | RuntimeException error) {
      connection.abort();
      connection = null;
      tryNextAddress(reason(error));
      return;
    }
    if (isNew) owner.opened();
    read(isReading);
  }

  private void read(boolean isReading) {
    Connection current = connection;
    boolean goesOn = isReading;
    for (int count = 0; current != null && current == connection; count++) {
      hasUnread = !goesOn || count == MOST_READS;
      if (hasUnread) return;
      int size;
      try {
        size = current.read(buffer);
      } catch (IOException | RuntimeException error) {
        lost(reason(error));
        return;
      }
      if (size == 0) return;
      goesOn = owner.received(buffer, size);
    }
  }

  /** Adds bytes to what {@link #flush} sends. */
  void send(byte[] bytes) {
    if (connection != null) connection.send(bytes);
  }

  void flush() {
    if (connection == null) return;
    try {
      connection.flush();
    } catch (IOException | RuntimeException error) {
      lost(reason(error));
    }
  }

  private void lost(String reason) {
    connection.abort();
    connection = null;
    owner.ended(reason);
  }

  /** Tells the selector what to wait for; false if there is no connection. */
  boolean updateInterest(boolean isReading) {
    if (connection == null) return false;
    connection.updateInterest(isReading);
    return true;
  }

  /** Ends the connection and what leads to one. */
  void close() {
    resolver.cancel();
    candidates.clear();
    if (connection == null) return;
    if (connection.isOpen()) {
      connection.close();
    } else {
      rotation++;
      connection.abort();
    }
    connection = null;
  }

  /** Resolves names on a thread of its own, one at a time, since that may block for long. */
  final class Resolver {
    private String wanted;
    private boolean isRunning;

    void resolve(String host) {
      wanted = host;
      if (isRunning) return;
      isRunning = true;
      Thread resolving = new Thread(() -> {
        List<InetAddress> addresses;
        try {
          addresses = Arrays.asList(InetAddress.getAllByName(host));
        } catch (UnknownHostException | RuntimeException error) {
          addresses = Collections.emptyList();
        }
        List<InetAddress> found = addresses;
        owner.post(() -> ended(host, found));
      }, "borealis-names");
      resolving.setDaemon(true);
      resolving.start();
    }

    /** The attempt that wanted the addresses has ended. */
    void cancel() {
      wanted = null;
    }

    private void ended(String host, List<InetAddress> addresses) {
      isRunning = false;
      if (wanted == null) return;
      if (!wanted.equals(host)) {
        resolve(wanted);
        return;
      }
      wanted = null;
      resolved(addresses);
    }
  }
}
