import BorealisBase

/// Parts of a push and the channel that carries them.
package struct ChannelPart: Equatable, Sendable {
  package let channel: ChannelID
  /// What it carries; never empty in a route.
  package let parts: PushParts

  /// Puts parts on a channel.
  package init(_ channel: ChannelID, _ parts: PushParts) {
    self.channel = channel
    self.parts = parts
  }
}

/// Whose rules choose the channel: one rule for iOS and one for all other platforms, which mostly are the
/// same.
package struct Strategy: Hashable, Sendable {
  /// A column of the routing table. The raw values are stored in the database: Getui's numbers, and 0 for
  /// JPush's rules.
  package enum Rule: UInt8, CaseIterable, Sendable {
    /// JPush: iOS notifications go to the vendor's channel, everything else over the direct connection; on
    /// other platforms to the vendor's channel if the app is not online (`secondary_push`).
    case jpush = 0
    /// Getui's strategy 1: the direct connection if the app is online, else the vendor's channel now and our
    /// part kept.
    case ownThenVendor = 1
    /// Getui's strategy 2: the vendor's channel only.
    case vendorOnly = 2
    /// Getui's strategy 3: the direct connection only.
    case ownOnly = 3
    /// Getui's strategy 4: the vendor's channel first, the direct connection if that can't.
    case vendorThenOwn = 4
    /// JPush's `ospush` for one vendor: notifications through the vendor's channel wherever it has the
    /// device's address, everything else over the direct connection.
    case vendorIfAny = 5
    /// Getui's strategy 6: as 1, but of phone makers' quotas nothing is used for devices that often come
    /// online. Here all do.
    case ownSparing = 6
  }

  /// The rule on all platforms but iOS.
  package let standard: Rule
  /// The rule on iOS.
  package let ios: Rule

  /// One rule everywhere, or another on iOS.
  package init(_ standard: Rule, ios: Rule? = nil) {
    self.standard = standard
    self.ios = ios ?? standard
  }

  /// JPush's rules.
  package static let jpush = Strategy(.jpush)
  /// Getui's strategy 1.
  package static let ownThenVendor = Strategy(.ownThenVendor)
  /// Getui's strategy 2.
  package static let vendorOnly = Strategy(.vendorOnly)
  /// Getui's strategy 3.
  package static let ownOnly = Strategy(.ownOnly)
  /// Getui's strategy 4.
  package static let vendorThenOwn = Strategy(.vendorThenOwn)
  /// JPush's `ospush`.
  package static let vendorIfAny = Strategy(.vendorIfAny)
  /// Getui's strategy 6.
  package static let ownSparing = Strategy(.ownSparing)

  /// The rule on a platform.
  package func rule(on platform: Platform) -> Rule { platform == .ios ? ios : standard }

  /// The number that is stored: the rule, and in the upper four bits that on iOS, one more than its number,
  /// if it is another.
  package var number: UInt8 { standard.rawValue | (ios == standard ? 0 : (ios.rawValue + 1) << 4) }

  /// The strategy that was stored under a number; nil for other numbers.
  package init?(number: UInt8) {
    guard let standard = Rule(rawValue: number & 15) else { return nil }
    guard number >> 4 != 0 else {
      self.init(standard)
      return
    }
    guard let ios = Rule(rawValue: number >> 4 - 1), ios != standard else { return nil }
    self.init(standard, ios: ios)
  }

  /// Getui's number of a strategy, 1 to 4 and 6; nil for other numbers.
  package static func getui(_ number: Int) -> Strategy? {
    guard let rule = UInt8(exactly: number).flatMap({ Rule(rawValue: $0) }),
      rule != .jpush, rule != .vendorIfAny
    else { return nil }
    return Strategy(rule)
  }
}

/// Whether the app is in the foreground, as its device last said.
package enum AppVisibility: UInt8, Sendable {
  /// The app is on the screen.
  case foreground = 1
  /// The app is behind others, the screen is locked, or the app doesn't run.
  case background = 2
}

/// What a route depends on.
package struct RouteInput: Equatable, Sendable {
  /// What the device runs.
  package var platform: Platform
  /// What the push has for this platform.
  package var parts: PushParts
  /// Whether the device is connected to us.
  package var isOnline: Bool
  /// Whether the app is in the foreground; used on iOS only.
  package var appState: AppVisibility
  /// The vendor's channel that could bring the device its notification: the app is set up for it and the
  /// device has an address there. Nil if there is none.
  package var vendor: ChannelID?
  /// Whose rules apply.
  package var strategy: Strategy
  /// Whether the push is only for devices that are online now (`time_to_live` 0, Getui's ttl -1).
  package var onlineOnly: Bool
  /// Whether the vendor's channel brings what is not acknowledged in time (`fallback_after`).
  package var fallsBackLater: Bool
  /// Whether the app shows it in its own pages, and the user has turned the app's notifications off.
  package var isOnlyInApp: Bool

  /// Makes an input.
  package init(
    platform: Platform, parts: PushParts, isOnline: Bool, appState: AppVisibility = .foreground,
    vendor: ChannelID?, strategy: Strategy = .jpush, onlineOnly: Bool = false, fallsBackLater: Bool = false,
    isOnlyInApp: Bool = false
  ) {
    self.platform = platform
    self.parts = parts
    self.isOnline = isOnline
    self.appState = appState
    self.vendor = vendor
    self.strategy = strategy
    self.onlineOnly = onlineOnly
    self.fallsBackLater = fallsBackLater
    self.isOnlyInApp = isOnlyInApp
  }
}

/// Why a part of a push won't reach a device.
package enum DropReason: UInt8, Sendable {
  /// The device is away and the push isn't to be kept.
  case offline = 1
  /// The strategy asks for a vendor's channel, and none reaches this device.
  case noVendorChannel = 3
  /// The strategy uses no channel that could carry what the push has.
  case noContent = 4
}

/// Which way each part of a push takes to one device.
package struct PushRoute: Equatable, Sendable {
  /// What is sent at once, each channel at most once.
  package var now: [ChannelPart] = []
  /// What is handed over the direct connection when the device comes (back) to the foreground or online.
  package var keep: PushParts = []
  /// What is sent over the direct connection if the vendor refuses what `now` gives it; never kept as well.
  package var ifRefused: PushParts = []
  /// What the vendor's channel brings if the device does not acknowledge in time what it gets over the direct
  /// connection.
  package var ifUnacknowledged: ChannelPart?
  /// Why something is sent nowhere; nil if every part that the strategy wants is under way.
  package var droppedReason: DropReason?

  /// Makes a route.
  package init(
    now: [ChannelPart] = [], keep: PushParts = [], ifRefused: PushParts = [],
    ifUnacknowledged: ChannelPart? = nil, droppedReason: DropReason? = nil
  ) {
    self.now = now
    self.keep = keep
    self.ifRefused = ifRefused
    self.ifUnacknowledged = ifUnacknowledged
    self.droppedReason = droppedReason
  }
}

/// The table of routes (`row`): which of V and P a device gets, by the rule, its platform, and whether its
/// app is in reach of the direct connection.
///
/// V is the notification through the vendor channel that has an address of the device. On iOS an app is
/// online if it is connected and in the foreground: a background app with an open socket counts as offline,
/// as in Getui's cases; elsewhere if it is connected. P is the content for the direct connection: both parts,
/// but with Getui's strategies on iOS the message, or the notification if the push has no message, so that no
/// accepted content is lost; the part of it that V does not carry is kept. It is dropped instead of kept if
/// the push is only for online devices. With Getui's strategies P and V are two forms of one content: P alone
/// is enough.
///
/// A push may have a notification of its own for vendors' channels (`PushParts.forVendors`, never on iOS),
/// which comes in place of P as a whole: where the table has V and P, there is V alone, and P if V refuses.
///
/// What is only shown in the app's own pages (`inapp_message`, where notifications are turned off) goes
/// like a push to a device that no vendor's channel reaches, if the row has P for that.
///
/// With `fallback_after`, where the table has "P now" or "both parts now" in the first column and V in the
/// second, for the same device: V after so many seconds without an acknowledgement. From then on the second
/// column counts.
package enum Routing {
  /// What a device gets that a vendor's channel reaches. All others get P, if the row has it at all.
  private struct Cell {
    var usesVendor = true
    /// Whether P is used beside V, without what V carries.
    var usesDirect = true
    /// For which pushes P comes if V is refused and has left nothing of P.
    var ifRefused = Refusal.nothing

    static let direct = Cell(usesVendor: false)
    static let vendor = Cell(usesDirect: false)
    static let vendorAndRest = Cell()
    static func vendor(orDirect pushes: Refusal) -> Cell { Cell(usesDirect: false, ifRefused: pushes) }
    static func vendorAndRest(orDirect pushes: Refusal) -> Cell { Cell(ifRefused: pushes) }
  }

  private enum Refusal {
    case nothing
    /// Those with a notification for vendors' channels, which is in place of P.
    case inPlace
    /// Those, and notifications alone: of others a device would get the message twice.
    case withoutMessage
    case all

    func includes(_ parts: PushParts) -> Bool {
      switch self {
      case .nothing: false
      case .inPlace: parts.contains(.forVendors)
      case .withoutMessage: parts == .notification || parts.contains(.forVendors)
      case .all: true
      }
    }
  }

  /// How pushes by a rule get to devices of a platform.
  private struct Row {
    /// While the app is in reach of the direct connection, and while it is not.
    let reachable, away: Cell
  }

  private static func row(_ strategy: Strategy, on platform: Platform) -> Row {
    switch (strategy.rule(on: platform), platform) {
    case (.jpush, .ios), (.vendorIfAny, _): Row(reachable: .vendorAndRest, away: .vendorAndRest)
    case (.jpush, _): Row(reachable: .direct, away: .vendorAndRest(orDirect: .withoutMessage))
    case (.ownThenVendor, _): Row(reachable: .direct, away: .vendorAndRest(orDirect: .inPlace))
    case (.vendorOnly, _): Row(reachable: .vendor, away: .vendor)
    case (.ownSparing, .ios): Row(reachable: .direct, away: .vendorAndRest)
    case (.ownSparing, _), (.ownOnly, _): Row(reachable: .direct, away: .direct)
    case (.vendorThenOwn, .ios):
      Row(reachable: .vendor(orDirect: .all), away: .vendorAndRest(orDirect: .inPlace))
    case (.vendorThenOwn, _):
      Row(reachable: .vendorAndRest(orDirect: .all), away: .vendorAndRest(orDirect: .inPlace))
    }
  }

  /// The route of a push to one device; depends on nothing but the input.
  package static func route(_ asked: RouteInput) -> PushRoute {
    var input = asked
    if input.isOnlyInApp, row(input.strategy, on: input.platform).away.usesDirect { input.vendor = nil }
    var route = atOnce(input)
    guard input.fallsBackLater, let part = Vendor(input).part, !input.onlineOnly,
      isReachable(input.platform, isOnline: input.isOnline, input.appState),
      waitsForOwn(input.strategy, on: input.platform)
    else { return route }
    route.ifUnacknowledged = part
    return route
  }

  private static func atOnce(_ input: RouteInput) -> PushRoute {
    guard !input.parts.isEmpty else { return PushRoute(droppedReason: .noContent) }
    let reachable = isReachable(input.platform, isOnline: input.isOnline, input.appState)
    let row = row(input.strategy, on: input.platform)
    let cell = reachable ? row.reachable : row.away
    let own = ownParts(input.platform, of: input.parts, strategy: input.strategy, viaVendor: false)
    let vendor = Vendor(input)
    guard cell.usesVendor, let part = vendor.part else {
      if row.away.usesDirect { return direct(own, reachable: reachable, input) }
      let hasContent = !input.parts.isDisjoint(with: [.notification, .forVendors])
      return PushRoute(droppedReason: hasContent ? .noVendorChannel : .noContent)
    }
    let rest = cell.usesDirect ? own.subtracting(vendor.covers) : []
    var route = direct(rest, reachable: reachable, input)
    route.now.insert(part, at: 0)
    if rest.isEmpty, cell.ifRefused.includes(input.parts) { route.ifRefused = own }
    return route
  }

  /// The parts that the direct connection carries, now or later. `viaVendor` says whether a vendor channel
  /// carries the notification.
  package static func ownParts(
    _ platform: Platform, of parts: PushParts, strategy: Strategy, viaVendor: Bool
  ) -> PushParts {
    let isOneOf = platform == .ios && strategy.ios != .jpush
    let own = !isOneOf ? parts.intersection(.all) : parts.contains(.message) ? .message : .notification
    guard viaVendor else { return own }
    return parts.contains(.forVendors) ? [] : own.subtracting(.notification)
  }

  /// Whether an app receives pushes over the direct connection now. An iOS app in the background with an open
  /// socket does not.
  package static func isReachable(_ platform: Platform, isOnline: Bool, _ state: AppVisibility) -> Bool {
    isOnline && (!needsForeground(platform) || state == .foreground)
  }

  /// Whether apps of a platform take what comes over the direct connection only while they are in the
  /// foreground.
  package static func needsForeground(_ platform: Platform) -> Bool { platform == .ios }

  /// Whether a vendor's channel may get the notification of a push for a device of a platform.
  package static func mayUseVendor(_ strategy: Strategy, on platform: Platform) -> Bool {
    let row = row(strategy, on: platform)
    return row.reachable.usesVendor || row.away.usesVendor
  }

  /// Whether a vendor's channel gets it for a device that is in reach of the direct connection, or is not.
  package static func usesVendor(_ strategy: Strategy, on platform: Platform, isReachable: Bool) -> Bool {
    let row = row(strategy, on: platform)
    return (isReachable ? row.reachable : row.away).usesVendor
  }

  /// Whether devices in reach get everything over the direct connection, and others their notification by a
  /// vendor's channel: only then the channel can bring what the connection did not.
  package static func waitsForOwn(_ strategy: Strategy, on platform: Platform) -> Bool {
    let row = row(strategy, on: platform)
    return !row.reachable.usesVendor && row.away.usesVendor
  }

  /// What the direct connection keeps for devices of a platform whose notification a vendor's channel brings
  /// since they did not acknowledge it in time: what it keeps for those that are away.
  package static func kept(
    _ parts: PushParts, strategy: Strategy, on platform: Platform, via vendor: ChannelID
  ) -> PushParts {
    route(
      RouteInput(platform: platform, parts: parts, isOnline: false, vendor: vendor, strategy: strategy)
    ).keep
  }

  /// Whether the direct connection brings what the vendor refuses of a push with some parts
  /// (`PushRoute.ifRefused`, or what was kept anyway).
  package static func fallsBackToOwn(_ strategy: Strategy, on platform: Platform, _ parts: PushParts) -> Bool
  {
    let row = row(strategy, on: platform)
    return row.reachable.ifRefused.includes(parts) || row.away.ifRefused.includes(parts)
  }

  /// Whether the direct connection has something, now or later, for all devices that no vendor's channel
  /// reaches.
  package static func usesDirect(_ strategy: Strategy) -> Bool {
    row(strategy, on: .ios).away.usesDirect && row(strategy, on: .android).away.usesDirect
  }

  /// Whether the direct connection has something, now or later, for a device of another platform than iOS
  /// that no vendor's channel reaches.
  package static func reachesWithoutVendor(_ strategy: Strategy, reachable: Bool, onlineOnly: Bool) -> Bool {
    row(strategy, on: .android).away.usesDirect && (reachable || !onlineOnly)
  }

  /// What the vendor's channel could bring.
  private struct Vendor {
    /// Nil if it has nothing to bring.
    let part: ChannelPart?
    /// What the direct connection need not bring if it does.
    let covers: PushParts

    init(_ input: RouteInput) {
      let isInstead = input.parts.contains(.forVendors)
      let isThere = isInstead || input.parts.contains(.notification)
      part = isThere ? input.vendor.map { ChannelPart($0, .notification) } : nil
      covers = part == nil ? [] : isInstead ? .all : .notification
    }
  }

  /// Parts over the direct connection: now, later, or never.
  private static func direct(_ parts: PushParts, reachable: Bool, _ input: RouteInput) -> PushRoute {
    if parts.isEmpty { return PushRoute() }
    if reachable { return PushRoute(now: [ChannelPart(.passthrough, parts)]) }
    return input.onlineOnly ? PushRoute(droppedReason: .offline) : PushRoute(keep: parts)
  }
}
