/// The number of a channel. The raw values are stored in the database, and used in the IDs of callback
/// events.
package struct ChannelID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number.
  package let rawValue: UInt8

  /// Wraps a number.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The direct connection.
  package static let passthrough = ChannelID(rawValue: 1)
  /// Not a channel: a push keeps under this number the notifications for all vendors' channels but APNs.
  static let allVendors = ChannelID(rawValue: 255)
  /// Not a channel: a push has something under this number if it is an in-app message.
  static let inApp = ChannelID(rawValue: 254)
  /// Apple's push service (APNs).
  package static let apns = ChannelID(rawValue: 2)

  /// By number.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A part of a push on one channel, with targets and answers of its own. Most channels have one leg; APNs has
/// a second one for calls, which have tokens of their own.
package struct DeliveryLeg: Hashable, Comparable, Sendable {
  package let channel: ChannelID
  /// Which of the channel's legs it is. The main one brings the notification in place of the direct
  /// connection; what others bring comes in addition.
  package let number: UInt8

  /// The number of the main leg of each channel.
  package static let main: UInt8 = 1

  /// Makes the key of a leg, by default the main one.
  package init(_ channel: ChannelID, _ number: UInt8 = main) {
    self.channel = channel
    self.number = number
  }

  /// Whether it brings the notification in place of the direct connection.
  package var isMain: Bool { number == Self.main }

  /// By channel, then by number.
  package static func < (left: Self, right: Self) -> Bool {
    (left.channel, left.number) < (right.channel, right.number)
  }
}
