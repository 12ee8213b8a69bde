import BorealisBase
import COpenSSL

/// The facts about a certificate for operators.
package struct CertificateInfo: Equatable, Sendable {
  /// The subject in the notation of RFC 2253, for example `CN=push.example.com`.
  package let subject: String
  /// When the certificate begins to be valid.
  package let notBefore: Timestamp
  /// When the certificate ends.
  package let notAfter: Timestamp
  /// SHA-256 of the certificate's DER form, 64 lower-case hexadecimal digits.
  package let fingerprint: String

  /// Reads the first certificate in PEM text; throws `.notACertificate` for anything else.
  package init(pem: String) throws(CryptoError) {
    // A header that claims encryption would make OpenSSL ask for a password on the terminal.
    guard let certificate = PEM.read(pem, { PEM_read_bio_X509($0, nil, co_no_password, nil) }) else {
      ERR_clear_error()
      throw .notACertificate
    }
    defer { X509_free(certificate) }
    var (start, end): (Int64, Int64) = (0, 0)
    guard co_asn1_time_seconds(X509_get0_notBefore(certificate), &start) == 1,
      co_asn1_time_seconds(X509_get0_notAfter(certificate), &end) == 1
    else { throw .fromQueue() }
    subject = try PEM.text {
      // Gives the length: 0 for a certificate without a subject.
      co_print_name($0, X509_get_subject_name(certificate)) < 0 ? 0 : 1
    }
    notBefore = Timestamp(milliseconds: start * 1000)
    notAfter = Timestamp(milliseconds: end * 1000)
    fingerprint = try PEM.fingerprint(of: certificate)
  }
}
