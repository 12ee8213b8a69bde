import Foundation
import PushCrypto
import PushTesting

/// Certificates as Apple issues them, made by the `openssl` command.
enum TestCertificate {
  struct Failure: Error {}

  /// For `com.example.app` of the team T5Z8W1R6PD; by default for both environments.
  static func make(
    days: Int = 398, name: String = "com.example.app",
    extensions: [String] = ["1.2.840.113635.100.6.3.1=ASN1:NULL", "1.2.840.113635.100.6.3.2=ASN1:NULL"]
  ) async throws -> CertificateKeyPair {
    let folder = FileManager.default.temporaryDirectory.appending(path: "borealis-apns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout",
        "key.pem", "-out", "certificate.pem", "-days", "\(days)", "-subj",
        "/UID=\(name)/CN=Apple Push Services: \(name)/OU=T5Z8W1R6PD",
      ] + extensions.flatMap { ["-addext", $0] }
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    let status = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    guard status == 0 else { throw Failure() }
    return try CertificateKeyPair(
      certificates: Array(try Data(contentsOf: folder.appending(path: "certificate.pem"))),
      key: Array(try Data(contentsOf: folder.appending(path: "key.pem"))))
  }
}
