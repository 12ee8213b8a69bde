/// What a password must be: long. NIST SP 800-63B section 5.1.1.2 asks for length and against rules about kinds of characters.
enum PasswordRule {
  static let characters = 10...200

  /// What is wrong with a password; nil if it will do.
  static func problem(_ password: String, email: String) -> Phrase? {
    guard password.count >= characters.lowerBound else {
      return Words.passwordShort.with(String(password.count))
    }
    guard password.count <= characters.upperBound, password.utf8.count <= 800 else {
      return Words.passwordLong
    }
    let plain = password.lowercased()
    let name = email.lowercased().prefix { $0 != "@" }
    let isGuessable =
      Set(plain).count < 5 || common.contains { plain.hasPrefix($0) }
      || (name.count > 3 && plain.hasPrefix(name))
    return isGuessable ? Words.passwordGuessable : nil
  }

  private static let common = ["password", "1234567890", "0123456789", "qwertyuiop", "borealis", "iloveyou"]
}

/// Addresses for mail, as far as they can be checked without sending one.
enum EmailAddress {
  static func isPlausible(_ text: String) -> Bool {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    return sides.count == 2 && !sides[0].isEmpty && sides[1].contains(".") && !sides[1].hasPrefix(".")
      && !sides[1].hasSuffix(".") && text.utf8.count <= 254
      && text.utf8.allSatisfy { $0 > 32 && $0 != 127 && !Array("<>\"\\,;:()".utf8).contains($0) }
  }
}

/// What people may be called: something that stays in its line, and that no log or mail mistakes for more than a name.
enum PersonName {
  static func isFine(_ name: String) -> Bool {
    (1...80).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(isFine)
  }

  private static func isFine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: scalar != "<" && scalar != ">" && !scalar.properties.isBidiControl
    }
  }
}
