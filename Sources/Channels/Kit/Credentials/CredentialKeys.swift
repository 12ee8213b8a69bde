import BorealisBase
import BorealisCrypto
import Core
import Storage

/// The keys that credentials of apps are sealed with. Both closures may read a file.
package struct CredentialKeys: Sendable {
  /// Why there are no keys.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    /// One line for people, which names the file.
    package let description: String

    /// Wraps a line.
    package init(_ description: String) { self.description = description }
  }

  /// Reads the keys that open what is stored.
  package let open: @Sendable () -> Result<SealingKeys, Failure>
  /// The same for sealing; makes a key if there is none and none is in use.
  let seal: @Sendable (_ keysInUse: Set<String>) -> Result<SealingKeys, Failure>

  /// Without `seal`, `open` seals as well.
  package init(
    open: @escaping @Sendable () -> Result<SealingKeys, Failure>,
    seal: (@Sendable (_ keysInUse: Set<String>) -> Result<SealingKeys, Failure>)? = nil
  ) {
    self.open = open
    self.seal = seal ?? { _ in open() }
  }

  /// Gives the keys that seal a new credential, and what else `read` finds. On a reader's thread.
  package func forSealing<Value: Sendable>(
    in store: Store, log: Log, _ read: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value,
    then reply: @escaping @Sendable (Result<(SealingKeys, Value), CredentialInput.Refusal>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      (SealingKeys.ids(of: try transaction.credentials.allSealed()), try read(transaction))
    } completion: { [seal] result in
      guard case .success(let (keysInUse, value)) = result else { return reply(.failure(.unavailable)) }
      switch seal(keysInUse) {
      case .failure(let failure):
        log.error("credentials cannot be sealed", ["reason": .text(failure.description)])
        reply(.failure(.noKey))
      case .success(let keys): reply(.success((keys, value)))
      }
    }
  }
}
