import BorealisNet

/// What TLS connections to a server on loopback share. The certificate is not checked: the bench has just
/// started the server.
final class TLSClient {
  /// Whether a member's last session is offered again.
  var resumes = false
  /// How many handshakes were resumed ones.
  private(set) var resumedCount = 0

  private let context: TLSContext
  private var sessions: [Int: [UInt8]] = [:]

  init() throws(BenchError) {
    do throws(TLSError) {
      context = try TLSContext.client(verifies: false)
    } catch {
      throw .unexpected(error.description)
    }
  }

  /// Lets a member's connection speak TLS.
  func secure(_ connection: inout Connection, member: Int) throws(BenchError) {
    do throws(TLSError) {
      try connection.secure(with: context, peerName: nil, resuming: resumes ? sessions[member] : nil)
    } catch {
      throw .unexpected(error.description)
    }
  }

  /// A handshake is done.
  func opened(_ connection: Connection) { if connection.tls?.isResumed == true { resumedCount += 1 } }

  /// Keeps the session of a connection that ends, which has the server's ticket once something was read.
  func closed(_ connection: Connection, member: Int) {
    if connection.stage == .open, let session = connection.tls?.exportSession() { sessions[member] = session }
  }
}
