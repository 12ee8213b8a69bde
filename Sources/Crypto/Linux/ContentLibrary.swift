import BorealisBase
import COpenSSL

/// Contents by OpenSSL.
enum ContentLibrary: ContentCryptography {
  typealias KeyHandle = ContentKeyHandle

  private static let tagSize = ContentCoding.tagSize

  static let ciphers: Set<ContentCipher> = [.aes, .sm4]

  static func sha256(_ bytes: [UInt8]) -> [UInt8] { SHA256.digest(bytes) }

  static func derive(
    _ cipher: ContentCipher, salt: [UInt8], secret: [UInt8], info: [UInt8], count: Int
  ) -> [UInt8] {
    // OpenSSL's HKDF refuses an empty key, which means zeros (RFC 5869 section 2.2, RFC 2104).
    let secret = secret.isEmpty ? [0] : secret
    var output = [UInt8](repeating: 0, count: count)
    let done = co_hkdf(
      cipher == .sm4 ? 1 : 0, salt, salt.count, secret, secret.count, info, info.count, &output, count)
    precondition(done == 1, "HKDF failed")
    return output
  }

  static func seal(_ cipher: ContentCipher, _ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    run(cipher, seal: true, key, nonce, plain, plain.count)
  }

  static func open(_ cipher: ContentCipher, _ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    let count = sealed.count - tagSize
    guard count >= 0, let output = run(cipher, seal: false, key, nonce, sealed, count) else { return nil }
    return Array(output[..<count])
  }

  private static func run(
    _ cipher: ContentCipher, seal: Bool, _ key: [UInt8], _ nonce: [UInt8], _ input: [UInt8], _ count: Int
  ) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: count + tagSize)
    let done =
      switch cipher {
      case .aes: co_aes128_gcm(seal ? 1 : 0, key, nonce, input, count, &output)
      case .sm4: co_sm4_gcm(seal ? 1 : 0, key, nonce, nil, 0, input, count, &output)
      }
    guard done == 1 else {
      ERR_clear_error()
      return nil
    }
    return output
  }
}

/// OpenSSL's key, which frees itself. Nothing changes it after its init, so any thread may use it.
final class ContentKeyHandle: ContentKeyPair, @unchecked Sendable {
  private let kind: DeviceKeyKind
  private let handle: OpaquePointer

  init(_ kind: DeviceKeyKind) throws(ContentError) {
    guard let handle = co_new_content_key(Int32(kind.rawValue)) else {
      ERR_clear_error()
      throw .damaged
    }
    (self.kind, self.handle) = (kind, handle)
  }

  init(_ kind: DeviceKeyKind, point: [UInt8], scalar: [UInt8]?) throws(ContentError) {
    let handle =
      if let scalar {
        co_read_content_key(Int32(kind.rawValue), point, point.count, scalar)
      } else {
        co_read_content_key(Int32(kind.rawValue), point, point.count, nil)
      }
    ERR_clear_error()
    guard let handle else { throw .damaged }
    (self.kind, self.handle) = (kind, handle)
  }

  deinit { EVP_PKEY_free(handle) }

  func point() throws(ContentError) -> [UInt8] {
    var point = [UInt8](repeating: 0, count: 65)
    let count = co_content_point(Int32(kind.rawValue), handle, &point)
    guard count > 0 else {
      ERR_clear_error()
      throw .damaged
    }
    return Array(point[..<count])
  }

  var scalar: [UInt8] {
    var scalar = [UInt8](repeating: 0, count: 32)
    let done = co_content_scalar(Int32(kind.rawValue), handle, &scalar)
    precondition(done == 1, "a private key without a private half")
    return scalar
  }

  func agree(with other: DevicePublicKey) throws(ContentError) -> [UInt8] {
    var secret = [UInt8](repeating: 0, count: 32)
    guard co_agree(Int32(other.kind.rawValue), handle, other.point, other.point.count, &secret) == 1 else {
      ERR_clear_error()
      throw .damaged
    }
    return secret
  }

  func sm2(encrypt: Bool, _ input: [UInt8]) throws(ContentError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 255)
    var count = output.count
    guard co_sm2(handle, encrypt ? 1 : 0, input, input.count, &output, &count) == 1, count <= output.count
    else {
      ERR_clear_error()
      throw .damaged
    }
    return Array(output[..<count])
  }
}

/// The SM3 digest (GM/T 0004).
package enum SM3 {
  /// The 32 bytes of the digest.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let done = co_sm3(bytes, bytes.count, &digest)
    precondition(done == 1, "SM3 failed")
    return digest
  }
}
