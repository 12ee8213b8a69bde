import BorealisBase
import Channels
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// What becomes of a push for a device whose token of a maker's service is gone.
@Suite struct SuccessionTests {
  private let world: TestWorld
  private let fcm = SilentVendor(.fcm)

  init() async throws {
    world = try await TestWorld()
    for vendor in [SilentVendor(.huawei), fcm] { world.router.add(vendor) }
  }

  /// A device with tokens of some channels.
  private func phone(_ channels: ChannelID..., isOnline: Bool = false) async throws -> TestDevice {
    let phone = try await world.register()
    let tokens = channels.map {
      PushToken(TokenSlot($0, kind: 1), .only, Array("\($0.rawValue)-\(phone.number)".utf8))
    }
    try await awaitCallback { done in
      world.router.registrations.setTokens(tokens, of: phone.number, in: world.app) { done($0) }
    }.get()
    if isOnline { _ = world.login(phone) }
    return phone
  }

  private func push(
    to phone: TestDevice, _ options: String = "{}", message: Bool = false
  ) async throws -> MessageID {
    var rules = PushRules()
    rules.channels = [.huawei, .fcm]
    let more = message ? #","message":{"msg_content":"x"}"# : ""
    let text = """
      {"platform":"all","audience":{"registration_id":["\(phone.id.text)"]},
       "notification":{"android":{"alert":"x"}}\(more),"options":\(options)}
      """
    return try await world.accept(
      AcceptRequest(try PushRequest.parse(try parseJSON(Array(text.utf8)), rules: rules))
    ).get().id
  }

  /// Huawei's service has refused a push and the token is given up; what is stored then.
  private func refuse(_ id: MessageID, _ phone: TestDevice) async throws -> PushTargets {
    let isStored = await awaitCallback { done in
      world.router.deliveries.withdraw(
        id, in: world.app, from: .huawei, for: [phone.number], goingOn: [phone.number]
      ) { done($0) }
    }
    #expect(isStored)
    try await world.barrier()
    return try #require(try await world.targets(of: id))
  }

  enum Way: Sendable { case fcm, own, nowhere }

  struct Case: Sendable, CustomTestStringConvertible {
    let options: String
    var isOnline = false
    let way: Way
    var testDescription: String { options + (isOnline ? " online" : "") }
  }

  private static func distributions(_ huawei: String, _ fcm: String = "{}") -> String {
    #"{"third_party_channel":{"huawei":\#(huawei),"fcm":\#(fcm)}}"#
  }

  static let cases = [
    Case(options: "{}", way: .fcm),
    // The connection brings it to a device that has come meanwhile, as FCM is for those that are away.
    Case(options: "{}", isOnline: true, way: .own),
    Case(options: distributions(#"{"distribution":"first_ospush"}"#), way: .fcm),
    Case(options: distributions(#"{"distribution":"ospush"}"#), way: .fcm),
    Case(options: distributions(#"{"distribution":"ospush"}"#), isOnline: true, way: .fcm),
    Case(options: distributions("{}", #"{"distribution":"jpush"}"#), way: .own),
    Case(
      options: distributions(#"{"distribution":"ospush"}"#, #"{"distribution":"jpush"}"#), way: .nowhere),
    Case(
      options: distributions(#"{"distribution":"first_ospush"}"#, #"{"distribution":"first_ospush"}"#),
      isOnline: true, way: .fcm),
    // The sender wants the maker's service for devices that both reach.
    Case(options: distributions(#"{"distribution_fcm":"pns"}"#), way: .nowhere),
    Case(options: distributions(#"{"distribution_fcm":"secondary_pns_push"}"#), way: .own),
    // Getui's strategies.
    Case(options: #"{"strategy":1}"#, way: .fcm),
    Case(options: #"{"strategy":2}"#, way: .fcm),
    Case(options: #"{"strategy":4}"#, way: .fcm),
  ]

  @Test(arguments: cases) func `It goes on by the way that the sender chose`(_ one: Case) async throws {
    let phone = try await phone(.huawei, .fcm)
    let id = try await push(to: phone, one.options)
    let before = try #require(try await world.targets(of: id))
    #expect(before.on(.huawei).waiting.members() == [phone.number])
    if one.isOnline { _ = world.login(phone) }
    _ = world.channel.drain()
    // Twice, since a failure of the database has it asked again.
    for _ in 0..<2 {
      let targets = try await refuse(id, phone)
      let (own, other) = (world.pending(phone), targets.on(.fcm).waiting.members())
      switch one.way {
      case .fcm: #expect(other == [phone.number] && own.isEmpty)
      case .own: #expect(other.isEmpty && own == [id])
      case .nowhere: #expect(other.isEmpty && own.isEmpty)
      }
      #expect(targets.on(.huawei).waiting.isEmpty == (one.way != .nowhere))
    }
    #expect(fcm.taken == (one.way == .fcm ? [id] : []), "once")
  }

  @Test func `A device without another token gets it over the direct connection`() async throws {
    let phone = try await phone(.huawei)
    let id = try await push(to: phone)
    let targets = try await refuse(id, phone)
    #expect(targets.on(.fcm).meant.isEmpty && world.pending(phone) == [id])
  }

  /// The message waits for the connection already; the notification does not come twice.
  @Test func `Only the notification goes on`() async throws {
    let phone = try await phone(.huawei, .fcm)
    let id = try await push(to: phone, message: true)
    #expect(world.pending(phone) == [id])
    let targets = try await refuse(id, phone)
    #expect(targets.on(.fcm).waiting.members() == [phone.number] && world.pending(phone) == [id])
    #expect(targets.own.members() == [phone.number] && targets.on(.passthrough).waiting.count == 1)
  }

  @Test func `Nothing goes on of what was recalled, and of what the device has`() async throws {
    let phone = try await phone(.huawei, .fcm)
    let recalled = try await push(to: phone)
    _ = try await world.recall(recalled).get()
    #expect(try await refuse(recalled, phone).on(.fcm).meant.isEmpty)
    let shown = try await push(to: phone)
    world.router.deliveries.note([(shown, isTap: false)], by: phone.number, in: world.app)
    try await world.tick()
    #expect(try await refuse(shown, phone).on(.fcm).meant.isEmpty)
  }

  /// Answers of the other channel that were computed before do not end the push for the new device.
  @Test func `The other channel's end counts only with the new devices`() async throws {
    let (phone, other) = (try await phone(.huawei, .fcm), try await phone(.fcm))
    var request = AcceptRequest.test(to: [phone, other])
    request.push.content = try .test(.notification)
    let id = try await world.accept(request).get().id
    _ = try await refuse(id, phone)
    let leg = DeliveryLeg(.fcm)
    func answer(_ numbers: RegistrationNumber...) async -> Bool {
      let results: LegOutcomes = [leg: [ChannelEnd.delivered: NumberSet(numbers)]]
      return await awaitCallback { done in
        world.router.deliveries.store(
          ChannelAnswers(id: id, channel: .fcm, results: results, news: results, isFinal: true),
          of: world.app
        ) { done($0) }
      }
    }
    #expect(await answer(other.number))
    #expect(try await world.targets(of: id)?.on(.fcm).waiting.members() == [phone.number])
    #expect(await answer(other.number, phone.number))
    let targets = try #require(try await world.targets(of: id))
    #expect(targets.pending.isEmpty && targets.delivered.count == 2)
  }

  @Test func `Why names the channel that brings it and the one that refused it`() async throws {
    let phone = try await phone(.huawei, .fcm)
    let id = try await push(to: phone)
    _ = try await refuse(id, phone)
    let results: LegOutcomes = [DeliveryLeg(.huawei): ["80300007": NumberSet([phone.number])]]
    _ = await awaitCallback { done in
      world.router.deliveries.store(
        ChannelAnswers(id: id, channel: .huawei, results: results, news: results, isFinal: true),
        of: world.app
      ) { done($0) }
    }
    let diagnosis = try await awaitCallback { done in
      world.router.diagnostics.diagnose(id, .there(phone.number), in: world.app) { done($0) }
    }.get()
    let step = try #require(diagnosis?.step(.channel))
    #expect(step.verdict == .waiting && step.detail == "fcm, after huawei: 80300007")
    #expect(diagnosis?.conclusion == .waiting)
    let report = try #require(
      try await awaitCallback { done in
        world.router.reports.report(on: id, in: world.app) { done($0) }
      }.get())
    #expect(report.targets.goneOn.map(\.channel) == [.fcm] && report.targets.goneOn.map(\.count) == [1])
    #expect(report.status == .open)
  }
}

/// A vendor's channel that does nothing by itself: the test answers.
private final class SilentVendor: ServiceChannel {
  let info: ChannelInfo
  private let takenOver = Mutex<[MessageID]>([])

  init(_ info: ChannelInfo) { self.info = info }

  /// What it took over.
  var taken: [MessageID] { takenOver.withLock { $0 } }

  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    [ChannelOffer(DeliveryLeg(info.id), to: TokenSlot(info.id, kind: 1), on: info.platforms)]
  }
  func deliver(_ push: ChannelPush) {}
  func takeOver(_ id: MessageID, of app: App) { takenOver.withLock { $0.append(id) } }
  func slot(for content: PushContent) -> TokenSlot? { TokenSlot(info.id, kind: 1) }
}
