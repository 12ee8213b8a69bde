import PushNet
import Synchronization

/// TLS 1.3 between nodes: each shows the other a certificate of the same authority that carries its node's name.
public final class NodeTLS: Sendable {
  private struct Contexts: Sendable {
    let client: TLSContext
    let server: TLSContext
  }

  private let authority: String
  private let certificate: String
  private let key: String
  private let contexts: Mutex<Contexts>

  /// Reads PEM files: the certificate of the authority, this node's chain with its own certificate first, and its key,
  /// not encrypted.
  public init(authority: String, certificate: String, key: String) throws(TLSError) {
    (self.authority, self.certificate, self.key) = (authority, certificate, key)
    contexts = Mutex(try Self.read(authority, certificate, key))
  }

  /// Reads the files again, for new connections.
  public func reload() throws(TLSError) {
    let new = try Self.read(authority, certificate, key)
    contexts.withLock { $0 = new }
  }

  /// For connections to other nodes.
  var client: TLSContext { contexts.withLock { $0.client } }

  /// For connections of other nodes.
  var server: TLSContext { contexts.withLock { $0.server } }

  private static func read(
    _ authority: String, _ certificate: String, _ key: String
  ) throws(TLSError) -> Contexts {
    let identity = TLSIdentity.files(certificatePath: certificate, keyPath: key)
    return Contexts(
      client: try .client(trust: .file(authority), identity: identity, versions: .only13),
      server: try .server(
        identity: identity, clients: .required(.file(authority)), versions: .only13))
  }
}
