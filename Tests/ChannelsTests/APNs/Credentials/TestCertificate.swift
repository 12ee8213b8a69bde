import BorealisCrypto
import PushTesting

/// Certificates as Apple issues them, made by the `openssl` command.
enum TestCertificate {
  /// For `com.example.app` of the team T5Z8W1R6PD; by default for both environments.
  static func make(
    days: Int = 398, name: String = "com.example.app",
    extensions: [String] = ["1.2.840.113635.100.6.3.1=ASN1:NULL", "1.2.840.113635.100.6.3.2=ASN1:NULL"]
  ) throws -> CertificateKeyPair {
    let tool = OpenSSLTool()
    try tool.run(
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
        "key.pem",
        "-out", "certificate.pem", "-days", "\(days)", "-subj",
        "/UID=\(name)/CN=Apple Push Services: \(name)/OU=T5Z8W1R6PD",
      ] + extensions.flatMap { ["-addext", $0] })
    return try CertificateKeyPair(certificates: tool.bytes("certificate.pem"), key: tool.bytes("key.pem"))
  }
}
