import BorealisBase
import BorealisCrypto
import CLinux
import Glibc
import PushTesting
import Synchronization
import Testing

@testable import Cluster

/// Servers that stop talking in the middle of the beginning. libnats alone would wait for them without a
/// limit.
@Suite(.serialized, .timeLimit(.minutes(2))) struct NATSAttemptTests {
  private static let plain =
    #"INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576}"# + "\r\n"
  private static let secure =
    #"INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576,"tls_required":true}"# + "\r\n"

  /// Each leaves the server by itself, says why, and finds it when it talks again.
  @Test(
    arguments: [
      ("nats", "", "Timeout"), ("nats", plain, "a server does not answer"),
      ("tls", secure, "a server does not answer"),
    ])
  func `A silent server is left`(scheme: String, greeting: String, reason: String) throws {
    let server = try #require(GreetingServer(greeting))
    let listener = try NATSBusTests.Listener("\(scheme)://127.0.0.1:\(server.port)", 1)
    try listener.wait("a failure") { _, events in events.contains(.failed(reason)) }
    // Nothing goes on with it behind our back.
    #expect(server.waitForEnd())
    #expect(listener.bus.counts.errors == 1)
    guard scheme == "nats" else { return }
    server.talk(Self.plain)
    try listener.waitForConnection()
  }

  @Test(arguments: [("nats", plain), ("tls", secure)])
  func `The end does not wait for a silent server`(scheme: String, greeting: String) throws {
    let server = try #require(GreetingServer(greeting))
    let listener = try NATSBusTests.Listener("\(scheme)://127.0.0.1:\(server.port)", 1)
    #expect(server.waitForGreeting())
    listener.bus.close()
    #expect(server.waitForEnd())
    #expect(listener.bus.drain().events.isEmpty, "it was closed before it was given up")
  }

  /// The next server gets its turn, though libnats chooses by chance which one it tries first.
  @Test func `A silent server hides no other one`() throws {
    let (silent, good) = (try #require(GreetingServer(Self.plain)), try NATSServer())
    for number in 1...3 as ClosedRange<UInt64> {
      let listener = try NATSBusTests.Listener("nats://127.0.0.1:\(silent.port),\(good.address)", number)
      try listener.waitForConnection()
    }
  }

  /// A server with TLS, and the end of a URL by which its certificate is known.
  private static func secureServer() throws -> (server: NATSServer, query: String, TemporaryFolder) {
    let folder = TemporaryFolder()
    let authority = try CertificateAuthority.make(commonName: "test", days: 2)
    let issued = try authority.issueServer(
      commonName: "nats", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
    for (name, text) in [
      ("ca", authority.certificatePEM), ("cert", issued.certificatePEM), ("key", issued.keyPEM),
    ] { try TemporaryFolder.write(text, to: folder.file(name)) }
    let server = try NATSServer(
      #"tls { cert_file: "\#(folder.file("cert"))", key_file: "\#(folder.file("key"))", timeout: 5 }"#,
      in: folder)
    return (server, "?ca=\(folder.file("ca"))", folder)
  }

  /// A middlebox damages what the server says first over TLS; libnats would read it again and again, on a
  /// core of its own.
  @Test func `A server whose first answer is damaged is tried again`() throws {
    let (server, query, folder) = try Self.secureServer()
    let proxy = try #require(DamagingProxy(to: server.address))
    proxy.set(.answers)
    let listener = try NATSBusTests.Listener("tls://127.0.0.1:\(proxy.port)\(query)", 1)
    try listener.wait("a failure") { _, events in events.contains(.failed("a server does not answer")) }
    // There is a second attempt only once the first one has ended.
    #expect(proxy.waitForDamage() && proxy.waitForDamage())
    try listener.wait("nothing") { _, events in
      #expect(!events.contains(.connected))
      return true
    }
    proxy.set(.nothing)
    try listener.waitForConnection()
    withExtendedLifetime(folder) {}
  }

  @Test func `A connection is made anew once something comes damaged`() throws {
    let (server, query, folder) = try Self.secureServer()
    let proxy = try #require(DamagingProxy(to: server.address))
    let listener = try NATSBusTests.Listener("tls://127.0.0.1:\(proxy.port)\(query)", 1)
    for round in 1...2 {
      try listener.waitForConnection(round)
      // At the latest the server's answer to the next PING.
      proxy.set(.once)
      try listener.wait("the end") { $1.count { $0 == .disconnected } >= round }
    }
    try listener.waitForConnection(3)
    withExtendedLifetime(folder) {}
  }

  /// Other connections of the process are left alone.
  @Test func `Only connections to the peer are shut down`() throws {
    let (one, other) = (try #require(GreetingServer(Self.plain)), try #require(GreetingServer(Self.plain)))
    let (first, second) = (try #require(one.connect()), try #require(other.connect()))
    defer { for descriptor in [first, second] { close(descriptor) } }
    #expect(one.waitForGreeting() && other.waitForGreeting())
    SocketPeer.shutDown(SocketPeer.all(of: ["127.0.0.1:\(one.port)", "[::1]:\(other.port)", "no port", ":"]))
    #expect(one.waitForEnd())
    #expect(GreetingServer.read(first).count <= Self.plain.utf8.count, "at its end")
    var byte: UInt8 = 0
    // What was said is still there to be read, and nothing says that it is the end.
    var read = 0
    while recv(second, &byte, 1, Int32(MSG_DONTWAIT)) == 1 { read += 1 }
    let last = errno
    #expect(read == Self.plain.utf8.count && last == EAGAIN)
  }
}

/// A server on a port of this machine that says something to whoever connects, and then nothing, or what NATS
/// would.
final class GreetingServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let greeting: Mutex<(text: String, answers: Bool)>
  private let greeted = BorealisBase.Semaphore()
  private let ended = BorealisBase.Semaphore()

  init?(_ text: String) {
    guard let (listener, port) = Self.listen() else { return nil }
    (self.listener, self.port) = (listener, port)
    greeting = Mutex((text, false))
    guard (try? start()) != nil else { return nil }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// A socket that listens on a port of this machine.
  fileprivate static func listen() -> (Int32, port: UInt16)? {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && Glibc.listen(listener, 16) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    return isBound ? (listener, UInt16(bigEndian: address.sin_port)) : nil
  }

  fileprivate static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  private func start() throws(SystemThread.Failure) {
    try SystemThread.start("greeting") { [weak self, listener, greeted, ended] in
      defer { close(listener) }
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0, let greeting = self?.greeting.withLock({ $0 }) else { return }
        _ = send(descriptor, greeting.text, greeting.text.utf8.count, Int32(MSG_NOSIGNAL))
        greeted.signal()
        Self.read(descriptor) { bytes in
          guard greeting.answers, bytes.count >= 4, bytes.contains(UInt8(ascii: "\n")) else { return }
          _ = send(descriptor, "PONG\r\n", 6, Int32(MSG_NOSIGNAL))
        }
        close(descriptor)
        ended.signal()
      }
    }
  }

  /// Reads to the end.
  @discardableResult
  static func read(_ descriptor: Int32, _ body: (ArraySlice<UInt8>) -> Void = { _ in }) -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return all }
      all += buffer[..<count]
      body(buffer[..<count])
    }
  }

  /// From now on who connects is greeted by this, and answered.
  func talk(_ text: String) { greeting.withLock { $0 = (text, true) } }

  /// Waits until somebody has connected.
  func waitForGreeting() -> Bool { greeted.wait(until: SystemTime().monotonic() + 60_000_000_000) }

  /// Waits until somebody who had connected is gone.
  func waitForEnd() -> Bool { ended.wait(until: SystemTime().monotonic() + 60_000_000_000) }

  /// A connection to it.
  func connect() -> Int32? { Self.connect(to: port) }

  fileprivate static func connect(to port: UInt16) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = Self.address(port)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return status == 0 ? descriptor : nil
  }
}

/// Stands between a bus and a server with TLS, and changes the last byte of something that the server sends.
final class DamagingProxy: Sendable {
  enum Damage: Sendable {
    case nothing
    /// Of every connection, what comes first after the client has sent something behind its handshake.
    case answers
    /// What comes next.
    case once
  }

  private final class Shared: Sendable {
    let damage = Mutex(Damage.nothing)
    let damaged = BorealisBase.Semaphore()

    /// Whether what has come from the server is to be damaged; `isAnswer` says that it may be the first
    /// answer.
    func damages(isAnswer: Bool) -> Bool {
      let isDamaged = damage.withLock { damage in
        defer { if damage == .once { damage = .nothing } }
        return damage == .once || damage == .answers && isAnswer
      }
      if isDamaged { damaged.signal() }
      return isDamaged
    }
  }

  let port: UInt16
  private let listener: Int32
  private let shared = Shared()

  /// `target` is `127.0.0.1:PORT`.
  init?(to target: String) {
    guard let (listener, port) = GreetingServer.listen(),
      let server = target.split(separator: ":").last.flatMap({ UInt16($0) })
    else { return nil }
    (self.listener, self.port) = (listener, port)
    guard (try? start(to: server)) != nil else { return nil }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private func start(to port: UInt16) throws(SystemThread.Failure) {
    try SystemThread.start("proxy") { [listener, shared] in
      defer { close(listener) }
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        guard let server = GreetingServer.connect(to: port) else {
          close(client)
          continue
        }
        try? SystemThread.start("proxied") { Self.pass(client, server, shared) }
      }
    }
  }

  func set(_ damage: Damage) { shared.damage.withLock { $0 = damage } }

  /// Waits until something was damaged once more.
  func waitForDamage() -> Bool { shared.damaged.wait(until: SystemTime().monotonic() + 60_000_000_000) }

  /// Counts the records of a stream.
  private struct Records {
    private var header: [UInt8] = []
    private var left = 0
    private(set) var encrypted = 0

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
      for byte in bytes {
        guard left == 0 else {
          left -= 1
          continue
        }
        header.append(byte)
        guard header.count == 5 else { continue }
        left = Int(header[3]) << 8 | Int(header[4])
        if header[0] == 23 { encrypted += 1 }
        header = []
      }
    }
  }

  /// Passes everything on until one end closes.
  private static func pass(_ client: Int32, _ server: Int32, _ shared: Shared) {
    defer { for end in [client, server] { close(end) } }
    var asked = Records()
    var isAnswered = false
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var polls = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&polls, 2, -1) > 0 else { return }
      for (index, (source, target)) in [(client, server), (server, client)].enumerated()
      where polls[index].revents != 0 {
        let count = recv(source, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        if source == client {
          asked.receive(buffer[..<count])
        } else {
          // The first record that TLS 1.3 encrypts ends the client's handshake.
          let hasAsked = asked.encrypted > 1
          if shared.damages(isAnswer: hasAsked && !isAnswered) { buffer[count - 1] ^= 1 }
          isAnswered = hasAsked
        }
        var sent = 0
        while sent < count {
          let more = buffer[sent..<count].withUnsafeBytes {
            send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          guard more > 0 else { return }
          sent += more
        }
      }
    }
  }
}
