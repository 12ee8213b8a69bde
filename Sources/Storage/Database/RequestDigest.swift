/// The digest by which a repeated request is recognised.
package struct RequestDigest: Sendable, Equatable {
  /// What the server stores of the request.
  package let stored: [UInt8]
  /// What the server would have stored of the same request under older keys, and before digests had keys.
  private let older: [[UInt8]]

  /// Makes a digest.
  package init(_ stored: [UInt8], older: [[UInt8]] = []) {
    (self.stored, self.older) = (stored, older)
  }

  /// Whether a stored digest is that of the same request. A row without a digest passes for every request.
  package func matches(_ other: [UInt8]?) -> Bool {
    guard let other else { return true }
    return stored == other || older.contains(other)
  }
}
