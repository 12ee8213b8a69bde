/// A token of any channel as a device tells it, not checked yet: the channel says what may stand in it.
public struct ReportedToken: Hashable, Sendable {
  /// Most bytes of a token.
  public static let maximumBytes = 4096

  /// The name of the channel.
  public var channel: String
  /// The name of the kind of token; empty for the channel's ordinary one.
  public var kind: String
  /// What tells several of a kind apart; empty for kinds of which a device has one.
  public var name: String
  /// The name of the channel's service that it belongs to; empty for the first, or the only one.
  public var service: String
  /// The token as JSON has it; empty takes the stored one away.
  public var token: String

  /// All fields.
  public init(channel: String, kind: String = "", name: String = "", service: String = "", token: String) {
    self.channel = channel
    self.kind = kind
    self.name = name
    self.service = service
    self.token = token
  }

  /// Whether another one takes its place.
  public func hasSamePlace(as other: ReportedToken) -> Bool {
    channel == other.channel && kind == other.kind && name == other.name
  }
}
