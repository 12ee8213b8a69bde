import COpenSSL
import Glibc
import PushTesting

/// A client of OpenSSL's own on one end of a socket pair, which can do what no client of ours does.
final class OpenSSLClient {
  struct Failed: Error {}

  let context: OpaquePointer
  let session: OpaquePointer
  private(set) var descriptor: Int32

  /// `suites`, `groups` and `fragment` are OpenSSL's: names of cipher suites and of groups, and the largest
  /// content of a record as 1 to 4 for 512 bytes to 4 KiB.
  init(_ descriptor: Int32, suites: String? = nil, groups: String? = nil, fragment: UInt8 = 0) throws {
    self.descriptor = descriptor
    guard let context = SSL_CTX_new(TLS_client_method()), let session = SSL_new(context) else {
      throw Failed()
    }
    (self.context, self.session) = (context, session)
    SSL_set_connect_state(session)
    guard SSL_set_fd(session, descriptor) == 1, suites.map({ SSL_set_ciphersuites(session, $0) }) != 0,
      groups.map({ Self.setGroups($0, of: session) }) != 0,
      fragment == 0 || SSL_set_tlsext_max_fragment_length(session, fragment) == 1
    else { throw Failed() }
  }

  private static func setGroups(_ groups: String, of session: OpaquePointer) -> Int {
    var text = Array(groups.utf8CString)
    return SSL_ctrl(session, Int32(SSL_CTRL_SET_GROUPS_LIST), 0, &text)
  }

  deinit {
    SSL_free(session)
    SSL_CTX_free(context)
    closeSocket()
  }

  func closeSocket() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  func handshake() -> Bool { SSL_do_handshake(session) == 1 }

  /// Announces new keys (RFC 8446 section 4.6.3), and asks the peer for the same.
  func updateKeys(asking: Bool) -> Bool {
    SSL_key_update(session, asking ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1
      && SSL_do_handshake(session) == 1
  }

  /// Sends the first of some bytes, at most a record; how many, or nil if the socket takes none.
  func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32(min($0.count, 16_384))) }
    return count > 0 ? Int(count) : nil
  }

  /// What has come; nil if there is nothing, or an end.
  func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 20_000)
    let count = SSL_read(session, &buffer, Int32(buffer.count))
    return count > 0 ? Array(buffer.prefix(Int(count))) : nil
  }

  /// The alert that ended the connection, or another of OpenSSL's reasons.
  func reason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    return ERR_reason_error_string(code).map { String(cString: $0) } ?? ""
  }

  /// Whether the peer has ended the connection properly.
  var isEnded: Bool { SSL_get_shutdown(session) & SSL_RECEIVED_SHUTDOWN != 0 }

  func shutdown() { _ = SSL_shutdown(session) }
}
