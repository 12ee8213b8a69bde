import BorealisNet
import CLinux
import Glibc
import PushTesting
import Testing

/// Clients of other libraries at a server whose sessions go on without OpenSSL: 300 messages of random sizes
/// come back as they were sent, with new keys in between where the client has any.
@Suite(.timeLimit(.minutes(3))) struct ClientProgramTests {
  private let files: TLSTestFiles
  private let folder = TemporaryFolder()

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
  }

  private func start(_ program: String, _ arguments: [String], input: ChildProcess.Stream) throws -> pid_t {
    try ChildProcess.start(
      program, arguments, input: input, output: .appending(folder.file("output")),
      errors: .appending(folder.file("errors")))
  }

  private var output: String { TemporaryFolder.read(folder.file("output")) }

  /// Python's `ssl`, which is OpenSSL without new keys.
  @Test func `Python`() throws {
    let script = """
      import os, random, socket, ssl, sys
      port, certificate = int(sys.argv[1]), sys.argv[2]
      context = ssl.create_default_context(cafile=certificate)
      raw = socket.create_connection(("127.0.0.1", port))
      with context.wrap_socket(raw, server_hostname="127.0.0.1") as client:
          assert client.version() == "TLSv1.3", client.version()
          for round in range(300):
              message = os.urandom(random.choice((random.randint(1, 50), random.randint(1, 60000))))
              client.sendall(message)
              answer = b""
              while len(answer) < len(message):
                  part = client.recv(65536)
                  assert part, "ended in round %d" % round
                  answer += part
              assert answer == message, "round %d" % round
          client.unwrap()
      print("good")
      """
    try TemporaryFolder.write(script, to: folder.file("echo.py"))
    let echo = try EchoServer(files)
    let client = try start(
      "python3", [folder.file("echo.py"), String(echo.port), files.certificate], input: .reading("/dev/null"))
    #expect(echo.serve(until: client) == 0, "\(TemporaryFolder.read(folder.file("errors")))")
    #expect(output == "good\n" && echo.properEnds == 1)
  }

  /// Java's JSSE, which sends KeyUpdate after so many bytes of a cipher.
  @Test(arguments: ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"])
  func `Java`(suite: String) throws {
    let program = """
      import java.io.*;
      import java.security.*;
      import java.security.cert.*;
      import java.util.*;
      import javax.net.ssl.*;

      class Echo {
        public static void main(String[] words) throws Exception {
          KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
          store.load(null, null);
          try (InputStream file = new FileInputStream(words[1])) {
            store.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(file));
          }
          TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
          trust.init(store);
          SSLContext context = SSLContext.getInstance("TLSv1.3");
          context.init(null, trust.getTrustManagers(), null);
          Random random = new Random(7);
          try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", Integer.parseInt(words[0]))) {
            socket.setEnabledCipherSuites(new String[] {words[2]});
            DataInputStream input = new DataInputStream(socket.getInputStream());
            for (int round = 0; round < 300; round++) {
              byte[] message = new byte[1 + random.nextInt(round % 3 == 0 ? 40000 : 100)];
              random.nextBytes(message);
              socket.getOutputStream().write(message);
              byte[] answer = new byte[message.length];
              input.readFully(answer);
              if (!Arrays.equals(message, answer)) throw new IOException("round " + round);
            }
          }
          System.out.println("good");
        }
      }
      """
    try TemporaryFolder.write(program, to: folder.file("Echo.java"))
    try TemporaryFolder.write(
      "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate 2^17, ChaCha20-Poly1305 KeyUpdate 2^17\n",
      to: folder.file("properties"))
    let echo = try EchoServer(files)
    let client = try start(
      "java",
      [
        "-Djava.security.properties=\(folder.file("properties"))", folder.file("Echo.java"),
        String(echo.port),
        files.certificate, suite,
      ], input: .reading("/dev/null"))
    #expect(echo.serve(until: client) == 0, "\(TemporaryFolder.read(folder.file("errors")))")
    #expect(output == "good\n" && echo.properEnds == 1)
  }

  /// GnuTLS' own client, which changes its keys when it is told to.
  @Test(arguments: ["AES-128-GCM", "AES-256-GCM", "CHACHA20-POLY1305"])
  func `GnuTLS`(cipher: String) throws {
    var random = SeededRandom(seed: 5)
    var (lines, expected): ([String], [String]) = ([], [])
    for round in 0..<300 {
      let size = Int.random(in: 1...(round % 3 == 0 ? 3000 : 60), using: &random)
      expected.append(
        "\(round):" + String(repeating: Character(Unicode.Scalar(UInt8(97 + round % 26))), count: size))
      lines.append(expected[round])
      // It asks for ours as well, and takes no more than eight a second.
      if round % 50 == 7 { lines.append("^rekey^") }
    }
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let echo = try EchoServer(files)
    let client = try start(
      "gnutls-cli",
      [
        "--inline-commands", "--x509cafile=\(files.certificate)", "--port=\(echo.port)",
        "--priority=NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+\(cipher)", "127.0.0.1",
      ], input: .descriptor(ends[0]))
    close(ends[0])
    // A line at a time, behind the echo of the one before: the client looks for commands at the start of what
    // it reads. It ends when there is nothing more to read.
    var (place, sent, isOpen) = (0, 0, true)
    let status = echo.serve(until: client) { echoed in
      guard isOpen, echoed >= sent else { return }
      guard place < lines.count else {
        guard output.contains(expected[expected.count - 1]) else { return }
        isOpen = false
        close(ends[1])
        return
      }
      let line = lines[place] + "\n"
      _ = write(ends[1], line, line.utf8.count)
      if !line.hasPrefix("^") { sent += line.utf8.count }
      place += 1
    }
    #expect(status == 0, "\(TemporaryFolder.read(folder.file("errors")))")
    let shown = Set(output.split(separator: "\n").map(String.init))
    #expect(expected.filter { !shown.contains($0) }.isEmpty)
    if isOpen { close(ends[1]) }
  }
}

/// Sends back what comes, on the thread of its owner.
private final class EchoServer {
  private final class Peer {
    let session: TLSSession
    let descriptor: Int32
    var isOpen = false
    var waiting: [UInt8] = []

    init(_ context: TLSContext, _ descriptor: Int32) throws {
      session = try TLSSession(context: context, fd: descriptor)
      self.descriptor = descriptor
    }
  }

  let port: UInt16
  /// Connections that ended with close_notify.
  private(set) var properEnds = 0
  private var echoed = 0
  private let context: TLSContext
  private let listener: Int32
  private var peers: [Peer] = []

  init(_ files: TLSTestFiles) throws {
    context = try .server(certificatePath: files.certificate, keyPath: files.key, releasesSessions: true)
    let listener = socket(AF_INET, SocketKind.nonBlockingStream, 0)
    self.listener = listener
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 5) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isListening else { throw TLSTestFiles.Failed() }
    port = UInt16(bigEndian: place.sin_port)
  }

  deinit {
    for peer in peers { close(peer.descriptor) }
    close(listener)
  }

  /// Serves until a process ends, and gives its status. `turn` is called again and again with the number of
  /// bytes that were sent back.
  func serve(until process: pid_t, turn: (Int) -> Void = { _ in }) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, WNOHANG) == 0 {
      var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      for peer in peers {
        let events = peer.waiting.isEmpty ? POLLIN : POLLIN | POLLOUT
        polled.append(pollfd(fd: peer.descriptor, events: Int16(events), revents: 0))
      }
      poll(&polled, nfds_t(polled.count), 10)
      let descriptor = cl_accept(listener)
      if descriptor >= 0, let peer = try? Peer(context, descriptor) { peers.append(peer) }
      for peer in peers { serve(peer) }
      turn(echoed)
    }
    // What came before the process ended.
    for peer in peers { serve(peer) }
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  private func serve(_ peer: Peer) {
    if !peer.isOpen {
      let progress = peer.session.handshake()
      if case .failed(let reason) = progress { return drop(peer, reason) }
      guard progress == .done else { return }
      peer.isOpen = true
      #expect(peer.session.isReleased)
    }
    var buffer = [UInt8](repeating: 0, count: 20_000)
    while true {
      switch buffer.withUnsafeMutableBytes({ peer.session.read(into: $0) }) {
      case .bytes(let count):
        peer.waiting += buffer[..<count]
        continue
      case .closed:
        properEnds += 1
        return drop(peer, nil)
      case .failed(let reason): return drop(peer, reason)
      case .wantRead, .wantWrite: break
      }
      break
    }
    while !peer.waiting.isEmpty,
      case .bytes(let count) = peer.waiting.withUnsafeBytes({ peer.session.write($0) })
    {
      peer.waiting.removeFirst(count)
      echoed += count
    }
  }

  private func drop(_ peer: Peer, _ reason: String?) {
    if let reason { Issue.record("\(reason)") }
    peer.session.shutdown()
    close(peer.descriptor)
    peers.removeAll { $0 === peer }
  }
}
