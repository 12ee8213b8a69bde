/// The parts of a push. The raw values are stored in the database.
package struct PushParts: OptionSet, Hashable, Sendable {
  /// One bit for each part.
  package let rawValue: UInt8

  /// Wraps the bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What the system shows.
  package static let notification = PushParts(rawValue: 1)
  /// Data that only the app sees.
  package static let message = PushParts(rawValue: 2)
  /// A notification that vendors' channels bring in place of everything that the direct connection brings. It
  /// is never sent over the direct connection, and is not stored as a part.
  package static let forVendors = PushParts(rawValue: 4)
  /// Notification and message.
  package static let all: PushParts = [.notification, .message]
}
