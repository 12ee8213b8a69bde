import Glibc

/// A folder in which the `openssl` command makes files for a test; it goes away with this object.
package final class OpenSSLTool: Sendable {
  /// It ended with an error.
  package struct Failure: Error, CustomStringConvertible {
    /// The command, and what it wrote.
    package let description: String
  }

  private let folder = TemporaryFolder()

  /// With an empty folder.
  package init() {}

  /// Runs `openssl` in the folder; the words of `command` are split at spaces, `more` are passed as they are.
  @discardableResult
  package func run(_ command: String, _ more: String...) throws -> String {
    try run(command.split(separator: " ").map(String.init) + more)
  }

  /// Runs `openssl` in the folder; what it wrote to standard output and standard error.
  @discardableResult
  package func run(_ arguments: [String]) throws -> String {
    let log = folder.file("log")
    unlink(log)
    let process = try ChildProcess.start(
      "openssl", arguments, in: folder.path, input: .reading("/dev/null"), output: .appending(log),
      errors: .appending(log))
    let status = ChildProcess.wait(for: process)
    let text = TemporaryFolder.read(log)
    guard status == 0 else {
      throw Failure(description: "openssl \(arguments.joined(separator: " ")): \(text)")
    }
    return text
  }

  /// The content of a file in the folder, empty if there is none.
  package func bytes(_ name: String) -> [UInt8] { TemporaryFolder.bytes(folder.file(name)) }

  /// The same as text.
  package func text(_ name: String) -> String { TemporaryFolder.read(folder.file(name)) }

  /// Makes or replaces a file in the folder.
  package func write(_ bytes: [UInt8], to name: String) throws {
    try TemporaryFolder.write(bytes, to: folder.file(name))
  }

  /// Makes `key.pem` and `certificate.pem` as Apple's "Push Services" certificates look.
  package func makeCertificate(
    subject: String = "/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=T5Z8W1R6PD",
    extensions: [String] = ["1.2.840.113635.100.6.3.1=ASN1:NULL", "1.2.840.113635.100.6.3.2=ASN1:NULL"],
    days: Int = 398, key: String = "ec -pkeyopt ec_paramgen_curve:P-256", name: String = "certificate"
  ) throws {
    try run("genpkey -algorithm \(key) -out key.pem")
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
    try run(
      "req -x509 -new -utf8 -config config -key key.pem -days \(days) -out \(name).pem -subj", subject)
  }
}
