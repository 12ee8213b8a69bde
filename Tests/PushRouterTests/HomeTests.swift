import PushBase
import PushCrypto
import PushDomain
import PushTesting
import Testing

@testable import PushRouter

/// What the home of this process answers, and to whom.
@Suite struct HomeTests {
  private static let place = Location(loop: 0, slot: 3, generation: 4)

  /// Pushes that are held back are passed on by another thread than recalls.
  @Test func `A push that was held back does not go behind its recall`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let (waiting, recalled) = (try await world.push(), try await world.push())
    _ = world.channel.take()
    _ = await awaitCallback { done in
      world.router.deliveries.recall(recalled, in: world.app) { done($0) }
    }
    _ = world.channel.take()
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    for id in [recalled, waiting] {
      let live = LivePush(app: world.app.id, id: id, push: StoredPush(content: content), isLate: true)
      world.router.passthrough.send(
        live, of: world.app, to: [DispatchPlan.Reachable(number: device.number, location: Self.place)])
    }
    #expect(world.channel.take() == [.single(waiting, device.number, Self.place)])
  }

  @Test func `Logins are answered at once, and so is what is known of memory`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let id = try await world.push()
    let home = LocalHome(world.router)
    func login(_ app: AppKey, secret: (UInt64, UInt64)) -> GatewayMessage {
      .login(
        DeviceLogin(
          app: app, registrationID: device.id, secretHash: secret, isForeground: true, location: Self.place))
    }
    var answers: [HomeMessage] = []
    home.take([login(world.app.key, secret: (0, 0))], answers: &answers)
    guard case .loginResult(Self.place, .refused(.notRegistered)) = answers.first else {
      Issue.record("\(answers)")
      return
    }
    answers = []
    home.take([login(world.app.key, secret: SHA256.digest128(device.secret))], answers: &answers)
    guard case .loginResult(Self.place, .accepted(let loggedIn)) = answers.first else {
      Issue.record("\(answers)")
      return
    }
    #expect(loggedIn.number == device.number && loggedIn.pending == 1 && loggedIn.newest == id)
    let bound = BoundSession(app: loggedIn.app, number: loggedIn.number, location: Self.place)
    answers = []
    home.take(
      [
        .pull(bound, after: id, limit: 9), .recount(bound, through: id),
        .state(bound, isForeground: false, wantsNewest: false),
        .state(bound, isForeground: true, wantsNewest: true),
      ], answers: &answers)
    #expect(answers.count == 3)
    for answer in answers {
      switch answer {
      case .pulled(Self.place, .nothing), .waiting(Self.place, count: 1), .stateTaken(Self.place, newest: id):
        continue
      default: Issue.record("\(answer)")
      }
    }
    #expect(world.app.directory.onlineCount == 1)
    home.take([.close(bound, .closedByPeer)], answers: &answers)
    #expect(world.app.directory.onlineCount == 0)
  }
}
