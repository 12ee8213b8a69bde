import BorealisBase
import Channels
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// What becomes of a push if it is sent now, in numbers.
@Suite struct ForecastTests {
  private let world: TestWorld
  private let huawei = PlayedVendor(.huawei)
  private let fcm = PlayedVendor(.fcm)

  init() async throws {
    world = try await TestWorld()
    for vendor in [huawei, fcm] { world.router.add(vendor) }
    let facts: DeviceFactSet = [DeviceFactSet(.notificationPermission), DeviceFactSet(.optedOut)]
    let (router, app) = (world.router, world.app)
    try await awaitCallback { router.apps.setFacts(facts, of: app, noting: .test, done: $0) }.get()
  }

  // MARK: Devices

  private func device(
    _ channels: ChannelID..., platform: Platform = .android, isOnline: Bool = false, isOff: Bool = false
  ) async throws -> TestDevice {
    let device = try await world.register(platform: platform)
    if !channels.isEmpty {
      let tokens = channels.map {
        PushToken(TokenSlot($0, kind: 1), .only, Array("\($0.rawValue)-\(device.number)".utf8))
      }
      try await awaitCallback { done in
        world.router.registrations.setTokens(tokens, of: device.number, in: world.app) { done($0) }
      }.get()
    }
    if isOff {
      let (router, app) = (world.router, world.app)
      try await awaitCallback {
        router.facts.set([.notificationPermission: "off"], of: device.number, in: app, reply: $0)
      }.get()
    }
    if isOnline { _ = world.login(device) }
    return device
  }

  private func request(
    to devices: [TestDevice]? = nil, _ parts: PushParts = .notification, timeToLive: Int = 3600,
    strategy: Strategy = .jpush, _ change: (inout PushOptions) -> Void = { _ in }
  ) throws -> AcceptRequest {
    var request = AcceptRequest(
      to: devices.map { .devices($0.map(\.id)) } ?? .all, try .test(parts), timeToLive: timeToLive,
      strategy: strategy)
    change(&request.push.options)
    return request
  }

  private func forecast(_ request: AcceptRequest) async throws -> PushForecast {
    let (router, app) = (world.router, world.app)
    return try await awaitCallback { router.acceptance.forecast(request, for: app, reply: $0) }.get()
  }

  private func row(
    _ channel: ChannelID, _ moment: PushForecast.Moment, _ counts: [PushForecast.Effect: Int],
    _ reasons: KeyValuePairs<WhyCause, Int> = [:]
  ) -> PushForecast.Row {
    var row = PushForecast.Row(DeliveryLeg(channel), moment)
    for effect in PushForecast.Effect.allCases { row.add(counts[effect] ?? 0, effect) }
    for (cause, devices) in reasons { row.explain(devices, cause) }
    return row
  }

  // MARK: Ways

  @Test func `Each device is counted where the push goes`() async throws {
    _ = try await device(.huawei)
    _ = try await device(.huawei, isOff: true)
    _ = try await device(.huawei, isOnline: true)
    _ = try await device(.fcm)
    _ = try await device()
    _ = try await device(platform: .ios)
    let found = try await forecast(request())
    #expect(found.audience == 6 && found.reached == 6 && found.nothing.isEmpty)
    #expect(
      found.rows == [
        row(.passthrough, .now, [.loud: 1]), row(.passthrough, .later, [.loud: 2], [.noToken: 1]),
        row(.huawei, .now, [.hidden: 1, .loud: 1], [.permissionOff: 1]), row(.fcm, .now, [.loud: 1]),
      ])
    // Data for the app goes over the direct connection alone.
    let message = try await forecast(request(.message))
    #expect(
      message.rows == [
        row(.passthrough, .now, [.silent: 1], [.messageOnly: 1]),
        row(.passthrough, .later, [.silent: 5], [.messageOnly: 5]),
      ])
    #expect(PushForecast(decoding: found.encode()) == found)
    #expect(PushForecast(decoding: Array("{}".utf8)) == nil)
  }

  @Test func `Who gets nothing has the cause that is found afterwards`() async throws {
    let blocked = try await device(.huawei)
    try await awaitCallback { done in
      world.router.registrations.setBlocked(true, [blocked.number], in: world.app) { done($0) }
    }.get()
    let off = try await device(.fcm, isOff: true)
    let away = try await device()
    let phone = try await device(platform: .ios)
    var request = try request(timeToLive: 0)
    request.push.options.skipsNotificationsOff = true
    let found = try await forecast(request)
    #expect(found.audience == 4 && found.reached == 0 && found.rows.isEmpty)
    #expect(
      found.nothing == [
        .init(.blocked, 1), .init(.leftOut, 1), .init(.onlineOnly, 1), .init(.noToken, 1),
      ])
    let id = try await world.accept(request).get().id
    try await world.tick()
    for (device, cause) in [(off, WhyCause.leftOut), (away, .noToken), (phone, .onlineOnly)] {
      let diagnosis = try await awaitCallback { done in
        world.router.diagnostics.diagnose(id, .there(device.number), in: world.app) { done($0) }
      }.get()
      #expect(diagnosis?.firstFailure?.cause == cause)
    }
  }

  @Test func `Who had as many as it may today gets nothing, and a forecast counts for nothing`() async throws
  {
    let device = try await device()
    let (router, app) = (world.router, world.app)
    try await awaitCallback {
      router.apps.setCaps(CapsRow(normal: 1), of: app, noting: .test, done: $0)
    }.get()
    for _ in 0..<2 { #expect(try await forecast(request()).reached == 1) }
    _ = try await world.accept(request(to: [device])).get()
    _ = try await self.device()
    let found = try await forecast(request())
    #expect(found.audience == 2 && found.reached == 1 && found.nothing == [.init(.capped, 1)])
    #expect(try await forecast(request(.message)).reached == 2)
  }

  @Test func `Who is in quiet hours waits in a row of its own, or gets nothing`() async throws {
    let (router, app) = (world.router, world.app)
    _ = try await device(.huawei)
    _ = try await device(isOnline: true)
    func set(_ action: QuietHours.Action) async throws {
      // It is 22:13 in China.
      let hours = QuietHours(from: 22 * 60, until: 8 * 60, action)
      try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
    }
    try await set(.hold)
    let found = try await forecast(request(timeToLive: 86_400))
    #expect(found.audience == 2 && found.reached == 2 && found.nothing.isEmpty)
    #expect(found.rows == [row(.passthrough, .held, [.waiting: 2], [.held: 2])])
    #expect(PushForecast(decoding: found.encode()) == found)
    let short = try await forecast(request())
    #expect(short.reached == 0 && short.nothing == [.init(.quietHours, 2)], "it ends before the hours do")
    #expect(try await forecast(request { $0.ignoresQuietHours = true }).reached == 2)
    try await set(.drop)
    #expect(try await forecast(request(timeToLive: 86_400)).nothing == [.init(.quietHours, 2)])
  }

  @Test func `What a channel waits for is said, and what its quota has left`() async throws {
    for _ in 0..<5 { _ = try await device(.huawei) }
    huawei.play { $0.credential = .stopped(reason: "80300002", since: nil) }
    #expect(
      try await forecast(request()).rows == [row(.huawei, .now, [.waiting: 5], [.credentialStopped: 5])])
    let now = world.clock.now()
    huawei.play {
      $0.credential = .ready(topic: "1001")
      $0.rest = WhyFacts.Rest(reason: "quota", until: now.adding(seconds: 60))
    }
    #expect(try await forecast(request()).rows == [row(.huawei, .now, [.waiting: 5], [.channelResting: 5])])
    huawei.play {
      $0.rest = nil
      $0.quota = ChannelQuota(total: 10, used: 7, knownAt: now)
      $0.tone = .silent(.classMissing)
      $0.preview = ChannelPreview(.marketing)
    }
    #expect(
      try await forecast(request()).rows
        == [row(.huawei, .now, [.silent: 3, .waiting: 2], [.overQuota: 2, .classMissing: 3])])
    // Service messages have no quota, and yesterday's says nothing.
    huawei.play { $0.preview = ChannelPreview(.service) }
    #expect(try await forecast(request()).rows[0][.waiting] == 0)
    huawei.play { $0.preview = nil }
    world.clock.advance(seconds: 86_400)
    #expect(try await forecast(request()).rows[0][.waiting] == 0)
    huawei.play { $0.isMissing = true }
    #expect(
      try await forecast(request()).rows == [row(.passthrough, .later, [.loud: 5], [.noCredential: 5])])
  }

  @Test func `What a channel would take over is a row of its own`() async throws {
    _ = try await device(.huawei, isOnline: true)
    let found = try await forecast(request { $0.fallbackAfter = 10 })
    #expect(
      found.rows == [row(.passthrough, .now, [.loud: 1]), row(.huawei, .unacknowledged, [.loud: 1])])
  }

  /// A push with options for Huawei, to everybody.
  private func request(distributedBy huawei: String) throws -> AcceptRequest {
    var rules = PushRules()
    rules.channels = [.huawei, .fcm]
    let text = """
      {"platform":"all","audience":"all","notification":{"android":{"alert":"x"}},
       "options":{"third_party_channel":{"huawei":\(huawei)}}}
      """
    return AcceptRequest(try PushRequest.parse(try parseJSON(Array(text.utf8)), rules: rules))
  }

  @Test func `A credential is missing only where a token has none, and not where the sender chose`()
    async throws
  {
    _ = try await device(.huawei, .fcm)
    _ = try await device(.huawei)
    _ = try await device(.fcm)
    _ = try await device()
    // FCM's devices get it over FCM, and those of Huawei over the direct connection.
    #expect(
      try await forecast(request(distributedBy: #"{"distribution":"jpush"}"#)).rows
        == [row(.passthrough, .later, [.loud: 3], [.noToken: 1]), row(.fcm, .now, [.loud: 1])])
    // Only those with both tokens get it over the direct connection.
    let forBoth = #"{"distribution":"ospush","distribution_fcm":"jpush"}"#
    #expect(
      try await forecast(request(distributedBy: forBoth)).rows
        == [
          row(.passthrough, .later, [.loud: 2], [.noToken: 1]), row(.huawei, .now, [.loud: 1]),
          row(.fcm, .now, [.loud: 1]),
        ])
    huawei.play { $0.isMissing = true }
    #expect(
      try await forecast(request(distributedBy: "{}")).rows
        == [
          row(.passthrough, .later, [.loud: 2], [.noCredential: 1, .noToken: 1]),
          row(.fcm, .now, [.loud: 2]),
        ])
  }

  @Test(arguments: [APNsTokenKind.voip, .liveActivity, .liveActivityStart])
  func `Calls and Live Activities need no permission to show notifications`(kind: APNsTokenKind) async throws
  {
    let apple = PlayedVendor(.apns)
    let slot = TokenSlot(.apns, kind: kind.rawValue, name: kind.isNamed ? "order" : "")
    apple.play {
      $0.slot = slot
      $0.leg = kind.leg
    }
    world.router.add(apple)
    let phone = try await device(platform: .ios, isOff: true)
    try await awaitCallback { done in
      world.router.registrations.setTokens(
        [PushToken(slot, .only, Array("token".utf8))], of: phone.number, in: world.app
      ) { done($0) }
    }.get()
    let rows = try await forecast(request()).rows
    #expect(rows.first { $0.leg == kind.leg }?.counts == [.loud: 1])
  }

  /// The numbers for many are the sums of those for each: sets and lists are counted alike.
  @Test(arguments: Strategy.Rule.allCases.map({ Strategy($0) }))
  func `All devices together have what each has alone`(strategy: Strategy) async throws {
    var devices: [TestDevice] = []
    for number in 0..<72 {
      let channels: [[ChannelID]] = [[], [.huawei], [.fcm], [.huawei, .fcm]]
      let own = channels[number % 4]
      let platform: Platform = number % 12 == 11 ? .ios : .android
      let device = try await device(platform: platform, isOnline: number % 3 == 0, isOff: number % 5 == 0)
      if !own.isEmpty {
        let tokens = own.map { PushToken(TokenSlot($0, kind: 1), .only, Array("\(number)".utf8)) }
        try await awaitCallback { done in
          world.router.registrations.setTokens(tokens, of: device.number, in: world.app) { done($0) }
        }.get()
      }
      devices.append(device)
    }
    for parts in [PushParts.notification, .message, .all] {
      for timeToLive in [0, 3600] {
        let whole = try await forecast(request(parts, timeToLive: timeToLive, strategy: strategy))
        var sum = Sum()
        for device in devices {
          sum.add(
            try await forecast(request(to: [device], parts, timeToLive: timeToLive, strategy: strategy)))
        }
        var all = Sum()
        all.add(whole)
        #expect(all == sum, "\(strategy) \(parts) \(timeToLive)")
        #expect(whole.audience == devices.count)
        #expect(whole.nothing.reduce(whole.reached) { $0 + $1.devices } == devices.count)
      }
    }
  }

  private struct Sum: Equatable {
    struct Key: Hashable {
      let leg: DeliveryLeg
      let moment: PushForecast.Moment
      let word: String
    }

    var reached = 0
    var counts: [Key: Int] = [:]
    var nothing: [WhyCause: Int] = [:]

    mutating func add(_ forecast: PushForecast) {
      reached += forecast.reached
      for row in forecast.rows {
        for (effect, count) in row.counts {
          counts[Key(leg: row.leg, moment: row.moment, word: effect.rawValue), default: 0] += count
        }
        for reason in row.reasons {
          let key = Key(leg: row.leg, moment: row.moment, word: reason.cause.rawValue)
          counts[key, default: 0] += reason.devices
        }
      }
      for reason in forecast.nothing { nothing[reason.cause, default: 0] += reason.devices }
    }
  }
}

/// A channel of a maker that says what a test wants.
private final class PlayedVendor: ServiceChannel {
  struct Part: Sendable {
    var credential = WhyFacts.Credential.ready(topic: "")
    var isMissing = false
    var rest: WhyFacts.Rest?
    var quota: ChannelQuota?
    var tone = PushTone.loud
    var preview: ChannelPreview?
    /// The token and the leg, if they are not the ordinary ones.
    var slot: TokenSlot?
    var leg: DeliveryLeg?
  }

  let info: ChannelInfo
  private let part = Mutex(Part())

  init(_ info: ChannelInfo) { self.info = info }

  func play(_ change: (inout Part) -> Void) { part.withLock { change(&$0) } }

  private var now: Part { part.withLock { $0 } }
  private var ownSlot: TokenSlot { now.slot ?? TokenSlot(info.id, kind: 1) }
  private func carries(_ content: PushContent) -> Bool { content.isForVendors(on: .android) }

  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard !now.isMissing, carries(content) else { return [] }
    return [ChannelOffer(now.leg ?? DeliveryLeg(info.id), to: ownSlot, on: info.platforms)]
  }
  func deliver(_ push: ChannelPush) {}
  func slot(for content: PushContent) -> TokenSlot? {
    carries(content) ? ownSlot : nil
  }
  func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at moment: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential { now.isMissing ? .missing : now.credential }
  func rest(of app: App, for service: ServiceID, _ content: PushContent?) -> WhyFacts.Rest? { now.rest }
  func tone(of content: PushContent, on leg: DeliveryLeg) -> PushTone { now.tone }
  func preview(of content: PushContent, in app: App, secondsToLive: Int) -> ChannelPreview? { now.preview }
  func quota(of app: App) -> ChannelQuota? { now.quota }
}
