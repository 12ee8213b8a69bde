import BorealisBase
import Model
import Testing

/// What the table of routes has always said, for every combination of what a route depends on.
@Suite struct RoutingTableTests {
  /// A row for each rule on iOS and elsewhere: whether a vendor's channel may be used (V) and whether it can
  /// bring what the connection did not (W), then a notification, one with a message, and one with a message
  /// and a notification for vendors, each in reach and away, for a device that a vendor's channel reaches;
  /// last the notification without such a channel. B: the direct connection brings what the vendor refuses.
  static let rows = """
    jpush ios V- | A:N / A:N | A:N P:M / A:N K:M | A:N / A:N | P:N / K:N
    jpush android VW | P:N / A:N R:N B | P:NM / A:N K:M | P:NM / A:N R:NM B | P:N / K:N
    ownThenVendor ios VW | P:N / A:N | P:M / A:N K:M | P:M / A:N R:M B | P:N / K:N
    ownThenVendor android VW | P:N / A:N | P:NM / A:N K:M | P:NM / A:N R:NM B | P:N / K:N
    vendorOnly ios V- | A:N / A:N | A:N / A:N | A:N / A:N | !noVendorChannel / !noVendorChannel
    vendorOnly android V- | A:N / A:N | A:N / A:N | A:N / A:N | !noVendorChannel / !noVendorChannel
    ownOnly ios -- | P:N / K:N | P:M / K:M | P:M / K:M | P:N / K:N
    ownOnly android -- | P:N / K:N | P:NM / K:NM | P:NM / K:NM | P:N / K:N
    vendorThenOwn ios V- | A:N R:N / A:N B | A:N R:M / A:N K:M B | A:N R:M / A:N R:M B | P:N / K:N
    vendorThenOwn android V- | A:N R:N / A:N B | A:N P:M / A:N K:M B | A:N R:NM / A:N R:NM B | P:N / K:N
    vendorIfAny ios V- | A:N / A:N | A:N P:M / A:N K:M | A:N / A:N | P:N / K:N
    vendorIfAny android V- | A:N / A:N | A:N P:M / A:N K:M | A:N / A:N | P:N / K:N
    ownSparing ios VW | P:N / A:N | P:M / A:N K:M | P:M / A:N | P:N / K:N
    ownSparing android -- | P:N / K:N | P:NM / K:NM | P:NM / K:NM | P:N / K:N
    """

  @Test func `The rows of the table`() {
    var rows: [String] = []
    for rule in Strategy.Rule.allCases {
      for platform in [Platform.ios, .android] {
        rows.append(Self.row(Strategy(rule), platform))
        guard platform != .ios else { continue }
        for other in [Platform.hmos, .quickapp] {
          #expect(
            Self.row(Strategy(rule), other) == rows.last?.replacing("android", with: other.name), "\(rule)")
        }
      }
    }
    #expect(rows == Self.rows.split(separator: "\n").map(String.init))
  }

  /// All other combinations, too: mixed strategies, pushes for devices that are online, a fallback after a
  /// time. Print the lines before and after a change to see which differ.
  @Test func `Every combination is as it always was`() {
    var (lines, sum) = (0, UInt64(0xcbf2_9ce4_8422_2325))
    func add(_ line: String) {
      lines += 1
      for byte in line.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    for standard in Strategy.Rule.allCases {
      for ios in Strategy.Rule.allCases {
        let strategy = Strategy(standard, ios: ios)
        for platform in Platform.allCases {
          for parts in (0..<8).map({ PushParts(rawValue: $0) }) {
            for bits in 0..<32 {
              let route = Routing.route(Self.input(strategy, platform, parts, bits))
              add("\(standard) \(ios) \(platform.name) \(Self.spell(parts)) \(bits) \(Self.spell(route))")
            }
            add(Self.answers(strategy, platform, parts))
          }
        }
        for bits in 0..<4 {
          let reaches = Routing.reachesWithoutVendor(
            strategy, reachable: bits & 1 != 0, onlineOnly: bits & 2 != 0)
          add("\(standard) \(bits) \(reaches)")
        }
      }
    }
    #expect(lines == 51_940)
    #expect(sum == 0x83ce_4b81_da4a_1c2e)
  }

  private static func input(
    _ strategy: Strategy, _ platform: Platform, _ parts: PushParts, _ bits: Int
  ) -> RouteInput {
    RouteInput(
      platform: platform, parts: parts, isOnline: bits & 1 != 0,
      appState: bits & 2 != 0 ? .foreground : .background, vendor: bits & 4 != 0 ? .apns : nil,
      strategy: strategy, onlineOnly: bits & 8 != 0, fallsBackLater: bits & 16 != 0)
  }

  private static func row(_ strategy: Strategy, _ platform: Platform) -> String {
    func cells(_ parts: PushParts, _ bits: Int) -> String {
      [bits + 3, bits].map { spell(Routing.route(input(strategy, platform, parts, $0))) }
        .joined(separator: " / ")
    }
    let common =
      (Routing.mayUseVendor(strategy, on: platform) ? "V" : "-")
      + (Routing.waitsForOwn(strategy, on: platform) ? "W" : "-")
    let pushes = [PushParts.notification, .all, [.all, .forVendors]].map { parts in
      cells(parts, 4) + (Routing.fallsBackToOwn(strategy, on: platform, parts) ? " B" : "")
    }
    return (["\(strategy.standard) \(platform.name) \(common)"] + pushes + [cells(.notification, 0)])
      .joined(separator: " | ")
  }

  private static func answers(_ strategy: Strategy, _ platform: Platform, _ parts: PushParts) -> String {
    let own = [false, true].map {
      spell(Routing.ownParts(platform, of: parts, strategy: strategy, viaVendor: $0))
    }
    let kept = spell(Routing.kept(parts, strategy: strategy, on: platform, via: .apns))
    let yes = [
      Routing.mayUseVendor(strategy, on: platform), Routing.waitsForOwn(strategy, on: platform),
      Routing.fallsBackToOwn(strategy, on: platform, parts),
    ]
    return "\(strategy.number) \(platform.name) \(spell(parts)) \(own) \(kept) \(yes)"
  }

  private static func spell(_ parts: PushParts) -> String {
    RoutingTests.spell(parts) + (parts.contains(.forVendors) ? "V" : "")
  }

  private static func spell(_ route: PushRoute) -> String {
    let later = route.ifUnacknowledged.map { " L:\($0.channel.rawValue)\(spell($0.parts))" } ?? ""
    return RoutingTests.spell(route) + later
  }
}
