import PushCrypto

/// Where the keys come from that secrets are sealed with.
public struct GetuiKeys: Sendable {
  let read: @Sendable () -> SealingKeys?

  /// `read` gives the keys, nil while they cannot be read; it is asked each time.
  public init(read: @escaping @Sendable () -> SealingKeys?) { self.read = read }
}
