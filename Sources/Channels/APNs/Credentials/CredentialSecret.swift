import BorealisBase
import BorealisCrypto
import Storage

/// The secret of a credential, as it is sealed: the PEM text of a key, or of certificates and their key.
package enum CredentialSecret {
  /// Seals a secret again with the current key.
  package static func reseal(
    _ sealed: [UInt8], app: AppID, with keys: SealingKeys
  ) throws(SealError) -> [UInt8] {
    keys.seal(try keys.open(sealed, for: context(app)), for: context(app))
  }

  static func seal(_ text: String, app: AppID, with keys: SealingKeys) -> [UInt8] {
    keys.seal(Array(text.utf8), for: context(app))
  }

  /// Opens a key.
  static func key(_ sealed: [UInt8], app: AppID, with keys: SealingKeys) throws(CredentialError) -> ES256Key {
    let bytes = try open(sealed, app, keys)
    do throws(CredentialFileError) {
      return try ES256Key(p8: bytes)
    } catch {
      throw .file(error)
    }
  }

  /// Opens a certificate with its key.
  static func pair(
    _ sealed: [UInt8], app: AppID, with keys: SealingKeys
  ) throws(CredentialError) -> CertificateKeyPair {
    let bytes = try open(sealed, app, keys)
    do throws(CredentialFileError) {
      return try CertificateKeyPair(certificates: bytes, key: bytes)
    } catch {
      throw .file(error)
    }
  }

  private static func open(
    _ sealed: [UInt8], _ app: AppID, _ keys: SealingKeys
  ) throws(CredentialError) -> [UInt8] {
    do throws(SealError) {
      return try keys.open(sealed, for: context(app))
    } catch {
      throw .seal(error)
    }
  }

  private static func context(_ app: AppID) -> SealingKeys.Context {
    SealingKeys.Context(app: app, purpose: "apns credential")
  }
}
