/// The source of a token; APNs rejects a push to a token of another kind. The raw values are used on the wire
/// and in the database.
public enum APNsTokenKind: UInt8, CaseIterable, Sendable {
  /// From registering for remote notifications: the ordinary token.
  case device = 1
  /// From PushKit, for VoIP pushes.
  case voip = 2
  /// From ActivityKit, for one running Live Activity.
  case liveActivity = 3
  /// From ActivityKit, to start Live Activities of one type.
  case liveActivityStart = 4

  /// Whether tokens of the kind have names.
  public var isNamed: Bool { self == .liveActivity || self == .liveActivityStart }

  /// Whether requests to it are sent at most once, since a second one would ring or show again: VoIP pushes
  /// and starts of Live Activities.
  public var isTriedOnce: Bool { self == .voip || self == .liveActivityStart }
}

/// One of the tokens that a registration may have.
public struct APNsTokenSlot: Hashable, Sendable {
  /// The source of the token.
  public let kind: APNsTokenKind
  /// The app's own name of a Live Activity, or the name of the type of its attributes; empty for the other
  /// kinds.
  public let name: String

  /// Most bytes of a name, in UTF-8.
  public static let maximumName = 255

  /// Makes a slot; nil if a name is missing, superfluous or too long.
  public init?(_ kind: APNsTokenKind, name: String = "") {
    guard name.isEmpty != kind.isNamed, name.utf8.count <= Self.maximumName else { return nil }
    self.kind = kind
    self.name = name
  }

  /// Names count byte for byte, as in the server's database.
  public static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.name.hasSameBytes(as: right.name)
  }

  /// Hashes what is compared.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    name.hashBytes(into: &hasher)
  }

  private init(only kind: APNsTokenKind) {
    self.kind = kind
    name = ""
  }

  /// The ordinary token.
  public static let device = APNsTokenSlot(only: .device)
  /// The token for VoIP pushes.
  public static let voip = APNsTokenSlot(only: .voip)
}
