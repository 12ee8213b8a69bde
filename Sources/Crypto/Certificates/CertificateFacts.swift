import BorealisBase
import COpenSSL

/// The content of an Apple push certificate: app, environments, validity.
package struct CertificateFacts: Equatable, Sendable {
  /// UID of the subject: the bundle ID; of a certificate for device management the topic.
  package let userID: String?
  /// CN of the subject, such as `Apple Push Services: com.example.app`.
  package let commonName: String?
  /// OU of the subject, usually the team ID.
  package let organizationalUnit: String?
  /// May send to the sandbox (extension 1.2.840.113635.100.6.3.1).
  package let allowsSandbox: Bool
  /// May send to production (extension 1.2.840.113635.100.6.3.2).
  package let allowsProduction: Bool
  /// The topics of its extensions; if there are none, the UID.
  package let topics: [CertificateTopic]
  /// When it begins.
  package let notBefore: Timestamp
  /// When it ends.
  package let notAfter: Timestamp
  /// SHA-256 of its DER form, 32 bytes.
  package let fingerprint: [UInt8]

  /// Apple's extensions.
  enum OID {
    static let sandbox = "1.2.840.113635.100.6.3.1"
    static let production = "1.2.840.113635.100.6.3.2"
    static let voipTopics = "1.2.840.113635.100.6.3.4"
    static let topics = "1.2.840.113635.100.6.3.6"
  }

  /// Reads the first certificate of a PEM text: `.noCertificate` or `.unreadableTopics` if that cannot be
  /// done.
  package init(pem: String) throws(CredentialFileError) {
    guard let certificate = PEM.read(pem, { PEM_read_bio_X509($0, nil, co_no_password, nil) }) else {
      ERR_clear_error()
      throw .noCertificate
    }
    defer { X509_free(certificate) }
    try self.init(certificate)
  }

  /// Reads a certificate in DER form, as TLS carries it: `.noCertificate` or `.unreadableTopics` if that
  /// cannot be done.
  package init(der: [UInt8]) throws(CredentialFileError) {
    let certificate = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var start = buffer.baseAddress
      return d2i_X509(nil, &start, buffer.count)
    }
    guard let certificate else {
      ERR_clear_error()
      throw .noCertificate
    }
    defer { X509_free(certificate) }
    try self.init(certificate)
  }

  /// Reads OpenSSL's certificate, which stays the caller's.
  init(_ certificate: OpaquePointer) throws(CredentialFileError) {
    let subject = X509_get_subject_name(certificate)
    userID = Self.entry(subject, NID_userId)
    commonName = Self.entry(subject, NID_commonName)
    organizationalUnit = Self.entry(subject, NID_organizationalUnitName)
    allowsSandbox = Self.value(of: OID.sandbox, in: certificate) != nil
    allowsProduction = Self.value(of: OID.production, in: certificate) != nil
    topics = try Self.topics(certificate, userID: userID)
    notBefore = try Self.time(X509_get0_notBefore(certificate))
    notAfter = try Self.time(X509_get0_notAfter(certificate))
    var digest = [UInt8](repeating: 0, count: 32)
    guard X509_digest(certificate, EVP_sha256(), &digest, nil) == 1 else { throw .fromQueue() }
    fingerprint = digest
  }

  /// Older certificates for calls have a list of their own, which is passed over if it has another form.
  private static func topics(
    _ certificate: OpaquePointer, userID: String?
  ) throws(CredentialFileError) -> [CertificateTopic] {
    var topics: [CertificateTopic] = []
    if let bytes = value(of: OID.topics, in: certificate) {
      guard let list = CertificateTopic.list(extension: bytes) else { throw .unreadableTopics }
      topics = list
    }
    let calls = value(of: OID.voipTopics, in: certificate).flatMap { CertificateTopic.list(extension: $0) }
    for topic in calls ?? [] where !topics.contains(topic) { topics.append(topic) }
    if topics.isEmpty, let userID { topics = [CertificateTopic(name: userID, kind: "")] }
    return topics
  }

  private static func value(of oid: String, in certificate: OpaquePointer) -> [UInt8]? {
    var start: UnsafePointer<UInt8>?
    let count = co_extension(certificate, oid, &start)
    return count < 0 ? nil : Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  private static func entry(_ name: OpaquePointer?, _ kind: Int32) -> String? {
    let text = try? PEM.text { co_print_name_entry($0, name, kind) }
    ERR_clear_error()
    // Control characters have no business in a name and would disturb what shows it.
    guard let text, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else { return nil }
    return text
  }

  private static func time(_ time: UnsafePointer<ASN1_TIME>?) throws(CredentialFileError) -> Timestamp {
    var seconds: Int64 = 0
    guard co_asn1_time_seconds(time, &seconds) == 1 else {
      ERR_clear_error()
      throw .noCertificate
    }
    return Timestamp(milliseconds: seconds * 1000)
  }
}
