import BorealisBase
import Model
import PushTesting
import Synchronization
import Testing

@testable import Console
@testable import Storage

/// Takes mail, or answers as the test says.
private final class FakeServer: MailSending {
  private let state = Mutex((answers: [MailFailure](), taken: [String]()))
  /// Called while the server has a mail that it has not answered.
  private let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

  var taken: [String] { state.withLock { $0.taken } }

  func fail(_ failures: MailFailure...) { state.withLock { $0.answers += failures } }

  func whileSending(_ work: @escaping @Sendable () -> Void) { meanwhile.withLock { $0 = work } }

  func send(_ message: [UInt8], to recipient: String) throws(MailFailure) {
    meanwhile.withLock { $0 }?()
    let failure = state.withLock { state -> MailFailure? in
      if !state.answers.isEmpty { return state.answers.removeFirst() }
      state.taken.append(recipient)
      return nil
    }
    if let failure { throw failure }
  }
}

private final class MailWorld: Sendable {
  let clock = ManualClock()
  let server = FakeServer()
  let metrics = MailMetrics(Metrics())
  private let database: TestDatabase
  var store: Store { database.store }

  init() throws {
    database = try TestDatabase(readers: 1)
  }

  func mailer() throws -> Mailer {
    let from = try #require(MailAddress("push@example.com"))
    return Mailer(
      store: store, server: try #require(MailServer(url: "smtp://localhost", from: from)), sender: server,
      metrics: metrics, time: clock, log: .silent)
  }

  /// How much mail waits in the database.
  func waiting() async throws -> Int {
    try await store.change { transaction throws(StorageError) in try transaction.mail.waiting() }
  }

  func run(_ script: String) async throws {
    try await store.change { transaction throws(StorageError) in
      try transaction.database.run(script: script)
    }
  }

  func add(_ recipient: String, of credential: CredentialID? = nil) async throws {
    let now = clock.now()
    try await store.change { transaction throws(StorageError) in
      try transaction.mail.add(
        NewMail(recipient: recipient, subject: "s", body: "b", credential: credential), at: now)
    }
  }
}

extension Mailer {
  /// One round, from begin to end.
  fileprivate func round() async { await awaitCallback { done in look { done(()) } } }
}

@Suite struct MailerTests {
  private let busy = MailFailure("421 later", .allMail)
  private let greylisted = MailFailure("450 later", .thisMail)
  private let unknown = MailFailure("RCPT failed: 550", .thisMailForGood)

  @Test func `Stored mail is sent once, in order, also by the next process`() async throws {
    let world = try MailWorld()
    for name in ["a@x.y", "b@x.y", "c@x.y"] { try await world.add(name) }
    try await world.mailer().round()
    try await world.mailer().round()
    #expect(world.server.taken == ["a@x.y", "b@x.y", "c@x.y"])
    #expect(world.metrics.sent.value == 3 && world.metrics.failed.value == 0)
  }

  @Test func `A server out of order is left alone, and gets everything later`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    for name in ["a@x.y", "b@x.y"] { try await world.add(name) }
    world.server.fail(busy, busy)
    await mailer.round()
    #expect(world.server.taken.isEmpty && world.metrics.failed.value == 1)
    // While it rests nothing is tried.
    await mailer.round()
    #expect(world.metrics.failed.value == 1)
    world.clock.advance(seconds: 6)
    await mailer.round()
    #expect(world.metrics.failed.value == 2)
    world.clock.advance(seconds: 61)
    await mailer.round()
    #expect(Set(world.server.taken) == ["a@x.y", "b@x.y"] && world.metrics.sent.value == 2)
  }

  @Test func `An address that is refused for good holds nobody up`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    for name in ["gone@x.y", "b@x.y"] { try await world.add(name) }
    world.server.fail(unknown)
    await mailer.round()
    #expect(world.server.taken == ["b@x.y"] && world.metrics.givenUp.value == 1)
    world.clock.advance(seconds: 7200)
    await mailer.round()
    #expect(world.server.taken == ["b@x.y"])
  }

  @Test func `A recipient whose server wants to be asked again holds nobody up`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    for name in ["grey@x.y", "b@x.y"] { try await world.add(name) }
    world.server.fail(greylisted)
    await mailer.round()
    #expect(world.server.taken == ["b@x.y"] && world.metrics.givenUp.value == 0)
    // Nor whoever waits for a link.
    #expect(mailer.send(NewMail(recipient: "z@x.y", subject: "s", body: "https://x/secret")))
    await mailer.round()
    #expect(world.server.taken == ["b@x.y", "z@x.y"])
    world.clock.advance(seconds: 11)
    await mailer.round()
    #expect(world.server.taken == ["b@x.y", "z@x.y", "grey@x.y"])
  }

  /// As on a full disk: what was sent is known, but cannot be noted.
  @Test func `The outcome of a mail that cannot be stored is stored later, and the mail is sent once`()
    async throws
  {
    let world = try MailWorld()
    let mailer = try world.mailer()
    for name in ["a@x.y", "b@x.y"] { try await world.add(name) }
    try await world.run("CREATE TRIGGER fault BEFORE UPDATE ON mail BEGIN SELECT RAISE(ABORT, 'full'); END")
    for _ in 0..<5 {
      await mailer.round()
      world.clock.advance(seconds: 1)
    }
    #expect(world.server.taken == ["a@x.y"])
    // A link is not in the database.
    #expect(mailer.send(NewMail(recipient: "z@x.y", subject: "s", body: "https://x/secret")))
    await mailer.round()
    #expect(world.server.taken == ["a@x.y", "z@x.y"])
    #expect(try await world.waiting() == 2)
    try await world.run("DROP TRIGGER fault")
    await mailer.round()
    #expect(world.server.taken == ["a@x.y", "z@x.y", "b@x.y"])
    await mailer.round()
    #expect(world.server.taken.count == 3)
    #expect(try await world.waiting() == 0)
  }

  /// The sum over all nodes is what waits.
  @Test func `Mail is counted only where it is sent`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    for name in ["a@x.y", "b@x.y"] { try await world.add(name) }
    await mailer.round()
    #expect(world.metrics.waiting.value == 2)
    for name in ["c@x.y", "d@x.y", "e@x.y"] { try await world.add(name) }
    mailer.tick(isOthers: true)
    #expect(world.metrics.waiting.value == 0)
    await mailer.round()
    #expect(world.metrics.waiting.value == 3)
    mailer.stop()
    #expect(world.metrics.waiting.value == 0)
  }

  @Test func `A failure that cannot be stored counts all the same`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    try await world.add("gone@x.y")
    world.server.fail(unknown)
    try await world.run("CREATE TRIGGER fault BEFORE UPDATE ON mail BEGIN SELECT RAISE(ABORT, 'full'); END")
    await mailer.round()
    await mailer.round()
    try await world.run("DROP TRIGGER fault")
    for _ in 0..<3 { await mailer.round() }
    #expect(world.server.taken.isEmpty && world.metrics.failed.value == 1)
    #expect(try await world.waiting() == 0)
  }

  @Test func `An orderly end notes the mail under way and begins no other`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    for name in ["a@x.y", "b@x.y"] { try await world.add(name) }
    let wasIdle = Mutex(true)
    world.server.whileSending { wasIdle.withLock { $0 = mailer.close(until: 0) } }
    await mailer.round()
    world.server.whileSending {}
    #expect(wasIdle.withLock { !$0 })
    #expect(mailer.close(until: .max))
    #expect(world.server.taken == ["a@x.y"])
    #expect(try await world.waiting() == 1)
    await mailer.round()
    #expect(world.server.taken == ["a@x.y"])
  }

  @Test func `After three days it is given up`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    try await world.add("a@x.y")
    var rounds = 0
    while world.metrics.givenUp.value == 0, rounds < 200 {
      world.server.fail(busy)
      await mailer.round()
      world.clock.advance(seconds: 3600)
      rounds += 1
    }
    #expect((71...74).contains(rounds), "\(rounds)")
    await mailer.round()
    #expect(try await world.waiting() == 0)
  }

  @Test func `Mail in memory is bounded by its count and its bytes, and what is over makes room`()
    async throws
  {
    let world = try MailWorld()
    let mailer = try world.mailer()
    func send(_ bytes: Int) -> Bool {
      mailer.send(NewMail(recipient: "z@x.y", subject: "s", body: String(repeating: "b", count: bytes)))
    }
    // The server rests, so that all of them wait.
    world.server.fail(busy)
    #expect(send(1))
    await mailer.round()
    #expect(!send(Mailer.directBytes))
    for _ in 1..<Mailer.directLimit { #expect(send(1)) }
    #expect(mailer.reserve() == nil && !send(1))
    world.clock.advance(seconds: 30)
    await mailer.round()
    #expect(world.server.taken.count == Mailer.directLimit)
    for _ in 0..<2 { #expect(send(Mailer.directBytes / 2 - 16)) }
    await mailer.round()
    #expect(send(Mailer.directBytes - 16))
    #expect(world.server.taken.count >= Mailer.directLimit + 2)
  }

  @Test func `A place that is kept is taken by nobody else, and free again without a mail`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    let mail = NewMail(recipient: "z@x.y", subject: "s", body: "b")
    world.server.fail(busy)
    #expect(mailer.send(mail))
    await mailer.round()
    for _ in 2..<Mailer.directLimit { #expect(mailer.send(mail)) }
    for _ in 0..<2 {
      let place = try #require(mailer.reserve())
      #expect(!mailer.send(mail) && mailer.reserve() == nil)
      withExtendedLifetime(place) {}
    }
    let place = try #require(mailer.reserve())
    #expect(!mailer.send(mail))
    // A place is for one mail.
    for _ in 0..<2 { place.send(mail) }
    #expect(!mailer.send(mail))
    world.clock.advance(seconds: 30)
    await mailer.round()
    #expect(world.server.taken.count == Mailer.directLimit)
    // What they held is counted back, to the byte.
    let largest = String(repeating: "b", count: Mailer.directBytes - 6)
    #expect(mailer.send(NewMail(recipient: "z@x.y", subject: "s", body: largest)))
  }

  @Test func `The mail of one account leaves room for everybody else's`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    let mail = NewMail(recipient: "z@x.y", subject: "s", body: "b")
    world.server.fail(busy)
    #expect(mailer.send(mail))
    await mailer.round()
    let (one, other) = (AccountID(7), AccountID(8))
    let place = try #require(mailer.reserve(of: one))
    for _ in 1..<Mailer.accountLimit { #expect(mailer.send(mail, of: one)) }
    #expect(!mailer.send(mail, of: one) && mailer.reserve(of: one) == nil)
    #expect(mailer.send(mail, of: other) && mailer.send(mail))
    place.send(mail)
    world.clock.advance(seconds: 30)
    await mailer.round()
    #expect(world.server.taken.count == Mailer.accountLimit + 3)
    #expect(mailer.send(mail, of: one))
  }

  @Test func `Delays double up to an hour`() {
    let delays = (0...40).map { Mailer.delay(afterFailures: $0) }
    #expect(Array(delays.prefix(12)) == [10, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
    #expect(delays.max() == 3600)
  }

  @Test func `Mail with a secret link is in memory alone, and tried for some minutes`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    let mail = NewMail(recipient: "z@x.y", subject: "s", body: "https://x/secret")
    world.server.fail(busy)
    #expect(mailer.send(mail))
    await mailer.round()
    for _ in 0..<3 {
      world.clock.advance(seconds: 30)
      await mailer.round()
    }
    #expect(world.server.taken == ["z@x.y"])
    #expect(try await world.waiting() == 0)
  }

  @Test func `Whoever sends mail in memory hears of each attempt`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    let heard = Mutex<[MailProgress]>([])
    world.server.fail(busy, unknown)
    for recipient in ["a@x.y", "b@x.y"] {
      let mail = NewMail(recipient: recipient, subject: "s", body: "b")
      #expect(mailer.send(mail) { progress in heard.withLock { $0.append(progress) } })
    }
    for _ in 0..<6 {
      await mailer.round()
      world.clock.advance(seconds: 30)
    }
    let wanted: [MailProgress] = [
      .delayed(reason: busy.reason), .refused(reason: unknown.reason), .handedOver,
    ]
    #expect(heard.withLock { $0.count } == wanted.count)
    #expect(wanted.allSatisfy { one in heard.withLock { $0.contains(one) } })
    #expect(world.server.taken.count == 1)
  }

  /// A reminder of a credential that is replaced or gone by the time the server works again is not sent.
  @Test func `Mail about a replaced credential is dropped`() async throws {
    let world = try MailWorld()
    let mailer = try world.mailer()
    let ids = try await world.store.change { transaction throws(StorageError) in
      let app = try transaction.apps.create(
        key: AppKey(high: 1, low: 2), name: "a", secretHash: [UInt8](repeating: 0, count: 32),
        at: Timestamp(milliseconds: 0))
      var ids: [CredentialID] = []
      for service in [ServiceID.only, .only, ServiceID(rawValue: 2)] {
        ids.append(
          try transaction.credentials.add(
            app: app,
            NewCredential(
              channel: .apns, kind: .certificate, service: service, subject: "a.b",
              fingerprint: [UInt8](repeating: 0, count: 32), sealed: []),
            at: Timestamp(milliseconds: 0)))
      }
      return ids
    }
    for (index, id) in ids.enumerated() { try await world.add("\(index)@x.y", of: id) }
    try await world.add("9@x.y", of: CredentialID(99))
    await mailer.round()
    #expect(world.server.taken == ["1@x.y", "2@x.y"])
    let left = try await world.store.change { transaction throws(StorageError) in
      try transaction.mail.sweep(endedBefore: Timestamp(milliseconds: 0), limit: 100)
      return try transaction.mail.waiting()
    }
    #expect(left == 0)
  }
}
