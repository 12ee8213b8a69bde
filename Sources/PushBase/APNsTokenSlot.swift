/// Where an app got a token from; Apple refuses a push with a token of another kind. Raw values stand on the wire and in
/// the database.
public enum APNsTokenKind: UInt8, CaseIterable, Sendable {
  /// From registering for remote notifications: the ordinary one.
  case device = 1
  /// From PushKit, for calls.
  case voip = 2
  /// From ActivityKit, for one Live Activity that is there.
  case liveActivity = 3
  /// From ActivityKit, to start Live Activities of one type.
  case liveActivityStart = 4

  /// Whether tokens of the kind have names.
  public var isNamed: Bool { self == .liveActivity || self == .liveActivityStart }

  /// Whether what goes to it is sent at most once, since a second one rings or shows again: calls, and starts of Live
  /// Activities.
  public var isTriedOnce: Bool { self == .voip || self == .liveActivityStart }
}

/// One of the tokens that a registration may have.
public struct APNsTokenSlot: Hashable, Sendable {
  /// Where the token is from.
  public let kind: APNsTokenKind
  /// The app's own name of a Live Activity, or the name of the type of its attributes; empty for the other kinds.
  public let name: String

  /// Most bytes of a name, in UTF-8.
  public static let maximumName = 255

  /// Names a token; nil if there is a name without need, or none where one is needed, or one that is too long.
  public init?(_ kind: APNsTokenKind, name: String = "") {
    guard name.isEmpty != kind.isNamed, name.utf8.count <= Self.maximumName else { return nil }
    self.kind = kind
    self.name = name
  }

  private init(only kind: APNsTokenKind) {
    self.kind = kind
    name = ""
  }

  /// The ordinary token.
  public static let device = APNsTokenSlot(only: .device)
  /// The token for calls.
  public static let voip = APNsTokenSlot(only: .voip)
}
