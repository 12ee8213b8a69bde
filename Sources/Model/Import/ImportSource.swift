import BorealisBase

/// The platform that a file comes from: the names of its columns, and the names that it allows.
package enum ImportSource: String, CaseIterable, Sendable {
  /// JPush.
  case jpush
  /// Getui.
  case getui

  /// A column.
  enum Column: Int, CaseIterable {
    case registrationID, platform, alias, tags, token, environment, mobile
  }

  /// The names that the first line may have; the first two are required.
  package var columns: [String] {
    switch self {
    case .jpush: ["registration_id", "platform", "alias", "tags", "apns_token", "apns_environment", "mobile"]
    case .getui: ["cid", "phone_type", "alias", "custom_tag", "device_token", "apns_environment"]
    }
  }

  /// The values of the column for the platform, for error messages.
  var platforms: String {
    switch self {
    case .jpush: Platform.allCases.map(\.name).joined(separator: ", ")
    case .getui: "android or 1, ios or 2, harmony or 3"
    }
  }

  /// What separates the tags in their column. No name holds it.
  var tagSeparator: Character {
    switch self {
    case .jpush: ";"
    case .getui: " "
    }
  }

  /// The platform of a field, in upper or lower case.
  func platform(_ text: String) -> Platform? {
    switch (self, text.lowercased()) {
    case (.getui, "1"): .android
    case (.getui, "2"): .ios
    case (.getui, "3"), (.getui, "harmony"): .hmos
    case (_, let name): Platform(name: name)
    }
  }

  /// The problem of an alias, nil for a valid one.
  func complaint(alias: String, _ rules: PushRules) -> String? {
    switch self {
    case .jpush:
      NameRules.check(alias, as: .alias, allowHyphen: rules.allowHyphen).complaint(
        maximum: NameRules.maximumGetuiAlias)
    case .getui: NameRules.checkGetuiAlias(alias).complaint(maximum: NameRules.maximumGetuiAlias)
    }
  }

  /// The problem of a tag, nil for a valid one.
  func complaint(tag: String, _ rules: PushRules) -> String? {
    switch self {
    case .jpush: NameRules.check(tag, as: .tag).complaint(maximum: NameRules.maximumGetuiTag)
    case .getui: NameRules.checkGetuiTag(tag).complaint(maximum: NameRules.maximumGetuiTag)
    }
  }

  /// The most tags of a registration.
  var maximumTags: Int {
    switch self {
    case .jpush: RegistrationLimits.tags
    case .getui: RegistrationLimits.getuiTags
    }
  }
}
