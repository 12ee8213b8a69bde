/// Why something sealed cannot be opened.
package enum SealError: Error, Equatable, CustomStringConvertible {
  /// The text of a key file is not as it was written; with the number of the line.
  case malformedKeyFile(line: Int)
  /// The key file holds no key.
  case noKey
  /// The bytes are no sealed bytes.
  case malformed
  /// Sealed with a key that is not there; with the ID of that key and those of the keys that are.
  case otherKey(needed: String, present: [String])
  /// The key is there, but the bytes were changed, or sealed for another app or purpose.
  case damaged

  /// One line for people.
  package var description: String {
    switch self {
    case .malformedKeyFile(let line):
      "line \(line) is not a key; expected \"borealis-secret-key-1 \" and 64 digits"
    case .noKey: "there is no key in it"
    case .malformed: "what is stored is not sealed"
    case .otherKey(let needed, let present):
      "it is sealed with the secret key \(needed); the secret key file holds \(present.joined(separator: ", "))"
    case .damaged: "what is stored was changed, or belongs to another app"
    }
  }
}
