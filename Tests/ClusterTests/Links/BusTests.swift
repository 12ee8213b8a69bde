import BorealisBase
import PushTesting
import Synchronization
import Testing

@testable import Cluster

@Suite struct BusTests {
  @Test func theMailboxIsBounded() {
    let wakes = Atomic<Int>(0)
    let mailbox = BusMailbox(mostBytes: 10, mostFrames: 3) { wakes.add(1, ordering: .relaxed) }
    for size in [4, 4, 4, 2] { mailbox.add([UInt8](repeating: 1, count: size)) }
    #expect(mailbox.counts == (4, 1))
    let taken = mailbox.drain()
    #expect(taken.frames.map(\.count) == [4, 4, 2])
    #expect(taken.events == [.overflowed(1)])
    #expect(wakes.load(ordering: .relaxed) == 1, "one wake for all that waits")
    #expect(mailbox.drain() == ([], []))
    for number in 0..<5 { mailbox.add([UInt8(number)]) }
    #expect(mailbox.drain().frames == [[0], [1], [2]], "the newest goes")
    for number in 0..<1000 { mailbox.add(.failed("\(number)")) }
    #expect(mailbox.drain().events.count == BusMailbox.mostEvents)
    mailbox.close()
    mailbox.add([1])
    mailbox.add(.connected)
    #expect(mailbox.drain() == ([], []))
  }

  @Test(arguments: [
    ("nats://h", ["h:4222"], BusSettings.Credentials.none), ("nats://h:1/", ["h:1"], .none),
    ("nats://a:1,b,[::1]:5", ["a:1", "b:4222", "[::1]:5"], .none),
    ("nats://u:p%40%3a@h", ["h:4222"], .user("u", password: "p@:")), ("nats://t@h", ["h:4222"], .token("t")),
    ("nats://h?credentials=/a%20b", ["h:4222"], .file("/a b")),
    ("tls://u:@h", ["h:4222"], .user("u", password: "")),
  ])
  func settingsAreRead(url: String, servers: [String], credentials: BusSettings.Credentials) throws {
    let settings = try BusSettings(url)
    #expect(settings.servers == servers)
    #expect(settings.credentials == credentials)
    #expect((settings.tls != nil) == url.hasPrefix("tls"))
  }

  @Test func filesForTLSAreRead() throws {
    let settings = try BusSettings("tls://h?ca=/ca&cert=/c&key=/k")
    #expect(settings.tls == BusSettings.TLS(authorities: "/ca", certificate: "/c", key: "/k"))
    #expect(try BusSettings("tls://h").tls?.authorities == nil)
  }

  @Test(arguments: [
    ("h", BusSettings.Problem.scheme), ("http://h", .scheme), ("nats://", .host), ("nats://h:0", .host),
    ("nats://h:x", .host), ("nats://h:70000", .host), ("nats://a,,b", .host), ("nats://a b", .host),
    ("nats://h:", .host), ("nats://@h", .credentials), ("nats://u:%4@h", .credentials),
    ("nats://u:%00@h", .credentials), ("nats://:p@h", .credentials), ("nats://h?x=1", .option),
    ("nats://h?credentials=", .option), ("nats://h?credentials=a&credentials=b", .option),
    ("nats://u:p@h?credentials=a", .option), ("nats://h?ca=a", .certificates),
    ("tls://h?cert=a", .certificates), ("tls://h?key=a", .certificates),
  ])
  func otherSettingsAreRefused(url: String, problem: BusSettings.Problem) {
    #expect(throws: problem) { try BusSettings(url) }
  }

  @Test func theSimulatedBusIsBounded() {
    let network = SimulatedNetwork(seed: 1, mostBytes: 1000)
    let (one, two) = (network.bus(of: Incarnation(1)), network.bus(of: Incarnation(2)))
    for _ in 0..<20 { one.publish([UInt8](repeating: 0, count: 100), to: .node(Incarnation(2))) }
    #expect(network.bytes == 1000)
    network.advance(to: 1_000_000_000)
    #expect(two.drain().frames.count == 10)
    #expect(network.bytes == 0)
  }
}
