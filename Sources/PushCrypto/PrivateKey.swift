import COpenSSL

/// A private key that frees itself. Nothing changes it after its init, so OpenSSL lets any thread use it.
final class PrivateKey: @unchecked Sendable {
  let handle: OpaquePointer

  /// Takes over OpenSSL's key.
  init(taking handle: OpaquePointer) { self.handle = handle }

  /// Reads the first private key of a PEM text, in PKCS #8 or one of the older forms.
  init(pem: String) throws(CredentialFileError) {
    if let refusal = Self.refusal(pem) { throw refusal }
    guard let handle = PEM.read(pem, { PEM_read_bio_PrivateKey($0, nil, co_no_password, nil) }) else {
      ERR_clear_error()
      throw .damagedKey
    }
    self.handle = handle
  }

  deinit { EVP_PKEY_free(handle) }

  /// PKCS #8 PEM, not encrypted.
  func pem() throws(CredentialFileError) -> String {
    do throws(CryptoError) {
      return try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    } catch {
      throw .library(error.description)
    }
  }

  /// What is wrong with a text that holds no plain private key, from the labels of its blocks.
  private static func refusal(_ pem: String) -> CredentialFileError? {
    let labels = PEM.labels(pem)
    if labels.contains("ENCRYPTED PRIVATE KEY") || pem.contains("Proc-Type: 4,ENCRYPTED") {
      return .encryptedKey
    }
    if labels.contains(where: { ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"].contains($0) }) {
      return nil
    }
    let looksLikeSSH = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "---- BEGIN SSH2"].contains { pem.hasPrefix($0) }
    guard let label = labels.first else { return looksLikeSSH ? .sshKey : .notPEM }
    return switch label {
    case "PUBLIC KEY", "EC PUBLIC KEY", "RSA PUBLIC KEY": .publicKey
    case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": .certificateInsteadOfKey
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": .certificateRequest
    case "OPENSSH PRIVATE KEY": .sshKey
    default: .otherContent(label)
    }
  }
}
