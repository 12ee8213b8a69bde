import COpenSSL
import Glibc

/// Opens TLS connections to a server on loopback. The certificate is not checked: the bench has just started
/// the server.
final class TLSClient {
  /// Whether a member's last session is offered again.
  var resumes = false
  /// How many handshakes were resumed ones.
  private(set) var resumedCount = 0

  private let context: OpaquePointer
  private var sessions: [Int: OpaquePointer] = [:]

  init() throws(BenchError) {
    guard let context = co_new_tls_context(0) else { throw .unexpected("OpenSSL gives no context") }
    self.context = context
  }

  deinit {
    forgetSessions()
    SSL_CTX_free(context)
  }

  func open(_ descriptor: Int32, member: Int) throws(BenchError) -> TLSLink {
    guard let ssl = SSL_new(context), SSL_set_fd(ssl, descriptor) == 1 else {
      throw .unexpected("OpenSSL gives no connection")
    }
    SSL_set_connect_state(ssl)
    if resumes, let session = sessions[member] { SSL_set_session(ssl, session) }
    return TLSLink(ssl: ssl, member: member, client: self)
  }

  /// Keeps the session of a connection that has read something, and with it the server's ticket.
  fileprivate func keep(_ ssl: OpaquePointer, member: Int) {
    guard let session = SSL_get1_session(ssl) else { return }
    if let old = sessions.updateValue(session, forKey: member) { SSL_SESSION_free(old) }
  }

  fileprivate func countHandshake(_ ssl: OpaquePointer) {
    if SSL_session_reused(ssl) == 1 { resumedCount += 1 }
  }

  private func forgetSessions() {
    for session in sessions.values { SSL_SESSION_free(session) }
    sessions = [:]
  }
}

/// TLS on one connection.
final class TLSLink {
  /// What a call came to.
  enum Outcome {
    /// So many bytes were read; 0 for a handshake that is done.
    case bytes(Int)
    case needMore
    case closed
  }

  private(set) var isOpen = false
  private let ssl: OpaquePointer
  private let member: Int
  private unowned let client: TLSClient

  fileprivate init(ssl: OpaquePointer, member: Int, client: TLSClient) {
    self.ssl = ssl
    self.member = member
    self.client = client
  }

  deinit {
    if isOpen {
      client.keep(ssl, member: member)
      // Without it OpenSSL takes the session for broken and offers it no more.
      SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
    }
    SSL_free(ssl)
  }

  func handshake() -> Outcome {
    var number: Int32 = 0
    switch co_ssl_handshake(ssl, &number) {
    case SSL_ERROR_NONE:
      isOpen = true
      client.countHandshake(ssl)
      return .bytes(0)
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needMore
    default: return .closed
    }
  }

  func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Outcome {
    var count = 0
    var number: Int32 = 0
    switch co_ssl_read(ssl, buffer.baseAddress, buffer.count, &count, &number) {
    case SSL_ERROR_NONE: return .bytes(count)
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needMore
    default: return .closed
    }
  }

  /// How many bytes were taken.
  func write(_ bytes: [UInt8]) -> Int {
    var count = 0
    var number: Int32 = 0
    let outcome = bytes.withUnsafeBytes { co_ssl_write(ssl, $0.baseAddress, $0.count, &count, &number) }
    return outcome == SSL_ERROR_NONE ? count : 0
  }
}
