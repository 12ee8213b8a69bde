import BorealisBase
import Model
import PushTesting
import Testing

/// One line of the expected table: nil means "whatever".
struct RouteRule: Sendable {
  var ios: Bool
  var strategies: String
  var parts: String
  var reachable: Bool?
  var apns: Bool?
  var onlineOnly: Bool?
  var expected: String
}

@Suite struct RoutingTests {
  /// j is JPush, the digits are Getui's strategies; N is the notification, M the message. Expected: what goes
  /// to the vendor (`A:`), over the direct connection (`P:`), over the direct connection if the vendor
  /// refuses (`R:`), what is kept (`K:`), why dropped (`!`).
  static let rules: [RouteRule] = [
    // Everything but iOS, in reach: the direct connection first.
    rule(false, "j13", "N", true, nil, nil, "P:N"), rule(false, "j134", "M", true, nil, nil, "P:M"),
    rule(false, "j13", "NM", true, nil, nil, "P:NM"),
    rule(false, "4", "N", true, false, nil, "P:N"), rule(false, "4", "NM", true, false, nil, "P:NM"),
    rule(false, "4", "N", true, true, nil, "A:N R:N"), rule(false, "4", "NM", true, true, nil, "A:N P:M"),
    // Away, without a vendor's channel.
    rule(false, "j14", "N", false, false, false, "K:N"), rule(false, "j134", "M", false, nil, false, "K:M"),
    rule(false, "j14", "NM", false, false, false, "K:NM"),
    rule(false, "j14", "N", false, false, true, "!offline"),
    rule(false, "j134", "M", false, nil, true, "!offline"),
    rule(false, "j14", "NM", false, false, true, "!offline"),
    rule(false, "3", "N", false, nil, false, "K:N"), rule(false, "3", "NM", false, nil, false, "K:NM"),
    rule(false, "3", "N", false, nil, true, "!offline"), rule(false, "3", "NM", false, nil, true, "!offline"),
    // Away, with one.
    rule(false, "j", "N", false, true, nil, "A:N R:N"), rule(false, "145", "N", false, true, nil, "A:N"),
    rule(false, "j145", "NM", false, true, false, "A:N K:M"),
    rule(false, "j145", "NM", false, true, true, "A:N !offline"),
    // JPush's `ospush`, here 5: the vendor's channel also in reach; where there is none, the direct
    // connection.
    rule(false, "5", "N", true, true, nil, "A:N"), rule(false, "5", "NM", true, true, nil, "A:N P:M"),
    rule(false, "5", "N", true, false, nil, "P:N"), rule(false, "5", "NM", true, false, nil, "P:NM"),
    rule(false, "5", "M", true, nil, nil, "P:M"), rule(false, "5", "M", false, nil, false, "K:M"),
    rule(false, "5", "M", false, nil, true, "!offline"),
    rule(false, "5", "N", false, false, false, "K:N"), rule(false, "5", "NM", false, false, false, "K:NM"),
    rule(false, "5", "N", false, false, true, "!offline"),
    rule(false, "5", "NM", false, false, true, "!offline"),
    rule(false, "2", "N", nil, false, nil, "!noVendorChannel"), rule(false, "2", "N", nil, true, nil, "A:N"),
    rule(false, "2", "M", nil, nil, nil, "!noContent"),
    rule(false, "2", "NM", nil, false, nil, "!noVendorChannel"),
    rule(false, "2", "NM", nil, true, nil, "A:N"),
    // JPush on iOS with APNs.
    rule(true, "j", "N", nil, true, nil, "A:N"), rule(true, "j", "M", true, nil, nil, "P:M"),
    rule(true, "j", "M", false, nil, false, "K:M"), rule(true, "j", "M", false, nil, true, "!offline"),
    rule(true, "j", "NM", true, true, nil, "A:N P:M"), rule(true, "j", "NM", false, true, false, "A:N K:M"),
    rule(true, "j", "NM", false, true, true, "A:N !offline"),
    // JPush on iOS without APNs: nothing accepted is lost.
    rule(true, "j", "N", true, false, nil, "P:N"), rule(true, "j", "N", false, false, false, "K:N"),
    rule(true, "j", "N", false, false, true, "!offline"), rule(true, "j", "NM", true, false, nil, "P:NM"),
    rule(true, "j", "NM", false, false, false, "K:NM"), rule(true, "j", "NM", false, false, true, "!offline"),
    // Getui 1.
    rule(true, "1", "N", true, nil, nil, "P:N"), rule(true, "1", "M", true, nil, nil, "P:M"),
    rule(true, "1", "NM", true, nil, nil, "P:M"),
    rule(true, "1", "N", false, true, nil, "A:N"), rule(true, "1", "NM", false, true, false, "A:N K:M"),
    rule(true, "1", "NM", false, true, true, "A:N !offline"),
    rule(true, "14", "M", false, true, false, "K:M"), rule(true, "14", "M", false, true, true, "!offline"),
    rule(true, "1", "N", false, false, false, "K:N"), rule(true, "1", "N", false, false, true, "!offline"),
    rule(true, "1", "M", false, false, false, "K:M"), rule(true, "1", "M", false, false, true, "!offline"),
    rule(true, "1", "NM", false, false, false, "K:M"), rule(true, "1", "NM", false, false, true, "!offline"),
    // Getui 2.
    rule(true, "2", "N", nil, true, nil, "A:N"), rule(true, "2", "NM", nil, true, nil, "A:N"),
    rule(true, "2", "M", nil, nil, nil, "!noContent"),
    rule(true, "2", "N", nil, false, nil, "!noVendorChannel"),
    rule(true, "2", "NM", nil, false, nil, "!noVendorChannel"),
    // Getui 3.
    rule(true, "3", "N", true, nil, nil, "P:N"), rule(true, "3", "M", true, nil, nil, "P:M"),
    rule(true, "3", "NM", true, nil, nil, "P:M"), rule(true, "3", "N", false, nil, false, "K:N"),
    rule(true, "3", "M", false, nil, false, "K:M"), rule(true, "3", "NM", false, nil, false, "K:M"),
    rule(true, "3", "N", false, nil, true, "!offline"), rule(true, "3", "M", false, nil, true, "!offline"),
    rule(true, "3", "NM", false, nil, true, "!offline"),
    // Getui 4.
    rule(true, "4", "N", true, true, nil, "A:N R:N"), rule(true, "4", "NM", true, true, nil, "A:N R:M"),
    rule(true, "4", "M", true, nil, nil, "P:M"), rule(true, "4", "N", false, true, nil, "A:N"),
    rule(true, "4", "NM", false, true, false, "A:N K:M"),
    rule(true, "4", "NM", false, true, true, "A:N !offline"),
    rule(true, "4", "N", true, false, nil, "P:N"), rule(true, "4", "NM", true, false, nil, "P:M"),
    rule(true, "4", "N", false, false, false, "K:N"), rule(true, "4", "N", false, false, true, "!offline"),
    rule(true, "4", "M", false, false, false, "K:M"), rule(true, "4", "M", false, false, true, "!offline"),
    rule(true, "4", "NM", false, false, false, "K:M"), rule(true, "4", "NM", false, false, true, "!offline"),
  ]

  static func rule(
    _ ios: Bool, _ strategies: String, _ parts: String, _ reachable: Bool?, _ apns: Bool?,
    _ onlineOnly: Bool?,
    _ expected: String
  ) -> RouteRule {
    RouteRule(
      ios: ios, strategies: strategies, parts: parts, reachable: reachable, apns: apns,
      onlineOnly: onlineOnly,
      expected: expected)
  }

  static func spell(_ parts: PushParts) -> String {
    (parts.contains(.notification) ? "N" : "") + (parts.contains(.message) ? "M" : "")
  }

  static func spell(_ route: PushRoute) -> String {
    var words = route.now.map { "\($0.channel == .apns ? "A" : "P"):\(spell($0.parts))" }
    if !route.ifRefused.isEmpty { words.append("R:\(spell(route.ifRefused))") }
    if !route.keep.isEmpty { words.append("K:\(spell(route.keep))") }
    if let reason = route.droppedReason { words.append("!\(reason)") }
    return words.joined(separator: " ")
  }

  @Test func everyCombination() {
    var seen = 0
    let strategies: [(Character, Strategy)] = [
      ("j", .jpush), ("1", .ownThenVendor), ("2", .vendorOnly), ("3", .ownOnly), ("4", .vendorThenOwn),
      ("5", .vendorIfAny),
    ]
    for platform in Platform.allCases {
      for parts in [PushParts.notification, .message, .all] {
        for (letter, strategy) in strategies where platform != .ios || letter != "5" {
          for bits in 0..<16 {
            let input = RouteInput(
              platform: platform, parts: parts, isOnline: bits & 1 != 0,
              appState: bits & 2 != 0 ? .foreground : .background, vendor: bits & 4 != 0 ? .apns : nil,
              strategy: strategy, onlineOnly: bits & 8 != 0)
            let reachable = input.isOnline && (platform != .ios || input.appState == .foreground)
            let matching = Self.rules.filter {
              $0.ios == (platform == .ios) && $0.strategies.contains(letter) && $0.parts == Self.spell(parts)
                && $0.reachable ?? reachable == reachable
                && $0.apns ?? (input.vendor != nil) == (input.vendor != nil)
                && $0.onlineOnly ?? input.onlineOnly == input.onlineOnly
            }
            #expect(matching.count == 1, "\(input)")
            #expect(Self.spell(Routing.route(input)) == matching.first?.expected, "\(input)")
            seen += 1
          }
        }
      }
    }
    #expect(seen == (4 * 6 - 1) * 3 * 16)
  }

  /// What others ask of the table in short is what its rows say.
  @Test func `Short answers agree with the table`() {
    for strategy in Strategy.Rule.allCases.map({ Strategy($0) }) {
      for platform in Platform.allCases {
        var (refused, vendors) = (false, false)
        for bits in 0..<8 {
          var input = RouteInput(
            platform: platform, parts: .notification, isOnline: bits & 1 != 0,
            appState: bits & 2 != 0 ? .foreground : .background, vendor: nil, strategy: strategy,
            onlineOnly: bits & 4 != 0)
          let route = Routing.route(input)
          let reachable = Routing.isReachable(platform, isOnline: input.isOnline, input.appState)
          #expect(
            Routing.reachesWithoutVendor(strategy, reachable: reachable, onlineOnly: input.onlineOnly)
              == !(route.now.isEmpty && route.keep.isEmpty), "\(input)")
          input.vendor = .apns
          let vendorRoute = Routing.route(input)
          refused = refused || !vendorRoute.ifRefused.isEmpty
          vendors = vendors || vendorRoute.now.contains { $0.channel == .apns }
        }
        #expect(
          refused == Routing.fallsBackToOwn(strategy, on: platform, .notification), "\(strategy) \(platform)")
        #expect(vendors == Routing.mayUseVendor(strategy, on: platform), "\(strategy) \(platform)")
      }
    }
  }

  @Test func nothingToSend() {
    let input = RouteInput(platform: .android, parts: [], isOnline: true, vendor: nil)
    #expect(Self.spell(Routing.route(input)) == "!noContent")
  }

  @Test func numbersOfStrategies() {
    #expect(
      (0...7).map { Strategy.getui($0) }
        == [nil, .ownThenVendor, .vendorOnly, .ownOnly, .vendorThenOwn, nil, .ownSparing, nil])
  }

  @Test func `Every strategy comes back from its number, and nothing else does`() {
    var seen: Set<UInt8> = []
    for standard in Strategy.Rule.allCases {
      for ios in Strategy.Rule.allCases {
        let strategy = Strategy(standard, ios: ios)
        #expect(Strategy(number: strategy.number) == strategy)
        seen.insert(strategy.number)
      }
    }
    #expect(seen.count == 49)
    for number in UInt8.min...UInt8.max {
      #expect((Strategy(number: number) != nil) == seen.contains(number))
    }
  }

  @Test func `Strategy 6 is as 1 on iOS and as 3 elsewhere, and a mixed one is that of the platform`() {
    for platform in Platform.allCases {
      for bits in 0..<16 {
        func route(_ strategy: Strategy) -> PushRoute {
          Routing.route(
            RouteInput(
              platform: platform, parts: .all, isOnline: bits & 1 != 0,
              appState: bits & 2 != 0 ? .foreground : .background, vendor: bits & 4 != 0 ? .apns : nil,
              strategy: strategy, onlineOnly: bits & 8 != 0))
        }
        #expect(route(.ownSparing) == route(platform == .ios ? .ownThenVendor : .ownOnly))
        for standard in Strategy.Rule.allCases {
          for ios in Strategy.Rule.allCases {
            #expect(route(Strategy(standard, ios: ios)) == route(Strategy(platform == .ios ? ios : standard)))
          }
        }
      }
    }
  }

  /// The cases of Getui's report: both parts, APNs set up.
  @Test(arguments: NumberedCase.all, NumberedCase.strategies)
  func numberedCases(_ row: NumberedCase, _ number: Int) throws {
    let expected = row.outcome(strategy: number)
    let strategy = try #require(Strategy.getui(number))
    // A background app counts as away whether its socket lives or not.
    for isOnline in row.app == .background ? [true, false] : [row.app == .foreground] {
      let route = Routing.route(
        RouteInput(
          platform: .ios, parts: .all, isOnline: isOnline,
          appState: row.app == .foreground ? .foreground : .background, vendor: .apns, strategy: strategy))
      let sentNow = route.now.contains(ChannelPart(.passthrough, .message))
      let banner = route.now.contains(ChannelPart(.apns, .notification))
      let handedOver = route.keep == .message && !row.isStopped
      #expect((sentNow || handedOver) == expected.getsMessage, "\(row), strategy \(number)")
      #expect(banner == expected.asksApple, "\(row), strategy \(number)")
      #expect((banner && row.opening == .banner) == expected.getsNotification, "\(row), strategy \(number)")
      #expect(!(sentNow && !route.keep.isEmpty), "\(row): twice")
    }
  }
}
