import COpenSSL

/// How an RSA key signs, by the names of RFC 7518: both with SHA-256.
package enum RSAAlgorithm: String, Sendable {
  /// PKCS #1 v1.5 (section 3.3).
  case rs256 = "RS256"
  /// RSASSA-PSS with a salt as long as the digest (section 3.5).
  case ps256 = "PS256"
}

/// An RSA key that signs JWTs. May be used from any thread.
package struct RSAKey: Sendable {
  /// Bytes of the longest text that is read: no key of the allowed sizes comes near it, and numbers that fill
  /// it are still worked with at once.
  package static let longestPEM = 8192
  /// The sizes that are used, in bits: a smaller key is not safe, a larger one takes long to sign with.
  package static let bits = 2048...4096

  private let key: PrivateKey

  /// Reads the first private key of a PEM text, not encrypted. Throws what the text is instead; `unusualKey`
  /// for another size.
  package init(pem bytes: [UInt8]) throws(CredentialFileError) {
    guard bytes.count <= Self.longestPEM else { throw .tooLarge(limit: Self.longestPEM) }
    try self.init(try PrivateKey(pem: try PEM.text(of: bytes)))
    // A key whose numbers do not belong together signs nothing that anybody accepts.
    let probe = Array("borealis".utf8)
    guard let signature = try? sign(probe), publicKey.isValid(signature: signature, of: probe) else {
      throw .damagedKey
    }
  }

  private init(_ key: PrivateKey) throws(CredentialFileError) {
    guard EVP_PKEY_get_base_id(key.handle) == EVP_PKEY_RSA else {
      throw .otherAlgorithm(EVP_PKEY_get0_type_name(key.handle).map { String(cString: $0) } ?? "unknown")
    }
    let bits = Int(EVP_PKEY_get_bits(key.handle))
    guard Self.bits.contains(bits) else { throw .unusualKey("RSA, \(bits) bits") }
    self.key = key
  }

  /// A new key.
  package static func generate(bits: Int = 2048) throws(CredentialFileError) -> RSAKey {
    guard Self.bits.contains(bits), let handle = co_new_rsa_key(UInt32(bits)) else { throw .fromQueue() }
    return try RSAKey(PrivateKey(taking: handle))
  }

  /// The signature of some bytes: as long as the key.
  package func sign(_ bytes: [UInt8], _ algorithm: RSAAlgorithm = .rs256) throws(CryptoError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Self.bits.upperBound / 8)
    let isPSS: Int32 = algorithm == .ps256 ? 1 : 0
    let count = co_rsa_sign(key.handle, isPSS, bytes, bytes.count, &signature, signature.count)
    guard count > 0 else { throw .fromQueue() }
    return Array(signature[..<count])
  }

  /// PKCS #8 PEM, not encrypted: a secret.
  package func pem() throws(CredentialFileError) -> String { try key.pem() }

  /// What checks its signatures.
  package var publicKey: RSAPublicKey { RSAPublicKey(key) }
}

/// The public half of an RSA key: checks signatures. May be used from any thread.
package struct RSAPublicKey: Sendable {
  private let key: PrivateKey

  fileprivate init(_ key: PrivateKey) { self.key = key }

  /// Whether a signature is this key's over a message.
  package func isValid(
    signature: [UInt8], of message: [UInt8], _ algorithm: RSAAlgorithm = .rs256
  ) -> Bool {
    defer { ERR_clear_error() }
    let isPSS: Int32 = algorithm == .ps256 ? 1 : 0
    return co_rsa_is_valid(key.handle, isPSS, message, message.count, signature, signature.count) == 1
  }
}
