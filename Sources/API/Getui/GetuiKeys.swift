import BorealisCrypto

/// Reads the keys that seal secrets.
package struct GetuiKeys: Sendable {
  let read: @Sendable () -> SealingKeys?

  /// `read` returns the keys, nil while they cannot be read. It is called each time the API needs them.
  package init(read: @escaping @Sendable () -> SealingKeys?) { self.read = read }
}
