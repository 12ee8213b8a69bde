import BorealisBase
import COpenSSL

extension ES256Key {
  /// A request for a certificate (RFC 2986) for this key and some DNS names, in DER form: without a subject,
  /// the names as alternative names. At least one name is needed.
  package func certificateRequest(dnsNames: [String]) throws(CryptoError) -> [UInt8] {
    let names = try SelfSignedCertificate.alternativeNames(dnsNames: dnsNames, ipAddresses: [])
    guard let request = co_new_request(key.handle, names) else { throw .fromQueue() }
    defer { X509_REQ_free(request) }
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509_REQ(request, &start)
    guard count > 0, let start else { throw .fromQueue() }
    defer { CRYPTO_free(start, nil, 0) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }
}

extension CertificateInfo {
  /// Whether the first certificate in PEM text is for all of some DNS names.
  package static func isCertificate(_ pem: String, for names: [String]) -> Bool {
    defer { ERR_clear_error() }
    guard let certificate = PEM.read(pem, { PEM_read_bio_X509($0, nil, co_no_password, nil) }) else {
      return false
    }
    defer { X509_free(certificate) }
    return names.allSatisfy { X509_check_host(certificate, $0, $0.utf8.count, 0, nil) == 1 }
  }
}

extension SelfSignedCertificate {
  /// The certificate that answers ACME's challenge TLS-ALPN-01 for a DNS name (RFC 8737 section 3): it
  /// carries the SHA-256 of the key authorization.
  package static func answeringChallenge(
    for name: String, keyAuthorization: String
  ) throws(CryptoError) -> SelfSignedCertificate {
    let names = try alternativeNames(dnsNames: [name], ipAddresses: [])
    let digest = SHA256.digest(Array(keyAuthorization.utf8))
    // An OCTET STRING of 32 bytes.
    let value: [UInt8] = [0x04, 0x20] + digest
    return try build(commonName: "ACME challenge", days: 7) { certificate in
      co_x509_add_extension(certificate, NID_subject_alt_name, names) == 1
        && co_x509_add_raw_extension(certificate, acmeIdentifier, 1, value, Int32(value.count)) == 1
    }
  }

  /// `id-pe-acmeIdentifier`.
  private static let acmeIdentifier = "1.3.6.1.5.5.7.1.31"
}
