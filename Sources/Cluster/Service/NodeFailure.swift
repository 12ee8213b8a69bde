/// Why a process cannot be a node, or a node not a home.
package struct NodeFailure: Error, Sendable {
  package let message: String
  /// Whether a setting of the node is wrong.
  package let isOfSetting: Bool

  package init(_ message: String, isOfSetting: Bool = false) {
    (self.message, self.isOfSetting) = (message, isOfSetting)
  }

  static func failed(_ message: String) -> NodeFailure { NodeFailure(message) }
  static func setting(_ message: String) -> NodeFailure { NodeFailure(message, isOfSetting: true) }
}
