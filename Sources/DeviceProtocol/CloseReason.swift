/// What a client does after its connection was ended. The raw values are used on the wire.
public enum ReconnectRule: UInt8, Sendable, CaseIterable {
  /// Not again with these credentials.
  case never = 0
  /// After a jittered back-off that grows with each failure.
  case afterBackOff = 1
  /// Without back-off, after the announced delay.
  case atOnce = 2
}

/// Why the server ended a session. Decoding keeps values that this version does not know.
public struct CloseReason: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8

  /// Wraps a byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  private init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// The server is about to stop, or redirects the client to another host.
  public static let drain = CloseReason(1)
  /// The same registration has logged in on a newer connection.
  public static let replaced = CloseReason(2)
  /// The client reads too slowly; pushes that it has not received are kept for its next login.
  public static let slowReader = CloseReason(3)
  /// Nothing came from the client for one and a half heartbeat intervals.
  public static let heartbeatMissed = CloseReason(4)
  /// The client sent a malformed frame, or one out of order.
  public static let protocolError = CloseReason(5)
  /// The client sent LOGOUT.
  public static let loggedOut = CloseReason(6)
  /// A newer registration of the same install has replaced this one.
  public static let registrationReplaced = CloseReason(7)
  /// The operator or the owner has disabled the app.
  public static let appDisabled = CloseReason(8)
  /// The server, or the client's address, has as many connections as are allowed.
  public static let tooManyConnections = CloseReason(9)

  /// What the client does next. Reasons that this version does not know count as `afterBackOff`.
  public var reconnect: ReconnectRule {
    switch self {
    case .drain, .heartbeatMissed: .atOnce
    case .replaced, .loggedOut, .registrationReplaced: .never
    default: .afterBackOff
    }
  }
}
