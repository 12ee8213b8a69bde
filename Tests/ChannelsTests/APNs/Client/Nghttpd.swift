import BorealisCrypto
import CLinux
import Glibc
import PushTesting

/// Another HTTP/2 implementation's server (Debian's nghttp2-server), gone with the object. It answers every
/// POST 200 with the request's body.
final class Nghttpd {
  struct Failed: Error {}

  let port: UInt16
  let certificate: [UInt8]
  private let folder = TemporaryFolder()
  private let process: pid_t

  /// Whether it is installed.
  static let isInstalled = path != nil
  private static let path: String? = ["/usr/bin/nghttpd", "/usr/sbin/nghttpd"].first { access($0, X_OK) == 0 }

  init(streams: Int) throws {
    let made = try SelfSignedCertificate.make(
      commonName: "localhost", dnsNames: ["localhost"], ipAddresses: [], days: 2)
    certificate = Array(made.certificatePEM.utf8)
    try TemporaryFolder.write(made.certificatePEM, to: folder.file("certificate"))
    try TemporaryFolder.write(made.keyPEM, to: folder.file("key"))
    port = try Self.freePort()
    guard let path = Self.path else { throw Failed() }
    process = try ChildProcess.start(
      path,
      [
        "-n1", "-m\(streams)", "--address=127.0.0.1", "--echo-upload", "\(port)", folder.file("key"),
        folder.file("certificate"),
      ])
  }

  deinit {
    kill(process, SIGKILL)
    ChildProcess.wait(for: process)
  }

  private static func freePort() throws -> UInt16 {
    let listener = cl_listen("127.0.0.1", 0, 1, 0)
    defer { _ = cl_close(listener) }
    let port = cl_local_port(listener)
    guard port > 0 else { throw Failed() }
    return UInt16(port)
  }
}
