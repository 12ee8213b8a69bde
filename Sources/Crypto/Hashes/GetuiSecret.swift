import BorealisBase

/// The master secret that an app calls Getui's API with. It is one of its own: Getui's signature needs the
/// secret itself, while of JPush's only a digest is stored.
package enum GetuiSecret {
  /// A new random secret.
  package static func generate() -> String { SecretKey24.generate() }

  /// What the database keeps of a secret.
  package static func seal(_ secret: String, app: AppID, with keys: SealingKeys) -> [UInt8] {
    keys.seal(Array(secret.utf8), for: context(app))
  }

  /// Opens what `seal` gave.
  package static func open(_ sealed: [UInt8], app: AppID, with keys: SealingKeys) throws(SealError) -> [UInt8]
  {
    try keys.open(sealed, for: context(app))
  }

  /// Seals again, with the current key, what any of the keys opens.
  package static func reseal(
    _ sealed: [UInt8], app: AppID, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    keys.seal(try keys.open(sealed, for: context(app)), for: context(app))
  }

  private static func context(_ app: AppID) -> SealingKeys.Context {
    SealingKeys.Context(app: app, purpose: "getui master secret")
  }
}
