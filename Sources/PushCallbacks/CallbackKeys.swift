import PushCrypto

/// Where the keys come from that the apps' secrets are sealed with.
public struct CallbackKeys: Sendable {
  /// Why there are no keys.
  public struct Failure: Error, Sendable {
    /// One line for people.
    public let message: String

    /// Wraps a line.
    public init(_ message: String) { self.message = message }
  }

  /// Reads the keys.
  let read: @Sendable () -> Result<SealingKeys, Failure>
  /// Reads the keys, and makes them if there are none and nothing is sealed with any: with the number of what is.
  let readOrMake: @Sendable (_ sealed: Int) -> Result<SealingKeys, Failure>

  /// Both may block for as long as a small file takes; they are called on threads of the store.
  public init(
    read: @escaping @Sendable () -> Result<SealingKeys, Failure>,
    readOrMake: @escaping @Sendable (_ sealed: Int) -> Result<SealingKeys, Failure>
  ) {
    self.read = read
    self.readOrMake = readOrMake
  }
}
