/// The parts of a push. The raw values are stored in the database.
public struct PushParts: OptionSet, Hashable, Sendable {
  /// One bit for each part.
  public let rawValue: UInt8

  /// Wraps the bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What the system shows.
  public static let notification = PushParts(rawValue: 1)
  /// Data that only the app sees.
  public static let message = PushParts(rawValue: 2)
  /// A notification that vendors' channels bring in place of everything that the direct connection brings. It is never sent over
  /// the direct connection, and is not stored as a part.
  public static let forVendors = PushParts(rawValue: 4)
  /// Notification and message.
  public static let all: PushParts = [.notification, .message]
}
