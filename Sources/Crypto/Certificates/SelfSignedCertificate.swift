import BorealisBase
import COpenSSL

/// A server certificate that vouches for itself: for first steps, tests and closed networks. Clients trust it
/// by naming it as their CA file.
package struct SelfSignedCertificate: Sendable {
  package let certificatePEM: String
  /// The private key, PKCS #8 PEM, not encrypted; keep the file readable by the server only.
  package let keyPEM: String
  /// SHA-256 of the certificate's DER form, 64 lower-case hexadecimal digits.
  package let fingerprint: String

  /// Which side of a TLS connection may show the certificate.
  package enum Usage: String, Sendable {
    /// The server.
    case server = "serverAuth"
    /// The client.
    case client = "clientAuth"
  }

  /// Makes an ECDSA P-256 key and a certificate for it (RFC 5280), valid from an hour ago for 1 to 36500
  /// `days`. At most 64 bytes of common name; DNS names may start with `*.`; at least one name or address is
  /// needed.
  package static func make(
    commonName: String, dnsNames: [String], ipAddresses: [String], days: Int, usage: Usage = .server
  ) throws(CryptoError) -> SelfSignedCertificate {
    guard (1...36500).contains(days) else { throw .invalidDays(days) }
    guard (1...64).contains(commonName.utf8.count), commonName.utf8.allSatisfy({ $0 >= 32 }) else {
      throw .invalidName(commonName)
    }
    let alternatives = try alternativeNames(dnsNames: dnsNames, ipAddresses: ipAddresses)
    return try build(commonName: commonName, days: days) { certificate in
      addExtensions(to: certificate, alternatives: alternatives, usage)
    }
  }

  /// Makes a key and a certificate for it, of which `extend` adds the extensions.
  static func build(
    commonName: String, days: Int, extend: (OpaquePointer) -> Bool
  ) throws(CryptoError) -> SelfSignedCertificate {
    guard let key = co_new_p256_key() else { throw .fromQueue() }
    defer { EVP_PKEY_free(key) }
    guard let certificate = X509_new() else { throw .fromQueue() }
    defer { X509_free(certificate) }
    guard fill(certificate, key: key, commonName: commonName, days: days), extend(certificate),
      X509_sign(certificate, key, EVP_sha256()) > 0
    else { throw .fromQueue() }
    let certificatePEM = try PEM.text { PEM_write_bio_X509($0, certificate) }
    let keyPEM = try PEM.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    return SelfSignedCertificate(
      certificatePEM: certificatePEM, keyPEM: keyPEM, fingerprint: try PEM.fingerprint(of: certificate))
  }

  /// Fills in all but the extensions; the subject is the issuer, too.
  static func fill(
    _ certificate: OpaquePointer, key: OpaquePointer, commonName: String, days: Int
  ) -> Bool {
    // A positive serial number of at most 20 bytes, as RFC 5280 section 4.1.2.2 asks.
    var serial = SystemRandom.bytes(16)
    serial[0] = serial[0] & 0x7f | 0x40
    guard let number = BN_bin2bn(serial, Int32(serial.count), nil) else { return false }
    defer { BN_free(number) }
    let name = X509_get_subject_name(certificate)
    let bytes = Array(commonName.utf8)
    return X509_set_version(certificate, 2) == 1
      && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil
      && X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86400) != nil
      && X509_NAME_add_entry_by_txt(
        name, "CN", Int32(CO_MBSTRING_UTF8), bytes, Int32(bytes.count), -1, 0) == 1
      && X509_set_issuer_name(certificate, name) == 1
      && X509_set_pubkey(certificate, key) == 1
  }

  private static func addExtensions(
    to certificate: OpaquePointer, alternatives: String, _ usage: Usage
  ) -> Bool {
    co_x509_add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") == 1
      && co_x509_add_extension(certificate, NID_key_usage, "critical,digitalSignature") == 1
      && co_x509_add_extension(certificate, NID_ext_key_usage, usage.rawValue) == 1
      && co_x509_add_extension(certificate, NID_subject_key_identifier, "hash") == 1
      && co_x509_add_extension(certificate, NID_subject_alt_name, alternatives) == 1
  }

  /// The names in OpenSSL's own notation, where a comma or a line feed would start another entry: so the
  /// alphabet is checked here.
  static func alternativeNames(
    dnsNames: [String], ipAddresses: [String]
  ) throws(CryptoError) -> String {
    var entries: [String] = []
    for name in dnsNames {
      guard isDNSName(name) else { throw .invalidName(name) }
      entries.append("DNS:\(name)")
    }
    for address in ipAddresses {
      guard let octets = a2i_IPADDRESS(address) else {
        ERR_clear_error()
        throw .invalidAddress(address)
      }
      ASN1_OCTET_STRING_free(octets)
      entries.append("IP:\(address)")
    }
    guard !entries.isEmpty else { throw .invalidName("") }
    return entries.joined(separator: ",")
  }

  private static func isDNSName(_ name: String) -> Bool {
    let plain = name.hasPrefix("*.") ? name.dropFirst(2) : Substring(name)
    return (1...253).contains(name.utf8.count)
      && plain.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count)
          && label.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
              || byte == 45 || byte == 95
          }
      }
  }
}
