import BorealisBase
import BorealisCrypto
import Model
import Storage

/// The secrets of APNs: the PEM text of a key, or of certificates and their key.
extension CredentialSecret {
  /// The purposes of channels whose secrets are sealed for one of their own.
  static let ownPurposes: [ChannelID: StaticString] = [.apns: "apns credential"]

  /// Opens a key.
  static func key(
    _ sealed: [UInt8], of row: CredentialRow, with keys: SealingKeys
  ) throws(CredentialError) -> ES256Key {
    let bytes = try text(sealed, row, keys)
    do throws(CredentialFileError) {
      return try ES256Key(p8: bytes)
    } catch {
      throw .file(error)
    }
  }

  /// Opens a certificate with its key.
  static func pair(
    _ sealed: [UInt8], of row: CredentialRow, with keys: SealingKeys
  ) throws(CredentialError) -> CertificateKeyPair {
    let bytes = try text(sealed, row, keys)
    do throws(CredentialFileError) {
      return try CertificateKeyPair(certificates: bytes, key: bytes)
    } catch {
      throw .file(error)
    }
  }

  private static func text(
    _ sealed: [UInt8], _ row: CredentialRow, _ keys: SealingKeys
  ) throws(CredentialError) -> [UInt8] {
    do throws(SealError) {
      return try open(sealed, of: row, with: keys)
    } catch {
      throw .seal(error)
    }
  }
}
