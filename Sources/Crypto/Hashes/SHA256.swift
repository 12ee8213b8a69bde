import COpenSSL

/// The SHA-256 digest (FIPS 180-4).
package enum SHA256 {
  /// The 32 bytes of the digest.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] { digest(bytes.span) }

  /// The 32 bytes of the digest.
  package static func digest(_ bytes: Span<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { output, count in
      bytes.withUnsafeBufferPointer { input in
        // The low-level digest cannot fail; a zero would mean a broken library.
        let done = co_sha256(input.baseAddress, input.count, output.baseAddress)
        precondition(done == 1, "SHA-256 failed")
      }
      count = 32
    }
  }

  /// The first 16 bytes of the digest as two big-endian numbers: a key for hash tables. Allocates nothing.
  package static func digest128(_ bytes: [UInt8]) -> (UInt64, UInt64) { digest128(bytes.span) }

  /// The first 16 bytes of the digest as two big-endian numbers: a key for hash tables. Allocates nothing.
  package static func digest128(_ bytes: Span<UInt8>) -> (UInt64, UInt64) {
    withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { output in
      bytes.withUnsafeBufferPointer { input in
        let done = co_sha256(
          input.baseAddress, input.count, output.baseAddress?.assumingMemoryBound(to: UInt8.self))
        precondition(done == 1, "SHA-256 failed")
      }
      return (
        UInt64(bigEndian: output.load(as: UInt64.self)),
        UInt64(bigEndian: output.load(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}
