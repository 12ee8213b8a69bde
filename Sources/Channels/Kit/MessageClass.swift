import Model

/// The class of a notification as OPPO and vivo know it: whether it is a service message, and of which
/// category. Both share the categories of China's Unified Push Alliance.
struct MessageClass: Equatable {
  /// Categories of service messages, which the makers permit to apps one by one.
  static let service = ["IM", "ACCOUNT", "DEVICE_REMINDER", "ORDER", "TODO", "SUBSCRIPTION"]
  /// Categories of marketing.
  static let marketing = ["NEWS", "CONTENT", "MARKETING", "SOCIAL"]
  /// What a sender may name.
  static let known = FieldKind.choice(service + marketing)

  /// Whether the sender says that it is a service message.
  let isService: Bool
  /// The category that the sender names; nil if it names none, or one of the other class.
  let category: String?
  /// Whether the sender says of which class it is.
  let isNamed: Bool

  /// Marketing, unless the sender says otherwise: the push's classification has the last word.
  init(_ shown: AndroidNotification) {
    let named = shown.text("category")
    isService = shown.classification.map { $0 == 1 } ?? named.map(Self.service.contains) ?? false
    let fitting = isService ? Self.service : Self.marketing
    category = named.flatMap { fitting.contains($0) ? $0 : nil }
    isNamed = shown.classification != nil || category != nil
  }
}
