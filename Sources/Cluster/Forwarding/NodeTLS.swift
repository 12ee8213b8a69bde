import BorealisNet
import Synchronization

/// TLS 1.3 between nodes: each shows the other a certificate of the same authority that carries its node's
/// name.
package final class NodeTLS: Sendable {
  private struct Contexts: Sendable {
    let client: TLSContext
    let server: TLSContext
  }

  /// Why other nodes would refuse this one.
  package struct Refusal: Error, Equatable {
    /// For people.
    package let reason: String
  }

  private let authority: String
  private let certificate: String
  private let key: String
  private let contexts: Mutex<Contexts>

  /// Reads PEM files: the certificate of the authority, this node's chain with its own certificate first, and
  /// its key, not encrypted.
  package init(authority: String, certificate: String, key: String) throws(TLSError) {
    (self.authority, self.certificate, self.key) = (authority, certificate, key)
    contexts = Mutex(try Self.read(authority, certificate, key))
  }

  /// Reads the files again, for new connections of a node of this name; fails and changes nothing if other
  /// nodes would refuse it with these.
  package func reload(as name: String) throws {
    let new = try Self.read(authority, certificate, key)
    try Self.check(new, as: name, certificate)
    contexts.withLock { $0 = new }
  }

  /// Fails if other nodes that have the same authority would refuse a node of this name: its certificate is
  /// of another authority, for another name, not valid now, or not for servers and clients.
  package func check(as name: String) throws(Refusal) {
    try Self.check(contexts.withLock { $0 }, as: name, certificate)
  }

  /// Lets both sides show each other the certificate, as two nodes do.
  private static func check(_ contexts: Contexts, as name: String, _ file: String) throws(Refusal) {
    do throws(TLSLoopback.Failure) {
      try TLSLoopback.connect(client: contexts.client, server: contexts.server, as: name)
    } catch {
      throw Refusal(reason: "\(file): \(error.reason)")
    }
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
