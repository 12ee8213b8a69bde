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
  /// Both parts.
  public static let all: PushParts = [.notification, .message]
}
