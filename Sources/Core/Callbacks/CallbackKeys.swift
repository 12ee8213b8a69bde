import BorealisCrypto

/// The source of the keys that encrypt the apps' secrets.
package struct CallbackKeys: Sendable {
  /// Why there are no keys.
  package struct Failure: Error, Sendable {
    /// One line for people.
    package let message: String

    /// Wraps a line.
    package init(_ message: String) { self.message = message }
  }

  /// Reads the keys.
  let read: @Sendable () -> Result<SealingKeys, Failure>
  /// Reads the keys, and creates one if there are none and none is in use. Fails if a key in use, by its ID,
  /// is missing.
  let readOrMake: @Sendable (_ keysInUse: Set<String>) -> Result<SealingKeys, Failure>

  /// Both block while they read a small file; they are called on threads of the store.
  package init(
    read: @escaping @Sendable () -> Result<SealingKeys, Failure>,
    readOrMake: @escaping @Sendable (_ keysInUse: Set<String>) -> Result<SealingKeys, Failure>
  ) {
    self.read = read
    self.readOrMake = readOrMake
  }
}
