/// What is wrong with the name of an alias or a tag.
package enum NameCheck: Equatable, Sendable {
  /// The name may be used.
  case ok
  /// The name has no character.
  case empty
  /// The name has more than 40 bytes in UTF-8, and more characters than Getui allows: 40 as an alias, 32 as a
  /// tag.
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
    case .tooLong: "is too long"
    case .illegalCharacter: "holds a character that is not allowed"
    }
  }

  /// What is wrong with this name, with the name and the first character that is not allowed; nil for a good
  /// name.
  package func complaint(of name: String, as kind: NameRules.Kind, allowHyphen: Bool) -> String? {
    switch (self, kind) {
    case (.ok, _): return nil
    case (.empty, _): return "a name is empty"
    case (.tooLong, _):
      let bytes = kind == .tag ? ", or \(NameRules.maximumBytes) bytes in UTF-8," : ""
      return "'\(name.prefix(64))' has \(name.unicodeScalars.count) characters; at most "
        + "\(NameRules.maximum(of: kind))\(bytes) are allowed"
    case (.illegalCharacter, .alias):
      return Self.complaint(of: name, NameRules.firstIllegal(in: name, allowHyphen: allowHyphen))
    case (.illegalCharacter, .tag): return complaint(ofGetui: name)
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
  package func deviceError(
    field: String, _ name: String, as kind: NameRules.Kind, allowHyphen: Bool
  ) -> APIError? {
    complaint(of: name, as: kind, allowHyphen: allowHyphen).map {
      .deviceInvalid("\(field) is invalid: \($0)")
    }
  }
}

/// The rules for names of aliases and tags and for mobile numbers.
///
/// A hyphen in an alias is refused as JPush does, unless `allowHyphen` is set: being refused a UUID is what
/// JPush's users complain of, but an app that moves back to JPush must be able to find out early.
package enum NameRules {
  /// What a name is of.
  package enum Kind: Sendable {
    /// Of a user, or of a group of devices.
    case alias, tag

    /// What a field or a condition of this name holds.
    package init(field: String) { self = field == "alias" ? .alias : .tag }
  }

  /// The longest name by JPush's rules, in bytes of UTF-8.
  static let maximumBytes = 40

  /// Checks a name that JPush's rules or Getui's allow: a device that came from either vendor sends the names
  /// that it has, and each API may name them.
  ///
  /// An alias has 1 to 40 characters: ASCII letters and digits, `_`, Chinese characters and `@ ! # $ & * + =
  /// . | ￥`; also `-` if `allowHyphen` is set. A tag has 1 to 32 characters, or 40 bytes of UTF-8, without
  /// blanks and invisible ones.
  package static func check(_ name: String, as kind: Kind, allowHyphen: Bool = false) -> NameCheck {
    if name.isEmpty { return .empty }
    guard name.utf8.count <= maximumBytes || name.unicodeScalars.count <= maximum(of: kind) else {
      return .tooLong
    }
    let isGood = name.unicodeScalars.allSatisfy {
      kind == .tag ? isVisible($0) : isLegal($0, allowHyphen: allowHyphen)
    }
    return isGood ? .ok : .illegalCharacter
  }

  /// The most characters of a name by Getui's rules.
  static func maximum(of kind: Kind) -> Int { kind == .alias ? maximumGetuiAlias : maximumGetuiTag }

  /// The longest alias that Getui's API takes, in Unicode scalars.
  package static let maximumGetuiAlias = 40
  /// The longest tag that Getui's API takes, in Unicode scalars.
  package static let maximumGetuiTag = 32

  /// Checks an alias by Getui's rules: 1 to 40 characters, where JPush counts bytes. Getui documents letters,
  /// digits, `_` and Chinese characters; those that only JPush allows are accepted too, since both APIs may
  /// name the same alias.
  package static func checkGetuiAlias(_ name: String) -> NameCheck {
    check(name, maximum: maximumGetuiAlias) { isLegal($0, allowHyphen: false) }
  }

  /// Checks a tag by Getui's rules: 1 to 32 characters, of which the only rule is that none is a blank.
  /// Characters that cannot be seen are refused as well.
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

  /// Whether a character can be seen. Chinese characters that are newer than the tables of Unicode here count
  /// as well.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if isLegal(scalar, allowHyphen: false) { return true }
    return switch scalar.properties.generalCategory {
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
  package static func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
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
