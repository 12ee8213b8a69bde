import BorealisCrypto

/// A key that the simulator knows, as Apple knows those made in its portal.
struct ProviderKey: Sendable {
  /// Ten characters.
  let keyID: String
  /// Ten characters.
  let teamID: String
  /// Checks signatures; nil accepts any, for an unknown key.
  let publicKey: ES256PublicKey?
  /// The environment that it is limited to, nil for both.
  var environment: PushEnvironment?
  /// The bundle IDs that it is limited to, nil for all of the team.
  var bundles: [HeaderValue]?
  /// Keys with limits of their own belong together only if they name the same family.
  var family: String?

  /// Whether pushes of both keys may share a connection.
  func isRelated(to other: ProviderKey) -> Bool {
    teamID == other.teamID && environment == other.environment
      && (keyID == other.keyID || (bundles == nil) == (other.bundles == nil) && family == other.family)
  }
}
