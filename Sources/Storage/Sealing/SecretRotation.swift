import BorealisBase

/// How a secret is replaced while the previous one stays valid for some time.
package enum SecretRotation: Sendable, Equatable {
  /// The current secret becomes the previous one. Refused while there is a previous one, since servers that
  /// still use it would be locked out.
  case begin
  /// Replaces the current secret, which is not in use yet; the previous one stays. Refused without a previous
  /// one.
  case again
  /// The current secret becomes the previous one, whether there was one or not.
  case shift
}
