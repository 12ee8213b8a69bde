import BorealisBase

/// What contents that only a device reads need from the platform's library: OpenSSL on Linux, CryptoKit on
/// Apple's platforms. `ContentLibrary` is the platform's one.
protocol ContentCryptography {
  /// A private key, or a public one to agree with.
  associatedtype KeyHandle: ContentKeyPair

  /// The codings that it has.
  static var ciphers: Set<ContentCipher> { get }

  /// The 32 bytes of SHA-256.
  static func sha256(_ bytes: [UInt8]) -> [UInt8]

  /// HKDF (RFC 5869) with the coding's digest; the secret may be empty.
  static func derive(
    _ cipher: ContentCipher, salt: [UInt8], secret: [UInt8], info: [UInt8], count: Int
  ) -> [UInt8]

  /// Enciphers with a key of 16 bytes and a nonce of 12; the tag of 16 bytes follows.
  static func seal(_ cipher: ContentCipher, _ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]?

  /// Deciphers; nil if the tag is wrong.
  static func open(_ cipher: ContentCipher, _ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]?
}

/// A key of the platform's library. All members throw for a key of a kind that the library does not have.
protocol ContentKeyPair: Sendable {
  /// A new key.
  init(_ kind: DeviceKeyKind) throws(ContentError)

  /// A private key from its scalar, or a public one without it. Throws if the point is not on its curve, or
  /// on P-256 if it is not that of the scalar.
  init(_ kind: DeviceKeyKind, point: [UInt8], scalar: [UInt8]?) throws(ContentError)

  /// The point: 32 bytes, or 65 uncompressed ones.
  func point() throws(ContentError) -> [UInt8]

  /// The 32 bytes of a private key's scalar.
  var scalar: [UInt8] { get }

  /// What it has in common with another key of its kind: 32 bytes (X25519, or ECDH on P-256). Throws if the
  /// other's point is not on its curve.
  func agree(with other: DevicePublicKey) throws(ContentError) -> [UInt8]

  /// Enciphers or deciphers a short secret by SM2.
  func sm2(encrypt: Bool, _ input: [UInt8]) throws(ContentError) -> [UInt8]
}
