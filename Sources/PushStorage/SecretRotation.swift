import PushBase

/// How a secret is replaced while the one before it stays good for a time.
public enum SecretRotation: Sendable, Equatable {
  /// The present secret becomes the one before. Refused while there is one before: whoever has not got the present one yet
  /// would be shut out.
  case begin
  /// Another secret takes the place of the present one, which nobody has got; the one before stays. Refused without one
  /// before.
  case again
  /// The present secret becomes the one before, whether there was one or not.
  case shift
}
