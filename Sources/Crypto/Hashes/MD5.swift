import COpenSSL

/// The MD5 digest (RFC 1321), for signatures whose format a peer prescribes. It is not secure against an
/// attacker who can choose the signed text.
package enum MD5 {
  /// The 16 bytes of the digest; nil if the system's policy allows no MD5.
  package static func digest(_ bytes: [UInt8]) -> [UInt8]? {
    var done: Int32 = 0
    let digest = [UInt8](unsafeUninitializedCapacity: 16) { output, count in
      bytes.withUnsafeBufferPointer { done = co_md5($0.baseAddress, $0.count, output.baseAddress) }
      count = done == 1 ? 16 : 0
    }
    return done == 1 ? digest : nil
  }
}
