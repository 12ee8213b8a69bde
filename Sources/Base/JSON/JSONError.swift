/// Why a document was refused, each with the offset of the first byte at fault.
public enum JSONError: Error, Sendable, Equatable {
  /// A byte that the grammar does not allow here.
  case unexpectedByte(at: Int)
  /// The document stops in the middle.
  case unexpectedEnd(at: Int)
  /// The object already has this key.
  case duplicateKey(at: Int)
  /// More arrays and objects in one another than the limit.
  case tooDeep(at: Int)
  /// More bytes, or more elements and members, than the limit.
  case tooLarge(at: Int)
  /// Not RFC 8259's number: a leading zero, a missing digit.
  case badNumber(at: Int)
  /// A control character in a string.
  case badString(at: Int)
  /// An unknown escape, or half of a surrogate pair.
  case badEscape(at: Int)
  /// Not UTF-8: overlong, a surrogate, above U+10FFFF or cut short.
  case badUTF8(at: Int)
  /// Something follows the value.
  case trailingBytes(at: Int)

  /// The offset of the first byte at fault.
  public var offset: Int {
    switch self {
    case .unexpectedByte(let offset), .unexpectedEnd(let offset), .duplicateKey(let offset),
      .tooDeep(let offset), .tooLarge(let offset), .badNumber(let offset), .badString(let offset),
      .badEscape(let offset), .badUTF8(let offset), .trailingBytes(let offset):
      offset
    }
  }

  /// What is wrong with a request's body that was read with some limits, in a sentence for who sent it.
  public func problem(of limits: JSONLimits) -> String {
    switch self {
    case .tooDeep: "The body is nested deeper than \(limits.maxDepth) levels (at byte \(offset))"
    case .tooLarge:
      "The body has more than \(limits.maxBytes) bytes or \(limits.maxMembers) members (at byte \(offset))"
    default: "The body is not valid JSON (at byte \(offset))"
    }
  }
}

/// What a document may cost.
public struct JSONLimits: Sendable, Equatable {
  /// How many arrays and objects may be open at once; above 512 the parser takes 512, for the stack's sake.
  public let maxDepth: Int
  /// How long the document may be.
  public let maxBytes: Int
  /// How many array elements and object members the whole document may have.
  public let maxMembers: Int

  /// The limits for requests: 32 levels, 1 MiB, 100000 members.
  public init(maxDepth: Int = 32, maxBytes: Int = 1 << 20, maxMembers: Int = 100_000) {
    self.maxDepth = min(maxDepth, 512)
    self.maxBytes = maxBytes
    self.maxMembers = maxMembers
  }
}
