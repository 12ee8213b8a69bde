import BorealisBase

/// The name of a task of Getui's: what kind of call made it, and the ID of its push or stored message.
package struct GetuiTaskID: Hashable, Sendable {
  /// Which call made the task. Raw values begin its name.
  package enum Kind: String, CaseIterable, Sendable {
    /// A push to a CID or an alias.
    case single = "RASS"
    /// A stored message, sent to lists.
    case list = "RASL"
    /// A push to all or to tags.
    case app = "RASA"
  }

  /// Which call made it.
  package let kind: Kind
  /// The push or stored message.
  package let id: MessageID

  /// Names a task.
  package init(_ kind: Kind, _ id: MessageID) { (self.kind, self.id) = (kind, id) }

  /// Reads a name; nil for any other text.
  package init?(_ text: String) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])),
      let id = MessageID(decimal: parts[1].utf8), id.rawValue > 0
    else { return nil }
    self.init(kind, id)
  }

  /// The name, such as `RASS_373609729609728`.
  package var text: String { "\(kind.rawValue)_\(id.text)" }
}
