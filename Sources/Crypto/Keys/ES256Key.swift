import BorealisBase
import COpenSSL

/// A key that signs with ES256 (RFC 7518 section 3.4): Apple issues it as a file `AuthKey_XXXXXXXXXX.p8`. May
/// be used from any thread.
package struct ES256Key: Sendable {
  let key: PrivateKey
  /// The key, PKCS #8 PEM, not encrypted: a secret.
  package let pem: String
  /// SHA-256 of the public key's DER form (SubjectPublicKeyInfo), 32 bytes.
  package let fingerprint: [UInt8]

  /// Reads the content of a .p8 file: PEM with one PKCS #8 key on the curve P-256. Throws what the file is
  /// instead.
  package init(p8 bytes: [UInt8]) throws(CredentialFileError) {
    let text = try PEM.text(of: bytes)
    let key = try PrivateKey(pem: text)
    try Self.expectP256(key)
    guard PEM.labels(text).contains("PRIVATE KEY") else { throw .notPKCS8 }
    self.key = key
    pem = try key.pem()
    fingerprint = try Self.fingerprint(of: key)
  }

  /// A new key.
  package static func generate() throws(CredentialFileError) -> ES256Key {
    guard let handle = co_new_p256_key() else { throw .fromQueue() }
    return try ES256Key(p8: Array(try PrivateKey(taking: handle).pem().utf8))
  }

  /// The signature of some bytes: two big-endian numbers of 32 bytes. Another one at each call.
  package func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 64)
    guard co_es256_sign(key.handle, bytes, bytes.count, &signature) == 1 else { throw .fromQueue() }
    return signature
  }

  /// The public key as an uncompressed point (SEC 1 section 2.3.3): 65 bytes.
  package func publicPoint() throws(CryptoError) -> [UInt8] {
    var point = [UInt8](repeating: 0, count: 65)
    guard co_content_point(2, key.handle, &point) == 65 else { throw .fromQueue() }
    return point
  }

  /// The public key, PEM (`PUBLIC KEY`).
  package func publicKeyPEM() throws(CryptoError) -> String {
    try PEM.text { PEM_write_bio_PUBKEY($0, key.handle) }
  }

  private static func expectP256(_ key: PrivateKey) throws(CredentialFileError) {
    guard EVP_PKEY_get_base_id(key.handle) == EVP_PKEY_EC else {
      let name = EVP_PKEY_get0_type_name(key.handle).map { String(cString: $0) }
      throw .otherAlgorithm(name ?? "unknown")
    }
    guard let curve = key.curve else { throw .otherCurve("without a name") }
    guard curve == "prime256v1" else { throw .otherCurve(curve) }
  }

  private static func fingerprint(of key: PrivateKey) throws(CredentialFileError) -> [UInt8] {
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(key.handle, &start)
    guard count > 0, let start else { throw .fromQueue() }
    defer { CRYPTO_free(start, nil, 0) }
    return SHA256.digest(Array(UnsafeBufferPointer(start: start, count: Int(count))))
  }
}
