import COpenSSL

/// A key for AES-256-GCM whose owner chooses the nonces, and never one twice.
package struct AEADKey: Sendable {
  private static let tagSize = 16
  private let bytes: [UInt8]

  /// Takes 32 bytes.
  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == 32, "AES-256 has keys of 32 bytes")
    self.bytes = bytes
  }

  /// Seals bytes and binds them to a context; the result is 16 bytes longer. `nonce` has 12 bytes.
  package func seal(_ plain: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
    precondition(nonce.count == 12, "a nonce has 12 bytes")
    var output = [UInt8](repeating: 0, count: plain.count + Self.tagSize)
    let done = co_gcm_seal(bytes, nonce, context, context.count, plain, plain.count, &output)
    precondition(done == 1, "AES-256-GCM failed")
    return output
  }

  /// Opens what `seal` returned for the same nonce and context; nil if anything was changed.
  package func open(_ sealed: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
    let count = sealed.count - Self.tagSize
    guard count >= 0, nonce.count == 12 else { return nil }
    // One byte more than needed: an empty array may have no address.
    var output = [UInt8](repeating: 0, count: count + 1)
    guard co_gcm_open(bytes, nonce, context, context.count, sealed, count, &output) == 1 else {
      ERR_clear_error()
      return nil
    }
    output.removeLast()
    return output
  }
}
