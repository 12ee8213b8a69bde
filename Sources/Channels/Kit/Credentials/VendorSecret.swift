import BorealisBase
import BorealisCrypto
import Model
import Storage

/// What is secret of a credential, as it is sealed: the channel's number in one byte, so that it can be
/// opened for no other, and the bytes of the vendor's.
package enum VendorSecret {
  /// Seals what is sealed again with the current key.
  package static func reseal(
    _ row: ChannelCredentialRow, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    seal(try open(row, with: keys), app: row.app, channel: row.channel, with: keys)
  }

  /// Seals a secret of an app.
  package static func seal(
    _ secret: [UInt8], app: AppID, channel: ChannelID, with keys: SealingKeys
  ) -> [UInt8] {
    keys.seal([channel.rawValue] + secret, for: context(app))
  }

  static func open(_ row: ChannelCredentialRow, with keys: SealingKeys) throws(SealError) -> [UInt8] {
    let bytes = try keys.open(row.sealed, for: context(row.app))
    guard bytes.first == row.channel.rawValue else { throw .damaged }
    return Array(bytes.dropFirst())
  }

  private static func context(_ app: AppID) -> SealingKeys.Context {
    SealingKeys.Context(app: app, purpose: "channel credential")
  }
}
