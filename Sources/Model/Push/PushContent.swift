import BorealisBase

/// What the devices of some platforms get.
package struct ContentVariant: Equatable, Sendable {
  /// The platforms whose devices get this.
  package var platforms: PlatformSet
  /// The notification, a JSON object in UTF-8; empty if there is none.
  package var notification: [UInt8]
  /// The message, a JSON object in UTF-8; empty if there is none.
  package var message: [UInt8]

  /// Makes a variant; both parts are JSON objects in UTF-8, or empty.
  package init(platforms: PlatformSet, notification: [UInt8] = [], message: [UInt8] = []) {
    self.platforms = platforms
    self.notification = notification
    self.message = message
  }

  /// Which parts there are.
  package var parts: PushParts {
    var parts: PushParts = []
    if !notification.isEmpty { parts.insert(.notification) }
    if !message.isEmpty { parts.insert(.message) }
    return parts
  }
}

/// What a push says, ready for each platform: rendered once when the push is accepted, then only copied.
package struct PushContent: Equatable, Sendable {
  /// The content of each group of platforms; no platform is in two of them, and no two have the same content.
  package let variants: [ContentVariant]
  /// What channels to vendors' services send of it, at most one for each, by the channels' numbers.
  package private(set) var forChannels: [ChannelContent]
  /// The push whose notification this one replaces on the device.
  package var overrides: MessageID?

  /// The member of a notification for vendors' channels with the number that it has on devices.
  package static let notifyIDMember = "notify_id"

  /// Collects variants: equal ones are merged; empty ones are dropped; of two for one platform, or of two
  /// contents for one channel, the first counts.
  package init(
    variants: [ContentVariant], forChannels: [ChannelContent] = [], overrides: MessageID? = nil
  ) {
    self.overrides = overrides
    var channels: [ChannelContent] = []
    for content in forChannels where !channels.contains(where: { $0.channel == content.channel }) {
      channels.append(content)
    }
    self.forChannels = channels.sorted { $0.channel < $1.channel }
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

  /// All parts that there are of it, for any platform or channel.
  package var parts: PushParts {
    variants.reduce(into: isForChannels ? PushParts.notification : []) { $0.formUnion($1.parts) }
  }

  /// Whether the app is to show the notification in its own pages as well.
  package var isInApp: Bool { content(for: .inApp) != nil }

  /// All that the direct connection brings of it, without what channels to vendors' services send.
  package var ofConnection: PushContent {
    PushContent(
      variants: variants, forChannels: forChannels.filter { $0.channel == .inApp }, overrides: overrides)
  }

  /// Whether a channel to a vendor's service has something of it.
  package var isForChannels: Bool { !forChannels.isEmpty }

  /// The platforms that get anything.
  package var platforms: PlatformSet {
    forChannels.reduce(into: passthroughPlatforms) { $0.formUnion($1.platforms) }
  }

  /// The platforms that get anything over the direct connection.
  package var passthroughPlatforms: PlatformSet {
    variants.reduce(into: PlatformSet()) { $0.formUnion($1.platforms) }
  }

  /// What the devices of a platform get; nil if nothing.
  package func variant(for platform: Platform) -> ContentVariant? {
    variants.first { $0.platforms.contains(platform) }
  }

  /// Which parts there are for a platform.
  package func parts(for platform: Platform) -> PushParts {
    let own = variant(for: platform)?.parts ?? []
    return hasVendorNotification(on: platform) ? own.union(.forVendors) : own
  }

  /// Whether vendors' channels bring devices of a platform another notification than the direct connection.
  package func hasVendorNotification(on platform: Platform) -> Bool {
    forChannels.contains { $0.channel == .allVendors && $0.platforms.contains(platform) }
  }

  /// Whether vendors' channels have a notification for devices of a platform.
  package func isForVendors(on platform: Platform) -> Bool {
    !parts(for: platform).isDisjoint(with: [.notification, .forVendors])
  }

  /// The name of that notification in the push object.
  package func nameForVendors(on platform: Platform) -> String {
    (hasVendorNotification(on: platform) ? "notification_3rd." : "notification.") + platform.name
  }

  /// The notification that vendors' channels other than APNs bring devices of a platform; nil if there is
  /// none.
  package func vendorNotification(on platform: Platform) -> JSONObject? {
    guard hasVendorNotification(on: platform), let bytes = content(for: .allVendors) else {
      return variant(for: platform).flatMap { try? parseJSON($0.notification) }?.object
    }
    return (try? parseJSON(bytes))?[platform.name]?.object
  }

  /// Whether devices of some platform get a notification over the direct connection.
  var hasNotification: Bool { variants.contains { $0.parts.contains(.notification) } }

  /// What a channel sends of it, in the channel's coding; nil if nothing.
  package func content(for channel: ChannelID) -> [UInt8]? {
    forChannels.first { $0.channel == channel }?.bytes
  }

  /// Has the channels' notifications replace those of the overridden push on devices.
  package mutating func replaceNotification(of old: PushContent, _ renderers: [any ContentRenderer]) {
    for index in forChannels.indices {
      let channel = forChannels[index].channel
      guard let renderer = renderers.first(where: { $0.channel == channel }),
        let before = old.content(for: channel)
      else { continue }
      forChannels[index].bytes = renderer.replacing(before, with: forChannels[index].bytes)
    }
  }

  /// The JSON that a device gets over the direct connection:
  /// `{"notification":{…},"inapp_message":true,"message":{…},"override":"123"}`, each member only if it was
  /// requested and exists, the second one only beside the first. A notification that the device must not show
  /// from a moment on has `"show_before":1800000000000` in front of it, in milliseconds.
  package func deviceJSON(
    platform: Platform, parts: PushParts = .all, showBefore: Timestamp? = nil
  ) -> [UInt8] {
    let variant = variant(for: platform)
    var json: [UInt8] = []
    json.reserveCapacity((variant?.notification.count ?? 0) + (variant?.message.count ?? 0) + 96)
    func member(_ name: StaticString, _ value: some Sequence<UInt8>) {
      json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
      json.append(contentsOf: "\"\(name)\":".utf8)
      json.append(contentsOf: value)
    }
    if let variant {
      let present = variant.parts.intersection(parts)
      if let showBefore, present.contains(.notification) {
        member("show_before", "\(showBefore.milliseconds)".utf8)
      }
      if present.contains(.notification) {
        member("notification", variant.notification)
        if isInApp { member("inapp_message", "true".utf8) }
      }
      if present.contains(.message) { member("message", variant.message) }
    }
    if let overrides { member("override", "\"\(overrides.text)\"".utf8) }
    if json.isEmpty { json.append(UInt8(ascii: "{")) }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// The first byte of an encoding: without contents for channels, which is the oldest form; with one for
  /// APNs alone, which was written until there were other channels; with any.
  private static let versionWithoutChannels: UInt8 = 1
  private static let versionWithOneChannel: UInt8 = 2
  private static let version: UInt8 = 3

  /// Compact bytes for the database: the version, the overridden push in eight bytes (0 for none), number of
  /// variants, then for each variant its platforms (one byte) and both parts, each after its size in four
  /// bytes, most significant byte first. In version 3 the number of contents for channels follows, one byte,
  /// and for each the channel (one byte), its platforms (one byte) and its bytes after their size in four
  /// bytes; in version 2 the content for APNs.
  package func encode() -> [UInt8] {
    let size = variants.reduce(11) { $0 + 9 + $1.notification.count + $1.message.count }
    var writer = ByteWriter(capacity: forChannels.reduce(size) { $0 + 6 + $1.bytes.count })
    writer.write(forChannels.isEmpty ? Self.versionWithoutChannels : Self.version)
    writer.write(overrides?.rawValue ?? 0)
    writer.write(UInt8(truncatingIfNeeded: variants.count))
    for variant in variants {
      writer.write(variant.platforms.rawValue)
      for part in [variant.notification, variant.message] {
        writer.write(UInt32(truncatingIfNeeded: part.count))
        writer.write(bytes: part)
      }
    }
    guard !forChannels.isEmpty else { return writer.bytes }
    writer.write(UInt8(truncatingIfNeeded: forChannels.count))
    for content in forChannels {
      writer.write(content.channel.rawValue)
      writer.write(content.platforms.rawValue)
      writer.write(UInt32(truncatingIfNeeded: content.bytes.count))
      writer.write(bytes: content.bytes)
    }
    return writer.bytes
  }

  /// Reads what `encode` wrote, in this version or an earlier one; nil for anything else. What channels wrote
  /// they check themselves.
  package init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let version = reader.read(UInt8.self), (1...Self.version).contains(version),
      let overridden = reader.read(UInt64.self), let count = reader.read(UInt8.self)
    else { return nil }
    var variants: [ContentVariant] = []
    for _ in 0..<count {
      guard let variant = ContentVariant(&reader) else { return nil }
      variants.append(variant)
    }
    var forChannels: [ChannelContent] = []
    switch version {
    case Self.versionWithOneChannel:
      guard reader.remaining > 0, let rest = reader.read(count: reader.remaining) else { return nil }
      forChannels.append(ChannelContent(.apns, for: PlatformSet(.ios), rest))
    case Self.version:
      guard let count = reader.read(UInt8.self), count > 0 else { return nil }
      for _ in 0..<count {
        guard let content = ChannelContent(&reader) else { return nil }
        forChannels.append(content)
      }
    default: break
    }
    self.init(
      variants: variants, forChannels: forChannels, overrides: overridden == 0 ? nil : MessageID(overridden))
    // Only what `encode` can have written: nothing left over, nothing that the rules above would change.
    guard reader.remaining == 0, self.variants == variants, self.forChannels == forChannels else {
      return nil
    }
  }
}

extension ChannelContent {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let channel = reader.read(UInt8.self), let platforms = reader.read(UInt8.self),
      let size = reader.read(UInt32.self), let bytes = reader.read(count: Int(size))
    else { return nil }
    self.init(ChannelID(rawValue: channel), for: PlatformSet(rawValue: platforms), bytes)
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
