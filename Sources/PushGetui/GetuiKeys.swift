import PushCrypto

/// Reads the keys that seal secrets.
public struct GetuiKeys: Sendable {
  let read: @Sendable () -> SealingKeys?

  /// `read` returns the keys, nil while they cannot be read. It is called each time the API needs them.
  public init(read: @escaping @Sendable () -> SealingKeys?) { self.read = read }
}
