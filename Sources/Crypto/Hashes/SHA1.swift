import COpenSSL

/// The SHA-1 digest (FIPS 180-4). It is insecure; the WebSocket handshake requires it.
package enum SHA1 {
  /// The 20 bytes of the digest.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { output, count in
      // The digest cannot fail; a zero would mean a broken library.
      let done = EVP_Digest(bytes, bytes.count, output.baseAddress, nil, EVP_sha1(), nil)
      precondition(done == 1, "SHA-1 failed")
      count = 20
    }
  }
}
