import BorealisBase
import BorealisCrypto
import Glibc
import PushTesting
import Synchronization
import Testing

@testable import Cluster

/// The bus on Debian's nats-server.
@Suite(.serialized, .timeLimit(.minutes(3))) struct NATSBusTests {
  /// A bus whose frames and events wait to be looked at.
  final class Listener: Sendable {
    private struct Heard: Sendable {
      var frames: [[UInt8]] = []
      var events: [BusEvent] = []
    }

    let bus: NATSBus
    private let work: BorealisBase.Semaphore
    private let heard = Mutex(Heard())

    init(_ url: String, _ number: UInt64, cluster: String = "test") throws {
      let work = BorealisBase.Semaphore()
      self.work = work
      bus = try NATSBus(
        BusSettings(url), cluster: try #require(ClusterName(cluster)), incarnation: Incarnation(number)
      ) { work.signal() }
    }

    deinit { bus.close() }

    var frames: [[UInt8]] { heard.withLock { $0.frames } }

    /// Waits until it has heard enough.
    func wait(_ what: String, until isEnough: ([[UInt8]], [BusEvent]) -> Bool) throws {
      let limit = SystemTime().monotonic() + 60_000_000_000
      while true {
        let (frames, events) = bus.drain()
        let all = heard.withLock { heard in
          heard.frames += frames
          heard.events += events
          return heard
        }
        if isEnough(all.frames, all.events) { return }
        guard work.wait(until: limit) else {
          throw NATSServer.Failure(
            description: "\(what) does not come: \(all.frames.count) frames, \(all.events)")
        }
      }
    }

    func waitForConnection(_ times: Int = 1) throws {
      try wait("connection \(times)") { $1.count { $0 == .connected } >= times }
    }
  }

  private func frame(_ number: Int, size: Int = 100) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 7, count: size)
  }

  @Test func framesComeInOrderToWhomTheyAreFor() throws {
    let server = try NATSServer()
    let (one, two) = (
      try Listener("nats://\(server.address)", 1), try Listener("nats://\(server.address)", 2)
    )
    let other = try Listener("nats://\(server.address)", 2, cluster: "other")
    for listener in [one, two, other] { try listener.waitForConnection() }
    // Subscriptions of a connection are in effect before what it publishes.
    for listener in [one, two, other] { try settle(listener, with: one === listener ? two : one, other) }
    let before = (one.frames.count, two.frames.count, other.frames.count)
    for number in 0..<500 { #expect(one.bus.publish(frame(number), to: .node(Incarnation(2)))) }
    #expect(one.bus.publish(frame(500, size: ClusterLimits.maxFrame - 2), to: .all))
    try two.wait("all frames") { frames, _ in frames.count >= before.1 + 501 }
    // What goes to all comes on its own, between the others.
    let numbers = two.frames.dropFirst(before.1).map { Int($0[0]) << 8 | Int($0[1]) }
    #expect(numbers.filter { $0 != 500 } == Array(0..<500) && numbers.contains(500))
    #expect(!one.bus.publish(frame(1, size: ClusterLimits.maxSealedFrame), to: .all), "too large")
    // Nobody hears himself, or another cluster.
    #expect(two.bus.publish(frame(501), to: .all))
    try one.wait("a frame to all") { frames, _ in frames.count > before.0 }
    #expect(one.frames.count == before.0 + 1)
    #expect(other.frames.count == before.2)
    #expect(one.bus.counts.published >= 501 && one.bus.counts.errors == 0)
  }

  /// Waits until a frame to a node arrives there, from whoever is in its cluster.
  private func settle(_ listener: Listener, with sender: Listener, _ other: Listener) throws {
    guard listener !== other else { return }
    let target: BusTarget = .all
    var count = 0
    let limit = SystemTime().monotonic() + 60_000_000_000
    repeat {
      count += 1
      sender.bus.publish([0, 0, UInt8(truncatingIfNeeded: count)], to: target)
      // Until the subscription has reached the server, frames are lost, as they may be at any time.
      let soon = SystemTime().monotonic() + 20_000_000
      let pause = BorealisBase.Semaphore()
      _ = pause.wait(until: soon)
      try listener.wait("nothing") { _, _ in true }
    } while listener.frames.isEmpty && SystemTime().monotonic() < limit
    #expect(!listener.frames.isEmpty)
  }

  @Test func aServerThatComesLaterIsFound() throws {
    let server = try NATSServer()
    server.kill()
    let listener = try Listener("nats://\(server.address)", 1)
    #expect(listener.bus.publish(frame(1), to: .all), "it is taken, and lost")
    try server.start()
    try listener.waitForConnection()
    #expect(listener.bus.counts.published == 0)
  }

  @Test func aKilledServerIsFoundAgain() throws {
    let server = try NATSServer()
    let listener = try Listener("nats://\(server.address)", 1)
    for round in 1...3 {
      try listener.waitForConnection(round)
      server.kill()
      try listener.wait("the end of the connection") { $1.count { $0 == .disconnected } >= round }
      try server.start()
    }
    try listener.waitForConnection(4)
    #expect(listener.bus.counts.disconnections == 3)
  }

  /// A server that hangs holds nobody up: what cannot be sent is refused, and nothing grows.
  @Test func aServerThatHangsIsLeft() throws {
    let server = try NATSServer()
    let listener = try Listener("nats://\(server.address)", 1)
    try listener.waitForConnection()
    server.pause()
    let large = frame(1, size: ClusterLimits.maxFrame - 2)
    var taken = 0
    while listener.bus.publish(large, to: .node(Incarnation(9))) {
      taken += 1
      try #require(taken < 100_000, "nothing is refused")
    }
    try listener.wait("the end of the connection") { $1.contains(.disconnected) }
    server.resume()
    try listener.waitForConnection(2)
  }

  @Test func onlyWhoIsKnownIsLetIn() throws {
    let users = { (password: String) in
      """
      authorization { users = [ {
        user: "borealis", password: "\(password)",
        permissions: { publish: "b.test.>", subscribe: "b.test.>" } } ] }
      """
    }
    let server = try NATSServer(users("right"))
    let wrong = try Listener("nats://borealis:wrong@\(server.address)", 1)
    try wrong.wait("a refusal") { _, events in
      events.contains { if case .failed = $0 { true } else { false } }
    }
    let right = try Listener("nats://borealis:right@\(server.address)", 2)
    try right.waitForConnection()
    // A cluster that the user has no rights to: told as an error, and the connection lives on.
    let foreign = try Listener("nats://borealis:right@\(server.address)", 3, cluster: "foreign")
    try foreign.wait("a violation") { _, events in
      events.contains { if case .failed = $0 { true } else { false } }
    }
    // Who was refused tries again for ever.
    server.kill()
    try server.start(users("wrong"))
    try wrong.waitForConnection()
  }

  @Test func connectionsAreSecure() throws {
    let folder = TemporaryFolder()
    let authority = try CertificateAuthority.make(commonName: "test", days: 2)
    let client = try SelfSignedCertificate.make(
      commonName: "node", dnsNames: ["node"], ipAddresses: [], days: 2, usage: .client)
    let named = try authority.issueServer(
      commonName: "nats", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
    let foreign = try authority.issueServer(
      commonName: "nats", dnsNames: ["elsewhere.example"], ipAddresses: [], days: 2)
    for (name, text) in [
      ("ca", authority.certificatePEM), ("cert", named.certificatePEM), ("key", named.keyPEM),
      ("foreign", foreign.certificatePEM), ("foreign-key", foreign.keyPEM),
      ("client", client.certificatePEM), ("client-key", client.keyPEM),
    ] { try TemporaryFolder.write(text, to: folder.file(name)) }
    let tls = { (certificate: String, key: String) in
      """
      tls {
        cert_file: "\(folder.file(certificate))", key_file: "\(folder.file(key))"
        ca_file: "\(folder.file("client"))", verify: true, timeout: 5
      }
      """
    }
    let server = try NATSServer(tls("cert", "key"), in: folder)
    let files = "cert=\(folder.file("client"))&key=\(folder.file("client-key"))"
    let good = try Listener("tls://\(server.address)?ca=\(folder.file("ca"))&\(files)", 1)
    try good.waitForConnection()
    // Authorities of the system do not know it, and it does not know who shows no certificate.
    for (number, url) in [
      "tls://\(server.address)?\(files)", "tls://\(server.address)?ca=\(folder.file("ca"))",
      "tls://\(server.address)?ca=\(folder.file("missing"))",
    ].enumerated() {
      let bad = try Listener(url, UInt64(10 + number))
      try bad.wait("a refusal") { _, events in
        events.contains { if case .failed = $0 { true } else { false } } && !events.contains(.connected)
      }
    }
    // A certificate of the right authority for another name.
    server.kill()
    try server.start(tls("foreign", "foreign-key"))
    let misled = try Listener("tls://\(server.address)?ca=\(folder.file("ca"))&\(files)", 2)
    try misled.wait("a refusal") { _, events in
      events.contains { if case .failed = $0 { true } else { false } } && !events.contains(.connected)
    }
  }

  /// The names of the threads of this process.
  private static var threads: [String] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let number = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard Int(number) != nil else { continue }
      names.append(TemporaryFolder.read("/proc/self/task/\(number)/comm").split(separator: "\n").joined())
    }
    return names
  }

  /// Some threads of libnats stay, which all connections share, and have the name of the thread that made
  /// them. No connection leaves one.
  @Test func openingAndClosingLeavesNothing() throws {
    let server = try NATSServer()
    func openAndClose() throws {
      let listener = try Listener("nats://\(server.address)", 1)
      try listener.waitForConnection()
      listener.bus.close()
      #expect(!listener.bus.publish([1], to: .all))
    }
    func count() -> Int { Self.threads.count { $0.hasPrefix("bus") } }
    try openAndClose()
    let shared = count()
    for _ in 0..<20 { try openAndClose() }
    // A thread goes a moment after it has said so.
    let limit = SystemTime().monotonic() + 60_000_000_000
    while count() > shared, SystemTime().monotonic() < limit { sched_yield() }
    #expect(count() <= shared, "\(Self.threads)")
  }

  /// A connection breaks before it is of use, or while it is; what is told is what is so, in this order.
  @Test(
    arguments: [
      ("b", [.connected]), ("bd", [.connected, .disconnected]), ("d", []), ("db", []),
      ("bb", [.connected]), ("bdd", [.connected, .disconnected]), ("bdb", [.connected, .disconnected]),
    ] as [(String, [BusEvent])])
  func `What libnats says is told in order`(calls: String, told: [BusEvent]) {
    let inbox = BusMailbox {}
    let counter = Metrics().counter("disconnections_total")
    let observer = NATSConnection.Observer(inbox, disconnections: counter, errors: counter) {}
    for call in calls { call == "b" ? observer.began() : observer.disconnected() }
    #expect(inbox.drain().events == told)
    #expect(observer.isConnected == (told.last == .connected))
    #expect(counter.value == UInt64(told.count { $0 == .disconnected }))
  }
}
