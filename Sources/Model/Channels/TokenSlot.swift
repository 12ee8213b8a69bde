import BorealisBase

/// Names a service of a channel: one for which an app has a credential of its own, and to which a token
/// belongs. Most channels have one; APNs has production and sandbox. Raw values stand in the database with
/// each token.
package struct ServiceID: RawRepresentable, Hashable, Sendable {
  /// The number, 1 to 8; 0 for `none`.
  package let rawValue: UInt8

  /// Wraps a number.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No service: nobody named one, or there is no token.
  package static let none = ServiceID(rawValue: 0)
  /// All that a channel may have.
  package static let all = (1...8).map { ServiceID(rawValue: $0) }
  /// The service of a channel that has only one, and the one that is meant if nobody names another.
  package static let only = ServiceID(rawValue: 1)
}

/// A set of services of one channel.
package struct ServiceSet: OptionSet, Sendable {
  /// The bits: the lowest stands for the service with number 1.
  package let rawValue: UInt8

  /// Makes a set of its bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The set of one service, empty for `none`.
  package init(_ service: ServiceID) {
    rawValue = (1...8).contains(service.rawValue) ? 1 << (service.rawValue - 1) : 0
  }

  /// Every service.
  package static let all = ServiceSet(rawValue: .max)
}

/// Names one of the tokens that a registration may have: it has at most one for each slot.
package struct TokenSlot: Hashable, Sendable {
  /// The channel whose service knows the device by it.
  package let channel: ChannelID
  /// Which kind of the channel's tokens it is: `TokenKind.number`.
  package let kind: UInt8
  /// What tells the tokens of a kind apart of which a registration may have several; empty for the other
  /// kinds.
  package let name: String

  /// Most bytes of a name, in UTF-8.
  package static let maximumName = 255

  /// Names a token. The caller has checked the name by the channel's `TokenKind`.
  package init(_ channel: ChannelID, kind: UInt8, name: String = "") {
    self.channel = channel
    self.kind = kind
    self.name = name
  }

  /// Names count byte for byte, as in the database.
  package static func == (left: Self, right: Self) -> Bool {
    left.channel == right.channel && left.kind == right.kind && left.name.hasSameBytes(as: right.name)
  }

  /// Hashes what is compared.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(channel)
    hasher.combine(kind)
    name.hashBytes(into: &hasher)
  }
}

/// A token of a registration.
package struct PushToken: Hashable, Sendable {
  /// Which of its tokens it is.
  package let slot: TokenSlot
  /// The service that it belongs to.
  package let service: ServiceID
  /// What the service knows the device by; empty for none.
  package let bytes: [UInt8]

  /// Makes a token; one of no service is none.
  package init(_ slot: TokenSlot, _ service: ServiceID, _ bytes: [UInt8]) {
    self.slot = slot
    self.service = bytes.isEmpty ? .none : service
    self.bytes = service == .none ? [] : bytes
  }
}

/// A kind of token of a channel.
package struct TokenKind: Hashable, Sendable {
  /// How tokens are written in JSON.
  package enum Form: Sendable {
    /// As hexadecimal digits, two for a byte.
    case hexadecimal
    /// As they are: visible ASCII characters.
    case text
    /// As JSON in ASCII, with blanks and line breaks where JSON may have them.
    case json

    /// For error messages: "visible ASCII characters".
    package var english: String {
      switch self {
      case .hexadecimal: "hexadecimal digits"
      case .text: "visible ASCII characters"
      case .json: "JSON in ASCII"
      }
    }
  }

  /// Its number, from 1 on. It stands in the database: never reuse one.
  package let number: UInt8
  /// Its name in APIs.
  package let name: String
  /// How its tokens are written.
  package let form: Form
  /// Most bytes of a token.
  package let maximumBytes: Int
  /// Whether a registration may have several, each with a name.
  package let isNamed: Bool

  /// The most that `maximumBytes` may be: a subscription to Web Push is the longest.
  package static let maximumBytes = 2048

  package init(
    _ number: UInt8, name: String, form: Form, maximumBytes: Int = Self.maximumBytes, isNamed: Bool = false
  ) {
    self.number = number
    self.name = name
    self.form = form
    self.maximumBytes = min(maximumBytes, Self.maximumBytes)
    self.isNamed = isNamed
  }

  /// The bytes of a token as JSON has it, empty for an empty one; nil if it has another form or is too long.
  package func bytes(_ text: String) -> [UInt8]? {
    let bytes =
      switch form {
      case .hexadecimal: text.utf8.count <= 2 * maximumBytes ? Hex.decode(text.lowercased()) : nil
      case .text: text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? Array(text.utf8) : nil
      case .json:
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) || [9, 10, 13].contains($0) }
          ? Array(text.utf8) : nil
      }
    return bytes.flatMap { $0.count <= maximumBytes ? $0 : nil }
  }

  /// A token as JSON has it.
  package func text(_ bytes: [UInt8]) -> String {
    switch form {
    case .hexadecimal: Hex.encode(bytes)
    case .text, .json: String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Whether a name is one for a token of this kind.
  package func allows(name: String) -> Bool {
    name.isEmpty != isNamed && name.utf8.count <= TokenSlot.maximumName && name.isPlainLine
  }
}
