import COpenSSL

/// A private key that frees itself. Nothing changes it after its init, so OpenSSL lets any thread use it.
final class PrivateKey: @unchecked Sendable {
  let handle: OpaquePointer

  /// Takes over OpenSSL's key.
  init(taking handle: OpaquePointer) { self.handle = handle }

  /// Reads the first private key of a PEM text, in PKCS #8 or one of the older forms: an RSA or an elliptic
  /// one, since others may take hours to read.
  init(pem: String) throws(CredentialFileError) {
    if let refusal = Self.refusal(pem) { throw refusal }
    var refused = NID_undef
    guard let handle = PEM.read(pem, { co_read_private_key($0, &refused) }) else {
      ERR_clear_error()
      guard refused == NID_undef else { throw .otherAlgorithm(String(cString: co_algorithm_name(refused))) }
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

  /// What is unusual about it for a certificate: nil for RSA with 2048 to 4096 bits and for the curves P-256
  /// and P-384. Larger keys would keep the connections to Apple busy with signing.
  var oddity: String? {
    let name = EVP_PKEY_get0_type_name(handle).map { String(cString: $0) } ?? "unknown"
    let bits = EVP_PKEY_get_bits(handle)
    switch EVP_PKEY_get_base_id(handle) {
    case EVP_PKEY_RSA: return (2048...4096).contains(bits) ? nil : "\(name), \(bits) bits"
    case EVP_PKEY_EC:
      let curve = curve ?? "unknown curve"
      return ["prime256v1", "secp384r1"].contains(curve) ? nil : "\(name), \(curve)"
    default: return name
    }
  }

  /// The name of its curve, nil if it has none.
  var curve: String? {
    var name = [CChar](repeating: 0, count: 80)
    var count = 0
    guard EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1 else {
      ERR_clear_error()
      return nil
    }
    return String(decoding: name[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
