// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import COpenSSL
import Foundation

/// Keys by OpenSSL: 1 is X25519, 2 is P-256.
enum Key {
  static func made(kind: Int32) -> (scalar: Data, point: Data) {
    guard let key = co_new_content_key(kind) else { preconditionFailure("no key") }
    defer { EVP_PKEY_free(key) }
    var scalar = [UInt8](repeating: 0, count: 32)
    precondition(co_content_scalar(kind, key, &scalar) == 1, "no scalar")
    return (Data(scalar), bytes(of: key, kind))
  }

  static func point(kind: Int32, _ bytes: some ContiguousBytes, size: Int) throws -> Data {
    let point = bytes.withUnsafeBytes { Array($0) }
    guard point.count == size, let key = co_read_content_key(kind, point, size, nil) else {
      ERR_clear_error()
      throw CryptoKitError.incorrectKeySize
    }
    EVP_PKEY_free(key)
    return Data(point)
  }

  static func point(kind: Int32, ofScalar scalar: [UInt8]) throws -> Data {
    guard scalar.count == 32 else { throw CryptoKitError.incorrectKeySize }
    if kind == 1 {
      guard let key = co_read_content_key(1, [], 0, scalar) else { throw CryptoKitError.incorrectKeySize }
      defer { EVP_PKEY_free(key) }
      return bytes(of: key, 1)
    }
    let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
    let number = BN_bin2bn(scalar, 32, nil)
    let product = EC_POINT_new(group)
    defer {
      EC_POINT_free(product)
      BN_free(number)
      EC_GROUP_free(group)
    }
    var point = [UInt8](repeating: 0, count: 65)
    guard EC_POINT_mul(group, product, number, nil, nil, nil) == 1,
      EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, &point, 65, nil) == 65
    else { throw CryptoKitError.incorrectKeySize }
    return Data(point)
  }

  static func agree(kind: Int32, _ scalar: Data, _ own: Data, _ peer: Data) throws -> SharedSecret {
    guard let key = co_read_content_key(kind, Array(own), own.count, Array(scalar)) else {
      throw CryptoKitError.incorrectKeySize
    }
    defer { EVP_PKEY_free(key) }
    var secret = [UInt8](repeating: 0, count: 32)
    guard co_agree(kind, key, Array(peer), peer.count, &secret) == 1 else {
      ERR_clear_error()
      throw CryptoKitError.underlyingCoreCryptoError(error: 0)
    }
    return SharedSecret(secret)
  }

  private static func bytes(of key: OpaquePointer, _ kind: Int32) -> Data {
    var point = [UInt8](repeating: 0, count: 65)
    let count = co_content_point(kind, key, &point)
    return Data(point[..<count])
  }
}
