import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What the home of this process answers, and to whom.
@Suite struct HomeTests {
  private static let place = Location(loop: 0, slot: 3, generation: 4)

  /// Pushes that are held back are passed on by another thread than recalls.
  @Test func `A push that was held back does not go behind its recall`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let (waiting, recalled) = (try await world.push(), try await world.push())
    _ = world.channel.drain()
    _ = await awaitCallback { done in
      world.router.deliveries.recall(recalled, in: world.app) { done($0) }
    }
    _ = world.channel.drain()
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    for id in [recalled, waiting] {
      let live = LivePush(app: world.app.id, id: id, push: StoredPush(content: content), isLate: true)
      world.router.gateways.send(
        live, of: world.app, to: [DispatchPlan.Reachable(number: device.number, location: Self.place)])
    }
    #expect(world.channel.drain() == [.single(waiting, device.number, Self.place)])
  }

  /// Loops 0 and 1 are those of one gateway; each other loop is a gateway of its own.
  private struct Gateways: HomeRules {
    func shareGateway(_ one: UInt16, _ other: UInt16) -> Bool { max(one, other) < 2 }
    var mayDecide: Bool { true }
  }

  /// Two logins of a device.
  struct Pair: Sendable {
    typealias Place = (loop: UInt16, count: UInt32?)

    let first, second: Place
    let seconds: Int
    let end: EndReason?

    /// The connections are given by loop and by how many their gateway had accepted before, nil if it does
    /// not say; then comes how many seconds after the first the second logs in, and how the first is ended,
    /// nil if the second is refused.
    init(_ first: Place, _ second: Place, after seconds: Int, _ end: EndReason?) {
      (self.first, self.second, self.seconds, self.end) = (first, second, seconds, end)
    }
  }

  @Test(arguments: [
    Pair((0, 7), (1, 8), after: 0, .replacedByLogin), Pair((1, 8), (0, 7), after: 0, nil),
    Pair((1, 8), (0, 7), after: 15, nil), Pair((1, 8), (0, 7), after: 16, .replacedByLogin),
    Pair((0, 7), (2, 8), after: 15, .loginAgain), Pair((2, 8), (0, 7), after: 15, .loginAgain),
    Pair((2, 7), (0, 8), after: 16, .replacedByLogin), Pair((0, nil), (1, 8), after: 15, .loginAgain),
    Pair((0, nil), (0, 8), after: 16, .replacedByLogin),
    Pair((0, 0x7f_ffff), (0, 0), after: 0, .replacedByLogin),
    Pair((0, 0x80_0000), (0, 0x7f_ffff), after: 0, nil),
  ])
  func `The newer of two connections has the session`(_ pair: Pair) async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let home = LocalHome(world.router, rules: Gateways())
    let places = [pair.first, pair.second].enumerated().map { slot, place in
      Location(
        loop: place.loop, slot: UInt32(slot),
        generation: place.count.map { Location.generation(after: $0) } ?? 5)
    }
    var answers: [HomeMessage] = []
    func logIn(_ place: Location, _ secret: [UInt8]) {
      answers = []
      let login = DeviceLogin(
        app: world.app.key, registrationID: device.id, secretHash: SHA256.digest128(secret),
        isForeground: true, location: place, askedAt: world.clock.monotonic())
      home.handle([.login(login)], answers: &answers)
    }
    logIn(places[0], device.secret)
    world.clock.advance(seconds: pair.seconds)
    _ = world.channel.drain()
    logIn(places[1], [1])
    guard case .loginResult(_, .refused(.notRegistered)) = answers.first else {
      Issue.record("whoever lacks the secret learns of a session: \(answers)")
      return
    }
    logIn(places[1], device.secret)
    let ends = world.channel.drain()
    guard let end = pair.end else {
      guard case .loginResult(places[1], .refused(.overtaken)) = answers.first else {
        Issue.record("\(answers)")
        return
      }
      #expect(ends.isEmpty && world.app.directory.location(of: device.number) == places[0])
      return
    }
    guard case .loginResult(places[1], .accepted) = answers.first else {
      Issue.record("\(answers)")
      return
    }
    #expect(ends == [.disconnect(places[0], end)])
    #expect(world.app.directory.location(of: device.number) == places[1])
  }

  /// Loops of two gateways note logins that they were both let in with.
  @Test func `Of two logins at once the later one is remembered, whichever is noted first`() {
    let (app, number) = (AppID(1), RegistrationNumber(7))
    let places = [Self.place, Location(loop: 2, slot: 1, generation: 1)]
    for order in [[0, 1], [1, 0]] {
      var recent = RecentLogins()
      for index in order {
        recent.note(app, number, at: places[index], askedAt: UInt64(10 + index), now: 12)
      }
      #expect(recent.isNewer(places[1], of: app, number, than: 10), "\(order)")
      #expect(!recent.isNewer(places[1], of: app, number, than: 11), "\(order)")
    }
  }

  /// Whoever turns an app off ends the sessions that there are: one that has just been let in must not stay.
  @Test func `A device does not stay connected to an app that is turned off during its login`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let home = LocalHome(world.router)
    let login = DeviceLogin(
      app: world.app.key, registrationID: device.id, secretHash: SHA256.digest128(device.secret),
      isForeground: true, location: Self.place, askedAt: world.clock.monotonic())
    try await world.store.change { [id = world.app.id] transaction throws(StorageError) in
      _ = try transaction.apps.setDisabled(app: id, true)
    }
    // When memory has said that the app is on.
    world.clock.interruption.prepareBeside { [router = world.router] in
      let isOff = Semaphore()
      router.apps.refresh { isOff.signal() }
      isOff.wait()
    }
    var answers: [HomeMessage] = []
    home.handle([.login(login)], answers: &answers)
    #expect(world.clock.interruption.wait())
    guard case .loginResult(_, .refused(.appDisabled)) = answers.first else {
      Issue.record("\(answers)")
      return
    }
    #expect(world.app.directory.location(of: device.number) == nil)
  }

  /// Nodes that stood still pass logins on late, in any order.
  @Test(arguments: [(1, true), (6, false)])
  func `A login that was asked for before that of the session does not replace it`(
    seconds: Int, isOvertaken: Bool
  ) async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let home = LocalHome(world.router, rules: Gateways())
    var answers: [HomeMessage] = []
    func logIn(_ place: Location, askedAt moment: UInt64) {
      answers = []
      let login = DeviceLogin(
        app: world.app.key, registrationID: device.id, secretHash: SHA256.digest128(device.secret),
        isForeground: true, location: place, askedAt: moment)
      home.handle([.login(login)], answers: &answers)
    }
    let (newer, late) = (
      Location(loop: 2, slot: 1, generation: 1), Location(loop: 3, slot: 1, generation: 1)
    )
    let earlier = world.clock.monotonic()
    world.clock.advance(milliseconds: 500)
    logIn(newer, askedAt: world.clock.monotonic())
    world.clock.advance(seconds: seconds)
    _ = world.channel.drain()
    logIn(late, askedAt: earlier)
    switch answers.first {
    case .loginResult(late, .refused(.overtaken)): #expect(isOvertaken)
    case .loginResult(late, .refused(.unavailable)): #expect(!isOvertaken)
    default: Issue.record("\(answers)")
    }
    #expect(world.channel.drain().isEmpty && world.app.directory.location(of: device.number) == newer)
    // One that is asked for now replaces it.
    logIn(late, askedAt: world.clock.monotonic())
    guard case .loginResult(late, .accepted) = answers.first else {
      Issue.record("\(answers)")
      return
    }
  }

  @Test func `What a device asked for long ago is not carried out`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let home = LocalHome(world.router)
    let asked = world.clock.monotonic()
    world.clock.advance(milliseconds: 10_001)
    let session = BoundSession(app: world.app.id, number: device.number, location: Self.place)
    let newcomer = NewDevice(
      app: world.app.key, platform: .android, fingerprint: [1], tokens: [], appVersion: "1",
      location: Self.place, askedAt: asked)
    var answers: [HomeMessage] = []
    home.handle(
      [.operation(session, sequence: 1, .setAlias("late"), askedAt: asked), .register(newcomer)],
      answers: &answers)
    try await world.barrier()
    guard case .result(Self.place, sequence: 1, .failed(.unavailable)) = answers.first,
      case .registerResult(Self.place, .refused(.unavailable)) = answers.last
    else {
      Issue.record("\(answers)")
      return
    }
    #expect(world.app.directory.registrations(alias: "late").isEmpty)
    #expect(world.app.directory.registrationCount == 1)
  }

  /// It waits for the writer when its connection ends.
  @Test func `The registration of a connection that has ended is not made`() async throws {
    let world = try await TestWorld()
    let home = LocalHome(world.router)
    let gate = Gate()
    gate.hold(world.store)
    var answers: [HomeMessage] = []
    for slot in [1, 2] as [UInt32] {
      let newcomer = NewDevice(
        app: world.app.key, platform: .android, fingerprint: [UInt8(slot)], tokens: [], appVersion: "1",
        location: Location(loop: 0, slot: slot, generation: 1), askedAt: world.clock.monotonic())
      home.handle([.register(newcomer)], answers: &answers)
    }
    home.handle([.withdraw(Location(loop: 0, slot: 1, generation: 1))], answers: &answers)
    gate.open()
    try await world.barrier()
    #expect(answers.isEmpty && world.app.directory.registrationCount == 1)
  }

  @Test func `Logins are answered at once, and so is what is known of memory`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let id = try await world.push()
    let home = LocalHome(world.router)
    func login(_ app: AppKey, secret: (UInt64, UInt64)) -> GatewayMessage {
      .login(
        DeviceLogin(
          app: app, registrationID: device.id, secretHash: secret, isForeground: true, location: Self.place,
          askedAt: world.clock.monotonic()))
    }
    var answers: [HomeMessage] = []
    home.handle([login(world.app.key, secret: (0, 0))], answers: &answers)
    guard case .loginResult(Self.place, .refused(.notRegistered)) = answers.first else {
      Issue.record("\(answers)")
      return
    }
    answers = []
    home.handle([login(world.app.key, secret: SHA256.digest128(device.secret))], answers: &answers)
    guard case .loginResult(Self.place, .accepted(let loggedIn)) = answers.first else {
      Issue.record("\(answers)")
      return
    }
    #expect(loggedIn.number == device.number && loggedIn.pending == 1 && loggedIn.newest == id)
    let bound = BoundSession(app: loggedIn.app, number: loggedIn.number, location: Self.place)
    answers = []
    home.handle(
      [
        .pull(bound, after: id, limit: 9), .recount(bound, through: id),
        .state(bound, isForeground: false, wantsNewest: false),
        .state(bound, isForeground: true, wantsNewest: true),
      ], answers: &answers)
    #expect(answers.count == 3)
    for answer in answers {
      switch answer {
      case .pulled(Self.place, .nothing), .waiting(Self.place, count: 1),
        .stateApplied(Self.place, newest: id):
        continue
      default: Issue.record("\(answer)")
      }
    }
    #expect(world.app.directory.onlineCount == 1)
    home.handle([.close(bound, .closedByPeer)], answers: &answers)
    #expect(world.app.directory.onlineCount == 0)
  }
}
