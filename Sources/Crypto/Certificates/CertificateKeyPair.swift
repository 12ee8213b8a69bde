import COpenSSL

/// A certificate with its chain and its private key, checked to belong together.
package struct CertificateKeyPair: Equatable, Sendable {
  /// The most certificates in a file; Apple's need two others.
  package static let mostCertificates = 8

  /// PEM: the certificate itself, then those that vouch for it.
  package let certificatesPEM: String
  /// The private key, PKCS #8 PEM, not encrypted: a secret.
  package let keyPEM: String
  /// What the certificate says.
  package let facts: CertificateFacts

  /// Reads two PEM files, which may be one and the same: the certificate first in the one, its key, not
  /// encrypted, in the other.
  package init(certificates: [UInt8], key: [UInt8]) throws(CredentialFileError) {
    let text = try PEM.text(of: certificates)
    guard PEM.labels(text).contains("CERTIFICATE"), let chain = Self.chain(text) else { throw .noCertificate }
    defer { chain.forEach { X509_free($0) } }
    try self.init(chain: chain, key: try PrivateKey(pem: try PEM.text(of: key)))
  }

  /// Takes what OpenSSL has read: the certificate first, then others in any order. They stay the caller's.
  init(chain: [OpaquePointer], key: PrivateKey) throws(CredentialFileError) {
    guard let certificate = chain.first else { throw .noCertificate }
    guard chain.count <= Self.mostCertificates else {
      throw .tooManyCertificates(limit: Self.mostCertificates)
    }
    if let oddity = key.oddity { throw .unusualKey(oddity) }
    guard X509_check_private_key(certificate, key.handle) == 1 else {
      ERR_clear_error()
      throw .keyDoesNotMatch
    }
    facts = try CertificateFacts(certificate)
    keyPEM = try key.pem()
    do throws(CryptoError) {
      var text = ""
      for certificate in chain { text += try PEM.text { PEM_write_bio_X509($0, certificate) } }
      certificatesPEM = text
    } catch {
      throw .library(error.description)
    }
  }

  /// All certificates of a text, nil if there is none or one is damaged.
  private static func chain(_ text: String) -> [OpaquePointer]? {
    let expected = PEM.labels(text).count { $0 == "CERTIFICATE" }
    let found = PEM.read(text) { memory in
      var chain: [OpaquePointer] = []
      while let certificate = PEM_read_bio_X509(memory, nil, co_no_password, nil) {
        chain.append(certificate)
      }
      return chain
    }
    ERR_clear_error()
    guard let found, found.count == expected else {
      found?.forEach { X509_free($0) }
      return nil
    }
    return found
  }
}
