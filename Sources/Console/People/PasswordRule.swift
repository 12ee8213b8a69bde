import BorealisBase

/// What a password must be: long, and none that a guesser comes upon soon. NIST SP 800-63B section 5.1.1.2
/// asks for length and for a look into lists of common passwords, and against rules about kinds of
/// characters.
enum PasswordRule {
  static let characters = 10...200
  /// Guesses that it must withstand: a tenth of what ten random characters do. zxcvbn calls 10^8 "safely
  /// unguessable" and 10^10 "very unguessable".
  static let guesses = 1e9

  /// Why a password of a person with this address and name, in these accounts, is refused; nil if it is
  /// accepted.
  static func problem(_ password: String, email: String, name: String = "", accounts: [String] = [])
    -> Phrase?
  {
    guard password.count >= characters.lowerBound else {
      return Words.passwordShort.with(String(password.count))
    }
    guard password.count <= characters.upperBound, password.utf8.count <= 800 else {
      return Words.passwordLong
    }
    let strength = PasswordStrength(password, own: ownWords(email: email, [name] + accounts))
    return strength.guesses < guesses ? phrase(strength.weakness) : nil
  }

  /// The names of a person, complete and in parts. Many people share words of the address's domain, such as
  /// "mail".
  private static func ownWords(email: String, _ texts: [String]) -> Set<String> {
    var words: Set<String> = ["borealis", email.lowercased()]
    for text in [String(email.prefix { $0 != "@" })] + texts {
      let text = text.lowercased()
      let parts = text.split { !$0.isLetter && !$0.isNumber }.map { String($0) }
      words.formUnion([text, parts.joined()] + parts)
    }
    // Shorter ones stand in any password.
    return words.filter { $0.count >= 3 }
  }

  private static func phrase(_ weakness: PasswordStrength.Weakness) -> Phrase {
    switch weakness {
    case .own: Words.passwordOwn
    case .common: Words.passwordCommon
    case .short: Words.passwordGuessable
    case .keyboard: Words.passwordKeyboard
    case .sequence: Words.passwordSequence
    case .repetition: Words.passwordRepetition
    case .date: Words.passwordDate
    }
  }
}

/// Addresses for mail, as far as they can be checked without sending one.
enum EmailAddress {
  /// Whether somebody new may have an address. One with other characters than those of ASCII needs a mail
  /// server that takes it (SMTPUTF8, RFC 6531), and some look like another's.
  static func isAcceptable(_ text: String) -> Bool { isPlausible(text) && text.utf8.allSatisfy { $0 < 128 } }

  /// What is the same for addresses that the database takes for one: only ASCII letters have no case. Swift
  /// would take more for one, such as a letter and the sign for kelvin, so each other byte is written as text
  /// behind a sign that no address has.
  static func key(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 65...90: bytes.append(byte | 0x20)
      case 128...: bytes += "(\(Hex.encode([byte]))".utf8
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func isPlausible(_ text: String) -> Bool {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    return sides.count == 2 && !sides[0].isEmpty && sides[1].contains(".") && !sides[1].hasPrefix(".")
      && !sides[1].hasSuffix(".") && text.utf8.count <= 254
      && text.isPlainLine
      && text.utf8.allSatisfy { $0 > 32 && $0 != 127 && !Array("<>\"\\,;:()".utf8).contains($0) }
  }
}

/// What people may be called: something that stays in its line, and that no log or mail mistakes for more
/// than a name.
enum PersonName {
  static func isFine(_ name: String) -> Bool {
    (1...80).contains(name.utf8.count) && !name.utf8.contains("://".utf8)
      && name.unicodeScalars.allSatisfy(isFine)
  }

  /// A name as mail to others has it: mail programs make a link of what looks like an address, and anybody
  /// may choose a name.
  static func inMail(_ name: String) -> String {
    var output = ""
    var last: Character = " "
    for letter in name {
      if ".:/@".contains(last), !letter.isWhitespace { output.append(" ") }
      output.append(letter)
      last = letter
    }
    return output
  }

  private static func isFine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: scalar != "<" && scalar != ">" && !scalar.properties.isBidiControl
    }
  }
}
