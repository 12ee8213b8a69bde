import COpenSSL

/// The public half of an ECDSA key on P-256: checks ES256 signatures (RFC 7518 section 3.4).
///
/// OpenSSL only reads the key, so any thread may use it.
package final class ES256PublicKey: @unchecked Sendable {
  private let handle: OpaquePointer

  private init(owning handle: OpaquePointer) throws(CryptoError) {
    self.handle = handle
    // `deinit` frees the handle also if this throws, since every property is set.
    guard EVP_PKEY_get_id(handle) == EVP_PKEY_EC, Self.group(of: handle) == "prime256v1" else {
      throw .library("not a key on the curve P-256")
    }
  }

  deinit { EVP_PKEY_free(handle) }

  /// Reads a key in PEM form: a public key (`PUBLIC KEY`), or the public half of an unencrypted private key
  /// (`PRIVATE KEY`), as Apple's `.p8` files hold it. Throws for anything else and for other curves.
  package convenience init(pem: String) throws(CryptoError) {
    guard pem.utf8.count <= PEM.limit else { throw .library("too long for a key") }
    let isPrivate = PEM.labels(pem).contains("PRIVATE KEY")
    let key = PEM.read(pem) { memory in
      isPrivate
        ? PEM_read_bio_PrivateKey(memory, nil, co_no_password, nil)
        : PEM_read_bio_PUBKEY(memory, nil, co_no_password, nil)
    }
    guard let key else { throw .fromQueue() }
    try self.init(owning: key)
  }

  /// Reads an uncompressed point (SEC 1 section 2.3.3): 4, then 32 bytes of each coordinate. Throws unless it
  /// lies on the curve.
  package convenience init(point: [UInt8]) throws(CryptoError) {
    guard point.count == 65, point[0] == 4 else { throw .library("not an uncompressed point on P-256") }
    let document = Self.keyInfoPrefix + point
    let key = document.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var next = buffer.baseAddress
      return d2i_PUBKEY(nil, &next, buffer.count)
    }
    guard let key else { throw .fromQueue() }
    try self.init(owning: key)
  }

  /// Whether a raw signature, 32 bytes of r and 32 bytes of s, is this key's over SHA-256 of a message.
  package func isValid(signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 64, let context = EVP_MD_CTX_new() else { return false }
    let encoded = Self.derSignature(signature)
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
  }

  /// SubjectPublicKeyInfo (RFC 5480) of a key on P-256, up to the point.
  private static let keyInfoPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// OpenSSL verifies signatures in their ASN.1 form only: a sequence of two integers.
  private static func derSignature(_ raw: [UInt8]) -> [UInt8] {
    let body = derInteger(raw[..<32]) + derInteger(raw[32...])
    // At most 70 bytes, so that every length is a single byte.
    return [0x30, UInt8(body.count)] + body
  }

  private static func derInteger(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    // A first bit that is set would make the number negative.
    if (digits.first ?? 0x80) & 0x80 != 0 { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }

  private static func group(of key: OpaquePointer) -> String? {
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
    return String(decoding: name[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
