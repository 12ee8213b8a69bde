import BorealisCrypto
import BorealisNet
import Glibc
import PushTesting

/// A new certificate and its key in a directory of their own, gone with the object.
final class TLSTestFiles: Sendable {
  struct Failed: Error {}

  private let folder = TemporaryFolder()
  var certificate: String { folder.file("certificate.pem") }
  var key: String { folder.file("key.pem") }

  init() throws {
    let made = try SelfSignedCertificate.make(
      commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1", "::1"], days: 2)
    try TemporaryFolder.write(made.certificatePEM, to: certificate)
    try TemporaryFolder.write(made.keyPEM, to: key)
  }

  /// With `releasesSessions` as the device port has it.
  func server(releasesSessions: Bool = false) throws -> TLSContext {
    try TLSContext.server(certificatePath: certificate, keyPath: key, releasesSessions: releasesSessions)
  }
}

/// A server's and a client's session over a socket pair, moved by hand.
final class TLSPair {
  let server: TLSSession
  let client: TLSSession
  private(set) var descriptors: [Int32]

  init(server: TLSContext, client: TLSContext, peerName: String, resuming: [UInt8]? = nil) throws {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, SocketKind.nonBlockingStream, 0, &pair) == 0 else {
      throw TLSTestFiles.Failed()
    }
    descriptors = pair
    self.server = try TLSSession(context: server, fd: pair[0])
    self.client = try TLSSession(context: client, fd: pair[1], peerName: peerName, resuming: resuming)
  }

  deinit { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }

  func closeClient() {
    close(descriptors[1])
    descriptors[1] = -1
  }

  /// Takes turns until nothing moves; the outcome of the server, then the client.
  func handshake() -> [TLSSession.Progress] {
    var outcome: [TLSSession.Progress] = [.wantRead, .wantRead]
    for _ in 0..<10 {
      if outcome[1] == .wantRead { outcome[1] = client.handshake() }
      if outcome[0] == .wantRead { outcome[0] = server.handshake() }
    }
    return outcome
  }

  func read(_ session: TLSSession, _ capacity: Int) -> ([UInt8], TLSSession.Transfer) {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let transfer = buffer.withUnsafeMutableBytes { session.read(into: $0) }
    guard case .bytes(let count) = transfer else { return ([], transfer) }
    return (Array(buffer.prefix(count)), transfer)
  }

  /// Moves bytes across, more than the socket's buffer takes at once; gives what arrived.
  func carry(_ bytes: [UInt8], from source: TLSSession, to sink: TLSSession) -> [UInt8] {
    var sent = 0
    var arrived: [UInt8] = []
    for _ in 0..<10_000 where arrived.count < bytes.count {
      // A new array each time: the bytes may move between attempts.
      let rest = Array(bytes[sent...])
      if !rest.isEmpty, case .bytes(let count) = rest.withUnsafeBytes({ source.write($0) }) { sent += count }
      arrived += read(sink, 5000).0
    }
    return arrived
  }
}
