package io.borealis.push;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;

/** One connection of a client to a socket that plays the server. */
public final class Peer {
  final Socket socket;
  private final InputStream input;
  private final OutputStream output;
  private final FrameBuffer frames = new FrameBuffer();

  public Peer(ServerSocket listener) throws IOException {
    listener.setSoTimeout(30_000);
    socket = listener.accept();
    socket.setSoTimeout(30_000);
    input = socket.getInputStream();
    output = socket.getOutputStream();
  }

  /** The next frame of the client; null when it has closed. */
  public String next() throws Exception {
    byte[] buffer = new byte[4096];
    while (!frames.next()) {
      int count = input.read(buffer);
      if (count < 0) return null;
      frames.append(buffer, 0, count);
    }
    return ClientFrames.decode(frames.type(), frames.body());
  }

  public void expect(String prefix) throws Exception {
    String frame = next();
    assertTrue(frame != null && frame.startsWith(prefix), frame + " instead of " + prefix);
  }

  public void send(String... frames) throws IOException {
    output.write(ServerFrames.of(frames));
    output.flush();
  }

  public Peer registered() throws Exception {
    expect("HELLO");
    expect("REGISTER");
    send("HELLO_OK", "REGISTER_OK");
    expect("LOGIN");
    send("LOGIN_OK ack_delay=0");
    return this;
  }

  public Peer loggedIn() throws Exception {
    expect("HELLO");
    expect("LOGIN");
    send("HELLO_OK", "LOGIN_OK ack_delay=0");
    return this;
  }
}
