import BorealisCrypto
import Glibc
import PushTesting

/// Debian's pebble, a certificate authority for tests, which forgets everything between two starts. It ends
/// with this object, or with the process.
final class Pebble {
  private let folder = TemporaryFolder()
  private let port = FixedPort.reserve()
  private let managementPort = FixedPort.reserve()
  private var shell: pid_t = 0
  private var orders: Int32 = -1

  /// Makes its own server's certificate. It starts later, once the ports are known that it has to ask at.
  init() throws {
    let made = try SelfSignedCertificate.make(
      commonName: "pebble", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
    try TemporaryFolder.write(made.certificatePEM, to: folder.file("server.pem"))
    try TemporaryFolder.write(made.keyPEM, to: folder.file("server-key.pem"))
  }

  deinit { kill() }

  /// The URL of its directory.
  var directory: String { "https://127.0.0.1:\(port)/dir" }

  /// The settings of a server that gets its certificate here.
  var settings: [String] {
    [
      "--acme-domain", "localhost", "--acme-accept-terms", "--acme-directory", directory, "--acme-ca-file",
      folder.file("server.pem"),
    ]
  }

  /// Starts it. It asks at the ports of these addresses, issues certificates for an hour, and refuses a share
  /// of the good nonces in percent.
  func start(http: String? = nil, tls: String? = nil, refusing nonces: Int = 50) throws {
    func port(_ address: String?) -> Int { address?.split(separator: ":").last.flatMap { Int($0) } ?? 1 }
    let text = """
      {"pebble": {"listenAddress": "127.0.0.1:\(self.port)",
      "managementListenAddress": "127.0.0.1:\(managementPort)",
      "certificate": "\(folder.file("server.pem"))", "privateKey": "\(folder.file("server-key.pem"))",
      "httpPort": \(port(http)), "tlsPort": \(port(tls)), "certificateValidityPeriod": 3600}}
      """
    try TemporaryFolder.write(text, to: folder.file("pebble.json"))
    var pipes: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, SocketKind.closingStream, 0, &pipes) == 0 else {
      throw RunningProgram.Failure(description: "no pipe")
    }
    orders = pipes[1]
    defer { close(pipes[0]) }
    shell = try ChildProcess.start(
      "/bin/sh", ["-c", Self.script, "sh", folder.path, String(nonces)], input: .descriptor(pipes[0]))
    guard RunningProgram.eventually({ log.contains(" available at: ") && log.contains("ACME directory") })
    else { throw RunningProgram.Failure(description: "pebble does not start: \(log)") }
    try fetchRoot()
  }

  /// Ends it at once.
  func kill() {
    guard orders >= 0 else { return }
    close(orders)
    orders = -1
    ChildProcess.wait(for: shell)
  }

  /// What it has written.
  var log: String { TemporaryFolder.read(folder.file("log")) }

  /// The certificate that vouches for what it issues.
  var root: String { folder.file("root.pem") }

  private func fetchRoot() throws {
    let process = try ChildProcess.start(
      "/bin/sh", ["-c", Self.fetch, "sh", folder.path, String(managementPort)], input: .reading("/dev/null"))
    ChildProcess.wait(for: process)
    guard TemporaryFolder.read(root).contains("-----END CERTIFICATE-----") else {
      throw RunningProgram.Failure(description: "pebble has no root certificate: \(log)")
    }
  }

  /// $1 is the folder, $2 the share of nonces. The end of the orders is the order to end.
  private static let script = #"""
    export PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=$2
    pebble -strict -config "$1/pebble.json" >"$1/log" 2>&1 </dev/null &
    read -r _
    kill -KILL $!
    """#

  /// $1 is the folder, $2 the port for management.
  private static let fetch = #"""
    printf 'GET /roots/0 HTTP/1.0\r\n\r\n' | openssl s_client -quiet -connect 127.0.0.1:$2 2>/dev/null |
      sed -n '/BEGIN CERTIFICATE/,/END CERTIFICATE/p' >"$1/root.pem"
    """#
}
