import Glibc

/// A handshake between two contexts within this process, which shows whether each accepts the other's
/// certificate.
package enum TLSLoopback {
  /// Why there was no handshake between the two.
  package struct Failure: Error, Equatable {
    /// For people.
    package let reason: String
  }

  /// Connects a client's context with a server's, and fails if one refuses the other or if a certificate is
  /// not for `name`.
  package static func connect(client: TLSContext, server: TLSContext, as name: String) throws(Failure) {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
      throw Failure(reason: "no sockets for a handshake: error \(errno)")
    }
    defer { for end in ends { close(end) } }
    do {
      let client = try TLSSession(context: client, fd: ends[0])
      let server = try TLSSession(context: server, fd: ends[1])
      var (one, other) = (TLSSession.Progress.wantRead, TLSSession.Progress.wantRead)
      // A handshake has two turns of each side.
      for _ in 0..<8 where one != .done || other != .done {
        if one != .done { one = client.handshake() }
        if case .failed(let reason) = one { throw Failure(reason: reason) }
        if other != .done { other = server.handshake() }
        if case .failed(let reason) = other { throw Failure(reason: reason) }
      }
      guard one == .done, other == .done else { throw Failure(reason: "the TLS handshake does not complete") }
      guard client.isPeer(named: name), server.isPeer(named: name) else {
        throw Failure(reason: "it is not a certificate for the name \(name)")
      }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(reason: "\(error)")
    }
  }
}
