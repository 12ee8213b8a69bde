import Glibc
import PushBase
import PushTesting
import Synchronization
import Testing

@testable import PushCluster

/// Servers that stop talking in the middle of the beginning. libnats alone would wait for them without a limit.
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
    #expect(listener.bus.take().events.isEmpty, "it was closed before it was given up")
  }

  /// The next server gets its turn, though libnats chooses by chance which one it tries first.
  @Test func `A silent server hides no other one`() throws {
    let (silent, good) = (try #require(GreetingServer(Self.plain)), try NATSServer())
    for number in 1...3 as ClosedRange<UInt64> {
      let listener = try NATSBusTests.Listener("nats://127.0.0.1:\(silent.port),\(good.address)", number)
      try listener.waitForConnection()
    }
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

/// A server on a port of this machine that says something to whoever connects, and then nothing, or what NATS would.
final class GreetingServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let greeting: Mutex<(text: String, answers: Bool)>
  private let greeted = PushBase.Semaphore()
  private let ended = PushBase.Semaphore()

  init?(_ text: String) {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    greeting = Mutex((text, false))
    guard isBound, (try? start()) != nil else { return nil }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func address(_ port: UInt16) -> sockaddr_in {
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
  func connect() -> Int32? {
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
