import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage

/// What is secret of a credential, as it is sealed: behind the channel's number in one byte, so that it can
/// be opened for no other. Some, which are older, are sealed for a purpose of their own instead.
package enum CredentialSecret {
  /// Seals a secret of an app.
  package static func seal(
    _ secret: [UInt8], app: AppID, channel: ChannelID, with keys: SealingKeys
  ) -> [UInt8] {
    keys.seal(prefix(of: channel) + secret, for: context(app, channel))
  }

  /// Seals what is sealed again with the current key.
  package static func reseal(
    _ sealed: [UInt8], of row: CredentialRow, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    seal(try open(sealed, of: row, with: keys), app: row.app, channel: row.channel, with: keys)
  }

  /// Opens the secret of a credential.
  static func open(
    _ sealed: [UInt8], of row: CredentialRow, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    let bytes = try keys.open(sealed, for: context(row.app, row.channel))
    let prefix = prefix(of: row.channel)
    guard bytes.starts(with: prefix) else { throw .damaged }
    return Array(bytes.dropFirst(prefix.count))
  }

  private static func prefix(of channel: ChannelID) -> [UInt8] {
    ownPurposes[channel] == nil ? [channel.rawValue] : []
  }

  private static func context(_ app: AppID, _ channel: ChannelID) -> SealingKeys.Context {
    SealingKeys.Context(app: app, purpose: ownPurposes[channel] ?? "channel credential")
  }
}
