import PushBase

/// A way to a device.
public enum Channel: UInt8, Sendable {
  /// Our own connection.
  case passthrough = 1
  /// Apple's push service.
  case apns = 2
}

/// Parts of a push and the channel that carries them.
public struct ChannelPart: Equatable, Sendable {
  /// The channel.
  public let channel: Channel
  /// What it carries; never empty in a route.
  public let parts: PushParts

  /// Puts parts on a channel.
  public init(_ channel: Channel, _ parts: PushParts) {
    self.channel = channel
    self.parts = parts
  }
}

/// Whose rules choose the channel. Raw values stand in the database: Getui's numbers, and 0 for JPush's rules.
public enum Strategy: UInt8, CaseIterable, Sendable {
  /// JPush: iOS notifications go to APNs, everything else over our connection.
  case jpush = 0
  /// Getui's strategy 1: our connection if the app is online, else APNs now and our part kept.
  case ownThenVendor = 1
  /// Getui's strategy 2: APNs only.
  case vendorOnly = 2
  /// Getui's strategy 3: our connection only.
  case ownOnly = 3
  /// Getui's strategy 4: APNs first, our connection if APNs can't.
  case vendorThenOwn = 4

  /// The number that is stored.
  public var number: UInt8 { rawValue }

  /// The strategy that was stored under a number; nil for other numbers.
  public init?(number: UInt8) { self.init(rawValue: number) }

  /// Getui's number of a strategy, 1 to 4; nil for other numbers.
  public static func getui(_ number: Int) -> Strategy? {
    (1...4).contains(number) ? UInt8(exactly: number).flatMap { Strategy(rawValue: $0) } : nil
  }
}

/// Whether the app is in front of the user, as its device last said.
public enum AppState: UInt8, Sendable {
  /// The app is on the screen.
  case foreground = 1
  /// The app is behind others, the screen is locked, or the app doesn't run.
  case background = 2
}

/// What a route depends on.
public struct RouteInput: Equatable, Sendable {
  /// What the device runs.
  public var platform: Platform
  /// What the push has for this platform.
  public var parts: PushParts
  /// Whether the device is connected to us.
  public var isOnline: Bool
  /// Where the app is; only asked for on iOS.
  public var appState: AppState
  /// Whether the app has credentials for APNs and the device a token; only asked for on iOS.
  public var apnsAvailable: Bool
  /// Whose rules apply.
  public var strategy: Strategy
  /// Whether the push is only for devices that are online now (`time_to_live` 0, Getui's ttl -1).
  public var onlineOnly: Bool

  /// Makes an input.
  public init(
    platform: Platform, parts: PushParts, isOnline: Bool, appState: AppState = .foreground,
    apnsAvailable: Bool, strategy: Strategy = .jpush, onlineOnly: Bool = false
  ) {
    self.platform = platform
    self.parts = parts
    self.isOnline = isOnline
    self.appState = appState
    self.apnsAvailable = apnsAvailable
    self.strategy = strategy
    self.onlineOnly = onlineOnly
  }
}

/// Why a part of a push won't reach a device.
public enum DropReason: UInt8, Sendable {
  /// The device is away and the push isn't to be kept.
  case offline = 1
  /// The strategy asks for APNs, which isn't available for this device.
  case noAPNs = 2
  /// The strategy asks for a vendor's channel, and the platform has none here.
  case noVendorChannel = 3
  /// The strategy uses no channel that could carry what the push has.
  case noContent = 4
}

/// Which way each part of a push takes to one device.
public struct Route: Equatable, Sendable {
  /// What is sent at once, each channel at most once.
  public var now: [ChannelPart] = []
  /// What is handed over our connection when the device comes (back) to the foreground or online.
  public var keep: PushParts = []
  /// What is sent over our connection if APNs refuses what `now` gives it; never kept as well.
  public var ifRefused: PushParts = []
  /// Why something is sent nowhere; nil if every part that the strategy wants is under way.
  public var droppedReason: DropReason?

  /// Makes a route.
  public init(
    now: [ChannelPart] = [], keep: PushParts = [], ifRefused: PushParts = [],
    droppedReason: DropReason? = nil
  ) {
    self.now = now
    self.keep = keep
    self.ifRefused = ifRefused
    self.droppedReason = droppedReason
  }
}

/// The table of routes.
///
/// | strategy | platform | app in reach of our connection | away |
/// |---|---|---|---|
/// | jpush, 1, 3, 4 | all but iOS | all parts now | all parts kept |
/// | 2 | all but iOS | dropped: no vendor channel | same |
/// | jpush | iOS | notification: APNs; message now | notification: APNs; message kept |
/// | jpush | iOS without APNs | both parts now | both parts kept |
/// | 1 | iOS | P now | A now, P kept |
/// | 2 | iOS | A now | A now |
/// | 3 | iOS | P now | P kept |
/// | 4 | iOS | A now; P if APNs refuses | A now, P kept |
/// | 1, 3, 4 | iOS without A | P now | P kept |
///
/// An iOS app is in reach if it is connected and in the foreground: a background app that still has its
/// socket counts as away, as Getui's cases do. P is the message, or the notification if the push has no
/// message, so that nothing that was accepted is lost; A is the notification if APNs is available. What would
/// be kept is dropped if the push is only for devices that are online. Under Getui's strategies P and A are
/// two forms of one content: P alone is enough.
public enum Routing {
  /// The route of a push to one device; depends on nothing but the input.
  public static func route(_ input: RouteInput) -> Route {
    guard !input.parts.isEmpty else { return Route(droppedReason: .noContent) }
    guard input.platform == .ios else {
      if input.strategy == .vendorOnly { return Route(droppedReason: .noVendorChannel) }
      return own(
        input.parts, inReach: isInReach(input.platform, isOnline: input.isOnline, input.appState), input)
    }
    let inReach = isInReach(input.platform, isOnline: input.isOnline, input.appState)
    let vendor = input.apnsAvailable ? input.parts.intersection(.notification) : []
    let ownPart: PushParts = input.parts.contains(.message) ? .message : .notification
    switch input.strategy {
    case .jpush:
      return adding(vendor, to: own(input.parts.subtracting(vendor), inReach: inReach, input))
    case .ownThenVendor:
      if inReach { return own(ownPart, inReach: true, input) }
      return vendorAndKeep(vendor, ownPart, input)
    case .vendorOnly:
      if vendor.isEmpty {
        return Route(droppedReason: input.parts.contains(.notification) ? .noAPNs : .noContent)
      }
      return Route(now: [ChannelPart(.apns, vendor)])
    case .ownOnly:
      return own(ownPart, inReach: inReach, input)
    case .vendorThenOwn:
      if vendor.isEmpty { return own(ownPart, inReach: inReach, input) }
      if inReach { return Route(now: [ChannelPart(.apns, vendor)], ifRefused: ownPart) }
      return vendorAndKeep(vendor, ownPart, input)
    }
  }

  /// What our connection carries of a push whose route gave it something, now or later. `viaAPNs` tells whether the route
  /// gave APNs a part as well.
  public static func ownParts(
    _ platform: Platform, of parts: PushParts, strategy: Strategy, viaAPNs: Bool
  ) -> PushParts {
    guard platform == .ios else { return parts }
    let own: PushParts = strategy == .jpush ? parts : parts.contains(.message) ? .message : .notification
    return viaAPNs ? own.subtracting(.notification) : own
  }

  /// Whether an app takes what comes over our connection now. An iOS app in the background that still has its socket
  /// does not.
  public static func isInReach(_ platform: Platform, isOnline: Bool, _ state: AppState) -> Bool {
    isOnline && (platform != .ios || state == .foreground)
  }

  /// Parts over our connection: now, later, or never.
  private static func own(_ parts: PushParts, inReach: Bool, _ input: RouteInput) -> Route {
    if parts.isEmpty { return Route() }
    if inReach { return Route(now: [ChannelPart(.passthrough, parts)]) }
    return input.onlineOnly ? Route(droppedReason: .offline) : Route(keep: parts)
  }

  /// A to APNs now and P kept, unless P is what APNs has got.
  private static func vendorAndKeep(
    _ vendor: PushParts, _ ownPart: PushParts, _ input: RouteInput
  ) -> Route {
    adding(vendor, to: own(ownPart.subtracting(vendor), inReach: false, input))
  }

  private static func adding(_ vendor: PushParts, to route: Route) -> Route {
    guard !vendor.isEmpty else { return route }
    var route = route
    route.now.insert(ChannelPart(.apns, vendor), at: 0)
    return route
  }
}
