/// The format of callbacks to an app's own URL. The raw values are stored in the database.
package enum CallbackFormat: UInt8, CaseIterable, Sendable {
  /// A JSON array of events.
  case borealis = 0
  /// Getui's receipts: a JSON object a line, each with a signature.
  case getui = 1

  /// What the API, commands and forms call it.
  package var name: String {
    switch self {
    case .borealis: "borealis"
    case .getui: "getui"
    }
  }

  /// The format of a name, nil for other names.
  package init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// The events that it supports.
  package var types: CallbackTypes {
    switch self {
    case .borealis: .all
    case .getui: [.delivered, .clicked, .notDelivered]
    }
  }
}
