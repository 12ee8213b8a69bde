import Foundation
import Testing

/// A folder in which the `openssl` command makes files for a test; it goes away with this object.
final class OpenSSLTool: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "borealis-crypto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs `openssl` in the folder; the words of `command` are split at spaces, `more` are passed as they are.
  @discardableResult
  func run(_ command: String, _ more: String...) async throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + command.split(separator: " ").map(String.init) + more
    process.currentDirectoryURL = folder
    let log = folder.appending(path: "log-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let output = try FileHandle(forWritingTo: log)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    let status = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    let text = try String(contentsOf: log, encoding: .utf8)
    guard status == 0 else { throw Failure(description: "openssl \(command): \(text)") }
    return text
  }

  func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  /// Makes `key.pem` and `certificate.pem` as Apple's "Push Services" certificates look.
  func makeCertificate(
    subject: String = "/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=T5Z8W1R6PD",
    extensions: [String] = ["1.2.840.113635.100.6.3.1=ASN1:NULL", "1.2.840.113635.100.6.3.2=ASN1:NULL"],
    days: Int = 398, key: String = "ec -pkeyopt ec_paramgen_curve:P-256", name: String = "certificate"
  ) async throws {
    try await run("genpkey -algorithm \(key) -out key.pem")
    try write(
      Array(
        """
        [req]
        distinguished_name = name
        x509_extensions = extensions
        [name]
        [extensions]
        basicConstraints = CA:FALSE
        \(extensions.joined(separator: "\n"))

        """.utf8), to: "config")
    try await run(
      "req -x509 -new -utf8 -config config -key key.pem -days \(days) -out \(name).pem -subj", subject)
  }
}
