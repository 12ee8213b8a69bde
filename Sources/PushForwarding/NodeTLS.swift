import Glibc
import PushNet
import Synchronization

/// TLS 1.3 between nodes: each shows the other a certificate of the same authority that carries its node's name.
public final class NodeTLS: Sendable {
  private struct Contexts: Sendable {
    let client: TLSContext
    let server: TLSContext
  }

  /// Why other nodes would refuse this one.
  public struct Refusal: Error, Equatable {
    /// For people.
    public let reason: String
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

  /// Reads the files again, for new connections of a node of this name; fails and changes nothing if other nodes would
  /// refuse it with these.
  public func reload(as name: String) throws {
    let new = try Self.read(authority, certificate, key)
    try Self.check(new, as: name, certificate)
    contexts.withLock { $0 = new }
  }

  /// Fails if other nodes that have the same authority would refuse a node of this name: its certificate is of another
  /// authority, for another name, not valid now, or not for servers and clients.
  public func check(as name: String) throws(Refusal) {
    try Self.check(contexts.withLock { $0 }, as: name, certificate)
  }

  /// Lets both sides show each other the certificate, as two nodes do.
  private static func check(_ contexts: Contexts, as name: String, _ file: String) throws(Refusal) {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
      throw Refusal(reason: "no sockets to check it with: \(SystemError(call: "socketpair", number: errno))")
    }
    defer { for end in ends { close(end) } }
    do {
      let client = try TLSSession(context: contexts.client, fd: ends[0])
      let server = try TLSSession(context: contexts.server, fd: ends[1])
      var (one, other) = (TLSSession.Progress.wantRead, TLSSession.Progress.wantRead)
      // A handshake has two turns of each side.
      for _ in 0..<8 where one != .done || other != .done {
        if one != .done { one = client.handshake() }
        if case .failed(let reason) = one { throw Refusal(reason: "\(file): \(reason)") }
        if other != .done { other = server.handshake() }
        if case .failed(let reason) = other { throw Refusal(reason: "\(file): \(reason)") }
      }
      guard one == .done, other == .done else {
        throw Refusal(reason: "\(file): TLS with this certificate does not complete")
      }
      guard client.isPeer(named: name), server.isPeer(named: name) else {
        throw Refusal(reason: "\(file) is not a certificate for the name \(name)")
      }
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw Refusal(reason: "\(file): \(error)")
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
