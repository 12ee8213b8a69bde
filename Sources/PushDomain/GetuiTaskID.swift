import PushBase

/// The name of a task of Getui's: what kind of call made it, and the ID of its push or stored message.
public struct GetuiTaskID: Hashable, Sendable {
  /// Which call made the task. Raw values begin its name.
  public enum Kind: String, CaseIterable, Sendable {
    /// A push to a CID or an alias.
    case single = "RASS"
    /// A stored message, sent to lists.
    case list = "RASL"
    /// A push to all or to tags.
    case app = "RASA"
  }

  /// Which call made it.
  public let kind: Kind
  /// The push or stored message.
  public let id: MessageID

  /// Names a task.
  public init(_ kind: Kind, _ id: MessageID) { (self.kind, self.id) = (kind, id) }

  /// Reads a name; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])),
      let id = MessageID(decimal: parts[1].utf8), id.rawValue > 0
    else { return nil }
    self.init(kind, id)
  }

  /// The name, such as `RASS_373609729609728`.
  public var text: String { "\(kind.rawValue)_\(id.text)" }
}
