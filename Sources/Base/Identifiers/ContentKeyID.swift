/// The ID of a key for end-to-end encrypted content: a device's own key, or one that many devices share.
public struct ContentKeyID: Hashable, Sendable, CustomStringConvertible {
  /// The ID as a number: its first byte is the most significant.
  public let rawValue: UInt64

  /// Makes the ID from its number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Reads the text form, 16 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) {
    guard text.utf8.count == 16, let value = Hex.value(text.utf8) else { return nil }
    rawValue = value
  }

  /// Reads eight bytes; nil for another number of them.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8 else { return nil }
    rawValue = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The eight bytes.
  public var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: rawValue >> (56 - 8 * $0)) } }

  /// 16 lower-case hexadecimal digits.
  public var text: String { Hex.digits(rawValue, count: 16) }

  /// The text form.
  public var description: String { text }
}

/// Kinds of device keys. The raw values are used in the device protocol and in the database.
public enum DeviceKeyKind: UInt8, CaseIterable, Sendable {
  /// X25519 (RFC 7748), the usual kind.
  case x25519 = 1
  /// NIST P-256, which browsers and Web Push use.
  case p256 = 2
  /// SM2 (GM/T 0003) with SM3 and SM4.
  case sm2 = 3

  /// Bytes of a public key: a point, uncompressed if its curve has such a form.
  public var pointSize: Int { self == .x25519 ? 32 : 65 }

  /// Its name in APIs.
  public var name: String {
    switch self {
    case .x25519: "x25519"
    case .p256: "p256"
    case .sm2: "sm2"
    }
  }

  /// The kind with a name in APIs, nil if there is none.
  public init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }

  /// The content coding for such a key.
  public var coding: ContentCipher { self == .sm2 ? .sm4 : .aes }
}

/// The codings of end-to-end encrypted content.
public enum ContentCipher: String, CaseIterable, Sendable {
  /// AES-128-GCM with SHA-256 (RFC 8188).
  case aes = "aes128gcm"
  /// The same with SM4 and SM3.
  case sm4 = "sm4gcm"
}
