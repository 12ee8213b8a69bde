/// What is wrong with the name of an alias or a tag.
package enum NameCheck: Equatable, Sendable {
  /// The name may be used.
  case ok
  /// The name has no character.
  case empty
  /// The name has more than 40 bytes in UTF-8; by Getui's rules, more than 40 characters, as a tag more than 32.
  case tooLong
  /// The name holds a character that is not allowed.
  case illegalCharacter

  /// The client code for an alias (JPush's 6001, 6003 and 6004).
  package var aliasCode: ClientCode {
    switch self {
    case .ok: .ok
    case .empty: .nothingSet
    case .tooLong: .aliasTooLong
    case .illegalCharacter: .aliasIllegal
    }
  }

  /// The client code for a tag (JPush's 6001, 6005 and 6006).
  package var tagCode: ClientCode {
    switch self {
    case .ok: .ok
    case .empty: .nothingSet
    case .tooLong: .tagTooLong
    case .illegalCharacter: .tagIllegal
    }
  }

  /// What is wrong, as the end of a sentence that starts with the field's name; nil for a good name.
  package var complaint: String? {
    switch self {
    case .ok: nil
    case .empty: "is empty"
    case .tooLong: "is longer than \(NameRules.maximumBytes) bytes in UTF-8"
    case .illegalCharacter: "holds a character that is not allowed"
    }
  }

  /// What is wrong with this name by JPush's rules, with the name and the first character that is not allowed; nil for a good name.
  package func complaint(of name: String, _ allowHyphen: Bool) -> String? {
    switch self {
    case .ok: return nil
    case .empty: return "a name is empty"
    case .tooLong:
      return
        "'\(name.prefix(64))' has \(name.utf8.count) bytes in UTF-8, at most \(NameRules.maximumBytes) are allowed"
    case .illegalCharacter:
      return Self.complaint(of: name, NameRules.firstIllegal(in: name, allowHyphen: allowHyphen))
    }
  }

  /// The same of a name with a character that Getui's rules do not allow.
  package func complaint(ofGetui name: String) -> String? {
    guard self == .illegalCharacter else { return nil }
    if let found = NameRules.firstInvisible(in: name) {
      return "'\(name.prefix(64))' has the character \(Self.text(found)); "
        + "blanks and invisible characters are not allowed"
    }
    return Self.complaint(of: name, NameRules.firstIllegal(in: name, allowHyphen: false))
  }

  private static func complaint(of name: String, _ found: Unicode.Scalar?) -> String {
    "'\(name.prefix(64))' has the character \(found.map { text($0) } ?? ""); allowed are letters, digits, "
      + "Chinese characters and _ @ ! # $ & * + = . | ￥"
  }

  /// A character with its number; the number alone if it cannot be seen.
  private static func text(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let code = "U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    let isVisible = scalar.properties.isGraphemeBase && !scalar.properties.isWhitespace
    return isVisible ? "'\(Character(scalar))' (\(code))" : code
  }

  /// The same for a name whose characters are counted, not its bytes.
  func complaint(maximum: Int) -> String? {
    self == .tooLong ? "is longer than \(maximum) characters" : complaint
  }

  /// What the device API answers of a name: 7002 naming the field; nil for a good name.
  package func deviceError(field: String, _ name: String, _ allowHyphen: Bool) -> APIError? {
    complaint(of: name, allowHyphen).map { .deviceInvalid("\(field) is invalid: \($0)") }
  }
}

/// The rules for names of aliases and tags and for mobile numbers (JPush's device API).
///
/// A hyphen is refused as JPush does, unless `allowHyphen` is set: being refused a UUID is what JPush's users
/// complain of, but an app that moves back to JPush must be able to find out early.
package enum NameRules {
  /// The longest name of an alias or a tag, in bytes of UTF-8.
  package static let maximumBytes = 40

  /// Checks the name of an alias or a tag: 1 to 40 bytes of UTF-8; ASCII letters and digits, `_`, Chinese
  /// characters and `@ ! # $ & * + = . | ￥`; also `-` if `allowHyphen` is set.
  package static func check(_ name: String, allowHyphen: Bool = false) -> NameCheck {
    let size = name.utf8.count
    if size == 0 { return .empty }
    if size > maximumBytes { return .tooLong }
    let legal = name.unicodeScalars.allSatisfy { isLegal($0, allowHyphen: allowHyphen) }
    return legal ? .ok : .illegalCharacter
  }

  /// The longest alias that Getui's API takes, in Unicode scalars.
  package static let maximumGetuiAlias = 40
  /// The longest tag that Getui's API takes, in Unicode scalars.
  package static let maximumGetuiTag = 32

  /// Checks an alias by Getui's rules: 1 to 40 characters, where JPush counts bytes. Getui documents letters, digits, `_` and
  /// Chinese characters; those that only JPush allows are taken too, since both APIs may name the same alias.
  package static func checkGetuiAlias(_ name: String) -> NameCheck {
    check(name, maximum: maximumGetuiAlias) { isLegal($0, allowHyphen: false) }
  }

  /// Checks a tag by Getui's rules: 1 to 32 characters, of which the only rule is that none is a blank. Characters that
  /// cannot be seen are refused as well.
  package static func checkGetuiTag(_ name: String) -> NameCheck {
    check(name, maximum: maximumGetuiTag, isVisible)
  }

  private static func check(
    _ name: String, maximum: Int, _ isLegal: (Unicode.Scalar) -> Bool
  ) -> NameCheck {
    if name.isEmpty { return .empty }
    if name.unicodeScalars.count > maximum { return .tooLong }
    return name.unicodeScalars.allSatisfy(isLegal) ? .ok : .illegalCharacter
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
      .spaceSeparator:
      // The joiner of emoji.
      scalar == "\u{200D}"
    default: true
    }
  }

  /// Checks a mobile number: a `+` or a digit, then digits and `-`, at most 20 characters. An empty text is
  /// no number.
  package static func isMobile(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, bytes.count <= 20 else { return false }
    guard first == UInt8(ascii: "+") || isDigit(first) else { return false }
    return bytes.dropFirst().allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
  }

  /// The client code for a mobile number: ok, 6025 (too long) or 6023 (illegal).
  package static func mobileCode(_ text: String) -> ClientCode {
    if text.utf8.count > 20 { return .mobileTooLong }
    return isMobile(text) ? .ok : .mobileIllegal
  }

  /// The first character that names must not have.
  static func firstIllegal(in name: String, allowHyphen: Bool) -> Unicode.Scalar? {
    name.unicodeScalars.first { !isLegal($0, allowHyphen: allowHyphen) }
  }

  /// The first blank or invisible character.
  static func firstInvisible(in name: String) -> Unicode.Scalar? {
    name.unicodeScalars.first { !isVisible($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  private static func isLegal(_ scalar: Unicode.Scalar, allowHyphen: Bool) -> Bool {
    switch scalar {
    case "@", "!", "#", "$", "&", "*", "+", "=", ".", "|", "\u{FFE5}": true
    case "-": allowHyphen
    default: isWordCharacter(scalar)
    }
  }

  /// Whether a character is an ASCII letter or digit, `_` or a Chinese character.
  static func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    // The ideographic zero, extension A, the basic block, extensions B and later. Compatibility ideographs
    // are left out: they are canonically equivalent to others, and two names must not differ in bytes only.
    case "\u{3007}", "\u{3400}"..."\u{4DBF}", "\u{4E00}"..."\u{9FFF}", "\u{20000}"..."\u{2F7FF}",
      "\u{30000}"..."\u{323AF}":
      true
    default: false
    }
  }
}
