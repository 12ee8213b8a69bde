import BorealisBase
import Channels
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Who of an audience gets a push which way.
@Suite struct RoutePlanTests {
  /// The plans for sets and for lists are the table of routes, applied to each device.
  @Test(arguments: Strategy.Rule.allCases.map({ Strategy($0) }), [1, 200])
  func followsTheTable(strategy: Strategy, copies: Int) throws {
    let directory = AppDirectory(app: AppID(1))
    var devices: [RouteInput] = []
    for _ in 0..<copies {
      for platform in [Platform.ios, .android] {
        for isOnline in [true, false] {
          for state in [AppVisibility.foreground, .background] {
            for environment in [APNsEnvironment.none, .production, .sandbox] {
              let number = RegistrationNumber(UInt32(devices.count))
              let id = RegistrationID(high: UInt64(devices.count), low: 1)
              directory.insert(
                RegistrationEntry(
                  number: number, id: id, platform: platform, secretHash: (1, 2),
                  tokens: [HeldToken(PushToken(environment, [1]), of: number)]))
              if isOnline {
                _ = directory.login(
                  id, secretHash: (1, 2), at: Location(loop: 0, slot: number.rawValue, generation: 1),
                  isForeground: state == .foreground)
              }
              devices.append(
                RouteInput(
                  platform: platform, parts: [], isOnline: isOnline, appState: state,
                  vendor: platform == .ios && environment == .production ? .apns : nil))
            }
          }
        }
      }
    }
    let all = try #require(directory.resolve(.all, platforms: .all))
    for parts in [PushParts.notification, .message, [.notification, .message]] {
      for timeToLive in [0, 100] {
        let request = AcceptRequest(to: .all, try .test(parts), timeToLive: timeToLive, strategy: strategy)
        let plan = directory.plan(all, RouteTerms(request.push, apns: .production))
        let routes = devices.map { device in
          var input = device
          input.parts = parts
          input.strategy = strategy
          input.onlineOnly = timeToLive == 0
          if !parts.contains(.notification) { input.vendor = nil }
          return Routing.route(input)
        }
        func numbers(_ isWanted: (PushRoute) -> Bool) -> [RegistrationNumber] {
          routes.indices.filter { isWanted(routes[$0]) }.map { RegistrationNumber(UInt32($0)) }
        }
        let own = numbers { !$0.keep.isEmpty || $0.now.contains { $0.channel == .passthrough } }
        #expect(plan.own.numbers.members() == own)
        #expect(plan[.apns].numbers.members() == numbers { $0.now.contains { $0.channel == .apns } })
        // And each gets over our connection what its route says.
        for (device, route) in zip(devices, routes) {
          let expected = route.keep.union(route.now.first { $0.channel == .passthrough }?.parts ?? [])
          guard !expected.isEmpty else { continue }
          let viaVendor = route.now.contains { $0.channel == .apns }
          let found = Routing.ownParts(device.platform, of: parts, strategy: strategy, viaVendor: viaVendor)
          #expect(found == expected, "\(device)")
        }
      }
    }
  }

  /// Those whose apps alone show it, of few and of many.
  @Test(arguments: Strategy.Rule.allCases.map({ Strategy($0) }))
  func `What only the app shows goes as the table says`(strategy: Strategy) throws {
    let directory = AppDirectory(app: AppID(1))
    for place in 0..<8 as Range<UInt32> {
      let number = RegistrationNumber(place)
      let id = RegistrationID(high: UInt64(place), low: 1)
      directory.insert(
        RegistrationEntry(
          number: number, id: id, platform: .ios, secretHash: (1, 2),
          tokens: place & 1 == 0 ? [] : [HeldToken(PushToken(APNsEnvironment.production, [1]), of: number)]))
      guard place & 2 == 0 else { continue }
      _ = directory.login(
        id, secretHash: (1, 2), at: Location(loop: 0, slot: place, generation: 1), isForeground: true)
    }
    let all = try #require(directory.resolve(.all, platforms: .all)).numbers.members()
    let off = NumberSet(all.filter { $0.rawValue & 4 == 0 })
    let request = AcceptRequest(to: .all, try .test(.notification), strategy: strategy)
    let offers = request.push.content.apnsOffers(strategy, .production)
    let terms = RouteTerms(request.push, offers: offers, onlyInApp: off)
    for audience in [Recipients.few(all), .many(NumberSet(all))] {
      let plan = directory.plan(audience, terms)
      for number in all {
        let place = number.rawValue
        let route = Routing.route(
          RouteInput(
            platform: .ios, parts: .notification, isOnline: place & 2 == 0,
            vendor: place & 1 == 0 ? nil : .apns, strategy: strategy, isOnlyInApp: place & 4 == 0))
        let isOwn = !route.keep.isEmpty || route.now.contains { $0.channel == .passthrough }
        #expect(plan.own.numbers.contains(number) == isOwn, "\(place)")
        #expect(
          plan[.apns].numbers.contains(number) == route.now.contains { $0.channel == .apns }, "\(place)")
      }
    }
  }

  /// The same of devices that two channels reach, whatever way the sender chose for them.
  @Test(arguments: ["jpush", "fcm", "pns", "secondary_fcm_push", "secondary_pns_push"])
  func `What only the app shows goes past each of two channels`(way: String) throws {
    let directory = AppDirectory(app: AppID(1))
    for place in 0..<16 as Range<UInt32> {
      let number = RegistrationNumber(place)
      let id = RegistrationID(high: UInt64(place), low: 1)
      directory.insert(
        RegistrationEntry(
          number: number, id: id, platform: .android, secretHash: (1, 2),
          tokens: [ChannelID.huawei, .fcm].enumerated().filter { place & 1 << UInt32($0.offset) == 0 }.map {
            HeldToken(PushToken(TokenSlot($0.element, kind: 1), .only, [1]), of: number)
          }))
      guard place & 4 == 0 else { continue }
      _ = directory.login(
        id, secretHash: (1, 2), at: Location(loop: 0, slot: place, generation: 1), isForeground: true)
    }
    let all = try #require(directory.resolve(.all, platforms: .all)).numbers
    let off = NumberSet(all.members().filter { $0.rawValue & 8 == 0 })
    var rules = PushRules()
    rules.channels = [.huawei, .fcm]
    let text = """
      {"platform":"all","audience":"all","notification":{"alert":"x"},
       "options":{"third_party_channel":{"huawei":{"distribution_fcm":"\(way)"}}}}
      """
    var request = try PushRequest.parse(try parseJSON(Array(text.utf8)), rules: rules)
    request.options.fallbackAfter = 10
    let offers = [ChannelID.huawei, .fcm].map {
      ChannelOffer(DeliveryLeg($0), to: TokenSlot($0, kind: 1), on: PlatformSet(.android))
    }
    for audience in [Recipients.few(all.members()), .many(all)] {
      let usual = directory.plan(audience, RouteTerms(request, offers: offers))
      let plan = directory.plan(audience, RouteTerms(request, offers: offers, onlyInApp: off))
      #expect(plan.own.numbers.members() == usual.own.numbers.union(off).members())
      for offer in offers {
        let others = usual[offer.leg].numbers.subtracting(off)
        #expect(plan[offer.leg].numbers.members() == others.members())
        func later(_ plan: RoutePlan) -> NumberSet {
          plan.later.first { $0.leg == offer.leg }?.targets.numbers ?? NumberSet()
        }
        #expect(later(plan).members() == later(usual).subtracting(off).members())
      }
      #expect(!plan.vendors.isEmpty && !plan.later.isEmpty)
    }
  }

  /// Tokens and the foreground are followed through all that changes them.
  @Test func followsTheDevice() async throws {
    let world = try await TestWorld()
    let phone = try await world.register(token: [1], platform: .ios)
    let request = AcceptRequest(to: .all, try .test([.notification]), strategy: .ownThenVendor)
    func plan() -> (own: Bool, apns: Bool) {
      let audience =
        world.app.directory.resolve(request.push.audience, platforms: request.push.platforms) ?? .few([])
      let plan = world.app.directory.plan(audience, RouteTerms(request.push, apns: .production))
      return (!plan.own.isEmpty, !plan[.apns].isEmpty)
    }
    #expect(plan() == (false, true))
    let place = world.login(phone)
    #expect(plan() == (true, false))
    world.app.directory.setForeground(false, of: phone.number, at: place)
    #expect(plan() == (false, true))
    world.app.directory.setForeground(true, of: phone.number, at: Location(loop: 0, slot: 9, generation: 9))
    #expect(plan() == (false, true), "an earlier connection says nothing")
    world.app.directory.setForeground(true, of: phone.number, at: place)
    world.app.directory.disconnect(phone.number, from: place, at: 1)
    #expect(plan() == (false, true))
    func set(_ token: [UInt8], _ environment: APNsEnvironment) async throws {
      try await awaitCallback { done in
        world.router.registrations.setTokens([PushToken(environment, token)], of: phone.number, in: world.app)
        {
          done($0)
        }
      }.get()
    }
    try await set([1], .sandbox)
    #expect(plan() == (true, false))
    try await set([1], .production)
    try await world.restart(isOrderly: true)
    #expect(plan() == (false, true))
    world.router.registrations.retire(
      PushToken(.production, [2]), of: phone.number, in: world.app, .byService,
      unlessReportedAfter: world.clock.now())
    try await world.barrier()
    #expect(plan() == (false, true), "another token was meant")
    let before = world.clock.now().adding(seconds: -1)
    world.router.registrations.retire(
      PushToken(.production, [1]), of: phone.number, in: world.app, .byService, unlessReportedAfter: before)
    try await world.barrier()
    #expect(plan() == (false, true), "the device told it anew")
    world.router.registrations.retire(
      PushToken(.production, [1]), of: phone.number, in: world.app, .byService,
      unlessReportedAfter: world.clock.now())
    try await world.barrier()
    #expect(plan() == (true, false))
  }

  /// Calls go to those with a token for them, whatever becomes of the rest; only a strategy without Apple
  /// drops them.
  @Test(arguments: Strategy.Rule.allCases.map({ Strategy($0) }), [1, 100])
  func callsHaveTokensOfTheirOwn(strategy: Strategy, copies: UInt32) throws {
    let directory = AppDirectory(app: AppID(1))
    for number in 0..<(4 * copies) {
      directory.insert(
        RegistrationEntry(
          number: RegistrationNumber(number), id: RegistrationID(high: UInt64(number), low: 1),
          platform: .ios, secretHash: (1, 2),
          tokens: number % 2 == 0
            ? [HeldToken(PushToken(.production, [1]), of: RegistrationNumber(number))] : []))
      // The second half of them cannot be called.
      let environment: APNsEnvironment =
        number < copies ? .production : number < 2 * copies ? .sandbox : .none
      directory.setToken(HeldToken(PushToken(.voip, environment, [1]), of: RegistrationNumber(number)))
    }
    let all = try #require(directory.resolve(.all, platforms: .all))
    let callable = (0..<copies).map { RegistrationNumber($0) }
    for content in [
      try PushContent.test([.notification], calls: true), try PushContent.test([], calls: true),
    ] {
      let request = AcceptRequest(to: .all, content, strategy: strategy)
      let plan = directory.plan(all, RouteTerms(request.push, apns: .production))
      #expect(plan[.apnsCall].numbers.members() == (strategy == .ownOnly ? [] : callable))
      let without = AcceptRequest(to: .all, try .test(content.parts(for: .ios)), strategy: strategy)
      let rest = directory.plan(all, RouteTerms(without.push, apns: .production))
      let isCallAlone = content.variants.isEmpty
      #expect(plan.own.numbers.members() == (isCallAlone ? [] : rest.own.numbers.members()))
      #expect(plan[.apns].numbers.members() == (isCallAlone ? [] : rest[.apns].numbers.members()))
      #expect(directory.plan(all, RouteTerms(request.push, apns: []))[.apnsCall].isEmpty)
    }
  }

  /// Beside a part for Android, a call is all that there is for iPhones, with a credential for Apple or
  /// without.
  @Test(arguments: Strategy.Rule.allCases.map({ Strategy($0) }), [1, 100])
  func `Phones that are only called wait for nothing else`(strategy: Strategy, copies: UInt32) throws {
    let directory = AppDirectory(app: AppID(1))
    var numbers: [Platform: [RegistrationNumber]] = [:]
    for index in 0..<(3 * copies) {
      let number = RegistrationNumber(index)
      let platform = [Platform.android, .ios, .hmos][Int(index % 3)]
      directory.insert(
        RegistrationEntry(
          number: number, id: RegistrationID(high: UInt64(index), low: 1), platform: platform,
          secretHash: (1, 2)))
      if platform == .ios {
        directory.setToken(HeldToken(PushToken(.voip, .production, [1]), of: number))
      }
      numbers[platform, default: []].append(number)
    }
    let content = PushContent(
      variants: [ContentVariant(platforms: PlatformSet(.android), notification: Array("{}".utf8))],
      apple: [try PushContent.call()])
    let request = AcceptRequest(to: .all, content, strategy: strategy)
    let audience = try #require(directory.resolve(.all, platforms: request.push.platforms))
    #expect(audience.count == Int(2 * copies))
    for services in [ServiceSet(), .production] {
      let plan = directory.plan(audience, RouteTerms(request.push, apns: services))
      #expect(plan.own.numbers.members() == (strategy == .vendorOnly ? [] : numbers[.android]))
      let isCalled = !services.isEmpty && strategy != .ownOnly
      #expect(plan[.apnsCall].numbers.members() == (isCalled ? numbers[.ios] : []))
      #expect(plan.ios?.members() == numbers[.ios])
    }
  }

  /// Of two channels that could bring what our connection has nothing of, the first gets the device.
  @Test func `A device has one way for what our connection does not carry`() throws {
    let directory = AppDirectory(app: AppID(1))
    let slots = [200, 201].map { TokenSlot(ChannelID(rawValue: $0), kind: 1) }
    for (number, (platform, held)) in [
      (Platform.android, slots), (.android, [slots[1]]), (.ios, [slots[1]]), (.android, []),
    ].enumerated() {
      let number = RegistrationNumber(UInt32(number))
      directory.insert(
        RegistrationEntry(
          number: number, id: RegistrationID(high: UInt64(number.rawValue), low: 1), platform: platform,
          secretHash: (1, 2), tokens: held.map { HeldToken(PushToken($0, .only, [1]), of: number) }))
    }
    let all = try #require(directory.resolve(.all, platforms: .all))
    let request = AcceptRequest(to: .all, try .test([]))
    let offers = slots.map { ChannelOffer(DeliveryLeg($0.channel), to: $0, on: PlatformSet(.android)) }
    let plan = directory.plan(all, RouteTerms(request.push, offers: offers))
    #expect(plan.own.isEmpty)
    #expect(plan[offers[0].leg].numbers.members() == [RegistrationNumber(0)])
    #expect(plan[offers[1].leg].numbers.members() == [RegistrationNumber(1)])
  }

  /// The sender may choose a way for each channel: it is that of the devices with a token for the channel,
  /// and of no others.
  @Test(arguments: [0, 70])
  func `Each channel has the way that was chosen for it`(more: UInt32) throws {
    let directory = AppDirectory(app: AppID(1))
    let slots = [200, 201, 202].map { TokenSlot(ChannelID(rawValue: $0), kind: 1) }
    // Three of each, connected and not.
    for place in 0..<(8 + 8 * more) {
      let number = RegistrationNumber(place)
      let id = RegistrationID(high: UInt64(place), low: 1)
      let held = place % 4 < 3 ? [HeldToken(PushToken(slots[Int(place % 4)], .only, [1]), of: number)] : []
      directory.insert(
        RegistrationEntry(number: number, id: id, platform: .android, secretHash: (1, 2), tokens: held))
      guard place % 8 < 4 else { continue }
      _ = directory.login(
        id, secretHash: (1, 2), at: Location(loop: 0, slot: place, generation: 1), isForeground: true)
    }
    let all = try #require(directory.resolve(.all, platforms: .all))
    var content = try PushContent.test([.notification])
    content = PushContent(
      variants: content.variants,
      forChannels: zip(slots, [Strategy.Rule.vendorIfAny, .ownOnly]).map { slot, rule in
        ChannelContent(slot.channel, for: PlatformSet(.android), Array(#"{"way":\#(rule.rawValue)}"#.utf8))
      })
    let request = AcceptRequest(to: .all, content)
    let offers = slots.map { ChannelOffer(DeliveryLeg($0.channel), to: $0, on: PlatformSet(.android)) }
    let plan = directory.plan(all, RouteTerms(request.push, offers: offers))
    func kinds(_ recipients: Recipients) -> Set<UInt32> {
      Set(recipients.numbers.members().map { $0.rawValue % 8 })
    }
    // 0 to 3 are connected, 4 to 7 are not; 3 and 7 have no token.
    #expect(kinds(plan[offers[0].leg]) == [0, 4])
    #expect(kinds(plan[offers[1].leg]) == [])
    #expect(kinds(plan[offers[2].leg]) == [6])
    #expect(kinds(plan.own) == [1, 2, 3, 5, 7])
  }

  /// 200 is a maker, 201 the channel that reaches some of its devices as well.
  @Test(arguments: [0, 70], [(5, true), (0, true), (5, false), (0, false), (3, false)] as [(UInt8, Bool)])
  func `Devices with two tokens go the way that was chosen for them`(
    more: UInt32, way: (rule: UInt8, isOverOther: Bool)
  ) throws {
    let directory = AppDirectory(app: AppID(1))
    let slots = [200, 201].map { TokenSlot(ChannelID(rawValue: $0), kind: 1) }
    // The maker's, the other one's, both; the latter half is connected.
    for place in 0..<(6 + 6 * more) {
      let number = RegistrationNumber(place)
      let id = RegistrationID(high: UInt64(place), low: 1)
      let held = slots.indices.filter { [[0], [1], [0, 1]][Int(place % 3)].contains($0) }
      directory.insert(
        RegistrationEntry(
          number: number, id: id, platform: .android, secretHash: (1, 2),
          tokens: held.map { HeldToken(PushToken(slots[$0], .only, [1]), of: number) }))
      guard place % 6 >= 3 else { continue }
      _ = directory.login(
        id, secretHash: (1, 2), at: Location(loop: 0, slot: place, generation: 1), isForeground: true)
    }
    let all = try #require(directory.resolve(.all, platforms: .all))
    let chosen = #"{"way_for_both":{"other":201,"rule":\#(way.rule),"over_other":\#(way.isOverOther)}}"#
    let content = PushContent(
      variants: try PushContent.test([.notification]).variants,
      forChannels: [ChannelContent(slots[0].channel, for: PlatformSet(.android), Array(chosen.utf8))])
    let offers = slots.map { ChannelOffer(DeliveryLeg($0.channel), to: $0, on: PlatformSet(.android)) }
    let plan = directory.plan(all, RouteTerms(AcceptRequest(to: .all, content).push, offers: offers))
    func kinds(_ recipients: Recipients) -> Set<UInt32> {
      Set(recipients.numbers.members().map { $0.rawValue % 6 })
    }
    // Those with both, which are 2 and 5, the latter connected.
    let both: Set<UInt32> = way.rule == 5 ? [2, 5] : way.rule == 0 ? [2] : []
    #expect(kinds(plan[offers[0].leg]) == Set([0]).union(way.isOverOther ? [] : both))
    #expect(kinds(plan[offers[1].leg]) == Set([1]).union(way.isOverOther ? both : []))
    #expect(kinds(plan.own) == Set([3, 4]).union(Set([2, 5]).subtracting(both)))
  }

  /// A Live Activity goes to those who have the token that it names, and to nobody over our connection.
  @Test func activitiesHaveTokensOfTheirOwn() async throws {
    let world = try await TestWorld()
    let game = try #require(APNsTokenSlot(.liveActivity, name: "game"))
    let start = try #require(APNsTokenSlot(.liveActivityStart, name: "Game"))
    let phones = [
      try await world.register(token: [1], platform: .ios),
      try await world.register(token: [2], platform: .ios),
      try await world.register(token: [3], platform: .ios),
    ]
    func set(_ token: [UInt8], _ slot: APNsTokenSlot, _ index: Int) async throws {
      try await awaitCallback { done in
        world.router.registrations.setTokens(
          [PushToken(slot, .production, token)], of: phones[index].number, in: world.app
        ) {
          done($0)
        }
      }.get()
    }
    try await set([4], game, 0)
    try await set([5], game, 1)
    try await set([6], start, 2)
    func plan(_ slot: APNsTokenSlot, named: String?) throws -> (audience: Int, apns: [RegistrationNumber]) {
      let request = AcceptRequest(
        to: named.map { .filter(AudienceFilter(liveActivityID: $0)) } ?? .all, try .activity(slot))
      let audience = try #require(
        world.app.directory.resolve(request.push.audience, platforms: request.push.platforms))
      let plan = world.app.directory.plan(audience, RouteTerms(request.push, apns: .production))
      #expect(plan.own.isEmpty && plan[.apnsCall].isEmpty)
      return (audience.count, plan[.apns].numbers.members())
    }
    for _ in 0..<2 {
      #expect(try plan(game, named: "game") == (2, [phones[0].number, phones[1].number]))
      #expect(try plan(start, named: nil) == (3, [phones[2].number]))
      #expect(try plan(game, named: "other").audience == 0)
      try await world.restart(isOrderly: true)
    }
    try await set([], game, 0)
    // The same token again: it has moved.
    try await set([5], game, 2)
    #expect(try plan(game, named: "game").apns == [phones[2].number])
    world.router.registrations.retire(
      PushToken(game, .production, [5]), of: phones[2].number, in: world.app, .byService,
      unlessReportedAfter: world.clock.now())
    try await world.barrier()
    #expect(try plan(game, named: "game").audience == 0)
  }
}

extension RouteTerms {
  init(_ request: PushRequest, apns services: ServiceSet) {
    self.init(request, offers: request.content.apnsOffers(request.options.strategy, services))
  }
}

extension PushContent {
  /// The same for all platforms, with a notification for Apple if there is one.
  static func test(_ parts: PushParts, calls: Bool = false) throws -> PushContent {
    let text = Array(#"{"alert":"x"}"#.utf8)
    let template = try #require(APNsTemplate(text: Array(#"{"aps":{"alert":"x"}}"#.utf8), holes: []))
    let apple = APNsNotification(
      type: .alert, priority: .immediate, payload: template)
    return PushContent(
      variants: [
        ContentVariant(
          platforms: .all, notification: parts.contains(.notification) ? text : [],
          message: parts.contains(.message) ? text : [])
      ], apple: (parts.contains(.notification) ? [try #require(apple)] : []) + (calls ? [try call()] : []))
  }

  static func call() throws -> APNsNotification {
    let template = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    return try #require(APNsNotification(type: .voip, priority: .immediate, payload: template))
  }

  /// For a Live Activity.
  static func activity(_ slot: APNsTokenSlot) throws -> PushContent {
    let template = try #require(APNsTemplate(text: Array("{}".utf8), holes: []))
    let apple = APNsNotification(type: .liveActivity, slot: slot, priority: .immediate, payload: template)
    return PushContent(variants: [], apple: [try #require(apple)])
  }
}
