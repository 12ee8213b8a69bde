/// How callbacks to an app's own address look. Raw values stand in the database.
public enum CallbackFormat: UInt8, CaseIterable, Sendable {
  /// A JSON array of events.
  case borealis = 0
  /// Getui's receipts: a JSON object a line, each with a signature.
  case getui = 1

  /// What the API, commands and forms call it.
  public var name: String {
    switch self {
    case .borealis: "borealis"
    case .getui: "getui"
    }
  }

  /// The format of a name, nil for other names.
  public init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// What can be told in it.
  public var types: CallbackTypes {
    switch self {
    case .borealis: .all
    case .getui: [.delivered, .clicked, .notDelivered]
    }
  }
}
