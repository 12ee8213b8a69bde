import COpenSSL

/// A private certificate authority, for tests and closed networks.
package struct CertificateAuthority: Sendable {
  /// Its certificate (PEM), which peers must trust.
  package let certificatePEM: String
  /// Its private key, PKCS #8 PEM, not encrypted: a secret.
  package let keyPEM: String

  /// A certificate that an authority has issued, with its key.
  package struct Issued: Sendable {
    package let certificatePEM: String
    /// The private key, PKCS #8 PEM, not encrypted: a secret.
    package let keyPEM: String
  }

  /// Wraps an authority that was made earlier. Whether the two belong together shows when something is
  /// issued.
  package init(certificatePEM: String, keyPEM: String) {
    self.certificatePEM = certificatePEM
    self.keyPEM = keyPEM
  }

  /// Makes an ECDSA P-256 key and a certificate for it that may sign others, valid from an hour ago for 1 to
  /// 36500 `days`. At most 64 bytes of common name.
  package static func make(commonName: String, days: Int) throws(CryptoError) -> CertificateAuthority {
    let made = try build(commonName: commonName, days: days, issuer: nil) { certificate in
      co_x509_add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") == 1
        && co_x509_add_extension(certificate, NID_key_usage, "critical,keyCertSign,cRLSign") == 1
    }
    return CertificateAuthority(certificatePEM: made.certificatePEM, keyPEM: made.keyPEM)
  }

  /// Issues a server's certificate for DNS names and addresses, of which at least one is needed.
  package func issueServer(
    commonName: String, dnsNames: [String], ipAddresses: [String], days: Int
  ) throws(CryptoError) -> Issued {
    let names = try SelfSignedCertificate.alternativeNames(dnsNames: dnsNames, ipAddresses: ipAddresses)
    return try Self.build(commonName: commonName, days: days, issuer: self) { certificate in
      Self.addLeafExtensions(to: certificate, usage: "serverAuth")
        && co_x509_add_extension(certificate, NID_subject_alt_name, names) == 1
    }
  }

  /// Issues a client's certificate in the form of Apple's push certificates: the bundle ID as UID, the topics
  /// and the environments in Apple's extensions.
  package func issuePushClient(
    bundleID: String, topics: [CertificateTopic], sandbox: Bool, production: Bool, days: Int
  ) throws(CryptoError) -> Issued {
    let userID = Array(bundleID.utf8)
    guard (1...64).contains(userID.count), userID.allSatisfy({ $0 > 32 }) else {
      throw .invalidName(bundleID)
    }
    let list = CertificateTopic.encode(topics)
    let marker: [UInt8] = [5, 0]
    return try Self.build(commonName: "Apple Push Services: demo", days: days, issuer: self) { certificate in
      Self.addLeafExtensions(to: certificate, usage: "clientAuth")
        && X509_NAME_add_entry_by_txt(
          X509_get_subject_name(certificate), "UID", Int32(CO_MBSTRING_UTF8), userID, Int32(userID.count), -1,
          0)
          == 1
        && co_x509_add_raw_extension(
          certificate, CertificateFacts.OID.topics, 0, list, Int32(list.count)) == 1
        && (!sandbox
          || co_x509_add_raw_extension(certificate, CertificateFacts.OID.sandbox, 0, marker, 2) == 1)
        && (!production
          || co_x509_add_raw_extension(certificate, CertificateFacts.OID.production, 0, marker, 2) == 1)
    }
  }

  private static func addLeafExtensions(to certificate: OpaquePointer, usage: String) -> Bool {
    co_x509_add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") == 1
      && co_x509_add_extension(certificate, NID_key_usage, "critical,digitalSignature") == 1
      && co_x509_add_extension(certificate, NID_ext_key_usage, usage) == 1
  }

  /// Makes a key and a certificate for it, signed by the issuer or by itself.
  private static func build(
    commonName: String, days: Int, issuer: CertificateAuthority?, extend: (OpaquePointer) -> Bool
  ) throws(CryptoError) -> Issued {
    guard (1...36500).contains(days) else { throw .invalidDays(days) }
    guard (1...64).contains(commonName.utf8.count), commonName.utf8.allSatisfy({ $0 >= 32 }) else {
      throw .invalidName(commonName)
    }
    guard let key = co_new_p256_key() else { throw .fromQueue() }
    defer { EVP_PKEY_free(key) }
    guard let certificate = X509_new() else { throw .fromQueue() }
    defer { X509_free(certificate) }
    guard SelfSignedCertificate.fill(certificate, key: key, commonName: commonName, days: days) else {
      throw .fromQueue()
    }
    guard extend(certificate), co_x509_add_extension(certificate, NID_subject_key_identifier, "hash") == 1
    else { throw .fromQueue() }
    if let issuer {
      try issuer.sign(certificate)
    } else if X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1
      || X509_sign(certificate, key, EVP_sha256()) <= 0
    {
      throw .fromQueue()
    }
    return Issued(
      certificatePEM: try PEM.text { PEM_write_bio_X509($0, certificate) },
      keyPEM: try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) })
  }

  private func sign(_ certificate: OpaquePointer) throws(CryptoError) {
    guard let own = PEM.read(certificatePEM, { PEM_read_bio_X509($0, nil, co_no_password, nil) }) else {
      ERR_clear_error()
      throw .notACertificate
    }
    defer { X509_free(own) }
    guard let key = PEM.read(keyPEM, { PEM_read_bio_PrivateKey($0, nil, co_no_password, nil) }) else {
      throw .fromQueue()
    }
    defer { EVP_PKEY_free(key) }
    guard X509_check_private_key(own, key) == 1,
      X509_set_issuer_name(certificate, X509_get_subject_name(own)) == 1,
      co_x509_add_issuer_key(certificate, own) == 1, X509_sign(certificate, key, EVP_sha256()) > 0
    else { throw .fromQueue() }
  }
}
