import COpenSSL

/// Keyed digests (RFC 2104).
package enum HMAC {
  /// The 32 bytes of HMAC-SHA-256; key and message may have any length, 0 too.
  package static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      let done = co_hmac_sha256(key, key.count, message, message.count, output.baseAddress)
      precondition(done == 1, "HMAC-SHA-256 failed")
      count = 32
    }
  }
}

/// Compares secrets in a time that depends on their lengths only, never on where they differ.
package func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}

/// Compares secrets in a time that depends on their lengths only, never on where they differ.
package func constantTimeEquals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  return left.withUnsafeBufferPointer { left in
    right.withUnsafeBufferPointer { right in
      left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
    }
  }
}
