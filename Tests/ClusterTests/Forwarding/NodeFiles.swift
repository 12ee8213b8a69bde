import Cluster
import Glibc
import PushTesting

/// An authority and certificates of nodes, made by openssl as Docs/operations/cluster.md says.
final class NodeFiles: Sendable {
  struct Failed: Error { let command: String }

  private let folder = TemporaryFolder()
  var authority: String { folder.file("nodes-ca.pem") }

  init() throws {
    try run(
      """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
        -subj "/CN=Borealis nodes" -keyout nodes-ca-key.pem -out nodes-ca.pem
      """)
  }

  /// The TLS of a node with a certificate for a name, for so many days from now and perhaps with one more
  /// extension.
  func node(
    _ name: String, of other: NodeFiles? = nil, days: Int = 825, extension more: String? = nil
  ) throws -> NodeTLS {
    let extensions = ["subjectAltName=DNS:\(name)"] + (more.map { [$0] } ?? [])
    try run(
      """
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=\(name)" \
        \(extensions.map { "-addext \"\($0)\"" }.joined(separator: " ")) \
        -keyout \(name)-key.pem -out \(name).csr
      openssl x509 -req -in \(name).csr -CA nodes-ca.pem -CAkey nodes-ca-key.pem -CAcreateserial \
        -days \(days) -copy_extensions copy -out \(name).pem
      """)
    return try NodeTLS(
      authority: (other ?? self).authority, certificate: folder.file("\(name).pem"),
      key: folder.file("\(name)-key.pem"))
  }

  private func run(_ commands: String) throws {
    guard system("cd \(folder.path) && set -e && { \(commands)\n} >/dev/null 2>&1") == 0 else {
      throw Failed(command: commands)
    }
  }
}
