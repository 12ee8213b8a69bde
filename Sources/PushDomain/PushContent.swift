import PushBase

/// What the devices of some platforms get.
public struct ContentVariant: Equatable, Sendable {
  /// The platforms whose devices get this.
  public var platforms: PlatformSet
  /// The notification, a JSON object in UTF-8; empty if there is none.
  public var notification: [UInt8]
  /// The message, a JSON object in UTF-8; empty if there is none.
  public var message: [UInt8]

  /// Makes a variant; both parts are JSON objects in UTF-8, or empty.
  public init(platforms: PlatformSet, notification: [UInt8] = [], message: [UInt8] = []) {
    self.platforms = platforms
    self.notification = notification
    self.message = message
  }

  /// Which parts there are.
  public var parts: PushParts {
    var parts: PushParts = []
    if !notification.isEmpty { parts.insert(.notification) }
    if !message.isEmpty { parts.insert(.message) }
    return parts
  }
}

/// What a push says, ready for each platform: rendered once when the push is accepted, then only copied.
public struct PushContent: Equatable, Sendable {
  /// The content of each group of platforms; no platform is in two of them, and no two have the same content.
  public let variants: [ContentVariant]
  /// What goes to Apple: at most one notification for each kind of token, ordered by kind.
  public private(set) var apple: [APNsNotification]
  /// The push whose notification this one replaces on the device.
  public var overrides: MessageID?

  /// Collects variants: equal ones are merged; empty ones are dropped; of two for one platform, or of two notifications
  /// for one kind of APNs token, the first counts.
  public init(
    variants: [ContentVariant], apple: [APNsNotification] = [], overrides: MessageID? = nil
  ) {
    self.overrides = overrides
    self.apple = APNsTokenKind.allCases.compactMap { kind in apple.first { $0.slot.kind == kind } }
    var taken: PlatformSet = []
    var merged: [ContentVariant] = []
    for var variant in variants {
      variant.platforms = variant.platforms.intersection(.all).subtracting(taken)
      guard !variant.platforms.isEmpty, !variant.parts.isEmpty else { continue }
      taken.formUnion(variant.platforms)
      let same = merged.firstIndex {
        $0.notification == variant.notification && $0.message == variant.message
      }
      if let same {
        merged[same].platforms.formUnion(variant.platforms)
      } else {
        merged.append(variant)
      }
    }
    self.variants = merged
  }

  /// Whether it has a part that is rendered for channels to vendors' services.
  public var isForChannels: Bool { !apple.isEmpty }

  /// The platforms that get anything.
  public var platforms: PlatformSet {
    variants.reduce(into: apple.isEmpty ? [] : PlatformSet(.ios)) { $0.formUnion($1.platforms) }
  }

  /// What the devices of a platform get; nil if nothing.
  public func variant(for platform: Platform) -> ContentVariant? {
    variants.first { $0.platforms.contains(platform) }
  }

  /// Which parts there are for a platform.
  public func parts(for platform: Platform) -> PushParts { variant(for: platform)?.parts ?? [] }

  /// What goes to the device's ordinary token at Apple; nil if there is nothing for it, or if the push was stored by a
  /// version without APNs.
  public var apns: APNsNotification? { apns(for: .device) }

  /// What goes to one kind of token at Apple; nil if nothing.
  public func apns(for kind: APNsTokenKind) -> APNsNotification? {
    apple.first { $0.slot.kind == kind }
  }

  /// Takes over the collapse IDs of the push that this one overrides. Needed because that one may have had an ID of the
  /// sender's, or have replaced a third; without it the ID of the overridden push is used.
  public mutating func inheritCollapseIDs(from old: PushContent) {
    for index in apple.indices {
      guard case .id = apple[index].collapse, let replaced = old.apns(for: apple[index].slot.kind),
        replaced.collapse != .ownID
      else { continue }
      apple[index].collapse = replaced.collapse
    }
  }

  /// The JSON that a device gets over the direct connection: `{"notification":{…},"message":{…},"override":"123"}`,
  /// each member only if it was requested and exists.
  public func deviceJSON(platform: Platform, parts: PushParts = .all) -> [UInt8] {
    let variant = variant(for: platform)
    var json: [UInt8] = []
    json.reserveCapacity((variant?.notification.count ?? 0) + (variant?.message.count ?? 0) + 64)
    func member(_ name: StaticString, _ value: some Sequence<UInt8>) {
      json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
      json.append(contentsOf: "\"\(name)\":".utf8)
      json.append(contentsOf: value)
    }
    if let variant {
      let present = variant.parts.intersection(parts)
      if present.contains(.notification) { member("notification", variant.notification) }
      if present.contains(.message) { member("message", variant.message) }
    }
    if let overrides { member("override", "\"\(overrides.text)\"".utf8) }
    if json.isEmpty { json.append(UInt8(ascii: "{")) }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// The first byte of an encoding: what was written before there were notifications for Apple, and is still written
  /// without them; and the form with them.
  private static let versionWithoutApple: UInt8 = 1
  private static let versionWithApple: UInt8 = 2

  /// Compact bytes for the database: the version, the overridden push in eight bytes (0 for none), number of
  /// variants, then for each variant its platforms (one byte) and both parts, each after its size in four bytes, most
  /// significant byte first. In version 2 the number of notifications for Apple follows, one byte, and each of them.
  public func encode() -> [UInt8] {
    let size = variants.reduce(11) { $0 + 9 + $1.notification.count + $1.message.count }
    var writer = ByteWriter(capacity: apple.reduce(size) { $0 + 128 + $1.payload.text.count })
    writer.write(apple.isEmpty ? Self.versionWithoutApple : Self.versionWithApple)
    writer.write(overrides?.rawValue ?? 0)
    writer.write(UInt8(truncatingIfNeeded: variants.count))
    for variant in variants {
      writer.write(variant.platforms.rawValue)
      for part in [variant.notification, variant.message] {
        writer.write(UInt32(truncatingIfNeeded: part.count))
        writer.write(bytes: part)
      }
    }
    if !apple.isEmpty {
      writer.write(UInt8(truncatingIfNeeded: apple.count))
      for notification in apple { notification.encode(into: &writer) }
    }
    return writer.bytes
  }

  /// Reads what `encode` wrote; nil for anything else.
  public init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let version = reader.read(UInt8.self),
      version == Self.versionWithoutApple || version == Self.versionWithApple,
      let overridden = reader.read(UInt64.self), let count = reader.read(UInt8.self)
    else { return nil }
    var variants: [ContentVariant] = []
    for _ in 0..<count {
      guard let variant = ContentVariant(&reader) else { return nil }
      variants.append(variant)
    }
    var apple: [APNsNotification] = []
    if version == Self.versionWithApple {
      guard let count = reader.read(UInt8.self), count > 0 else { return nil }
      for _ in 0..<count {
        guard let notification = APNsNotification(&reader) else { return nil }
        apple.append(notification)
      }
    }
    self.init(variants: variants, apple: apple, overrides: overridden == 0 ? nil : MessageID(overridden))
    // Only what `encode` can have written: nothing left over, nothing that the rules above would change.
    guard reader.remaining == 0, self.variants == variants, self.apple == apple else { return nil }
  }
}

extension ContentVariant {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let platforms = reader.read(UInt8.self),
      let notificationSize = reader.read(UInt32.self),
      let notification = reader.read(count: Int(notificationSize)),
      let messageSize = reader.read(UInt32.self), let message = reader.read(count: Int(messageSize))
    else { return nil }
    self.init(platforms: PlatformSet(rawValue: platforms), notification: notification, message: message)
  }
}
