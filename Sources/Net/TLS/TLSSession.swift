import BorealisBase
import COpenSSL
import Glibc

/// TLS on one non-blocking socket. Used by one thread at a time; never closes the socket. After `.failed`
/// only dropping it makes sense.
///
/// OpenSSL does the handshakes. A server's context may say that its sessions with TLS 1.3 are released when
/// their handshake is over, and `RecordTransport` goes on with their keys (Docs/decisions/0110).
///
/// Memory, measured with OpenSSL 3.0 as malloc's bytes in use for each idle server session over 490 sessions:
/// 14.0 kB with TLS 1.3 and 13.0 kB with TLS 1.2, of which 8.2 kB exist before the handshake. Without
/// SSL_MODE_RELEASE_BUFFERS it would be 47 kB. Smaller fragments (SSL_CTX_set_max_send_fragment), a smaller
/// read buffer, no tickets: within 0.1 kB of that, so all are left as they are. The context's chain is
/// shared.
package final class TLSSession {
  /// How far the handshake is.
  package enum Progress: Equatable, Sendable {
    /// The handshake is complete: data may flow.
    case done
    /// Call again when the socket is readable.
    case wantRead
    /// Call again when the socket is writable.
    case wantWrite
    /// The connection is lost; the text says why, for the log.
    case failed(String)
  }

  /// The result of a read or a write.
  package enum Transfer: Equatable, Sendable {
    /// The number of bytes read or written: at least 1, unless the buffer was empty.
    case bytes(Int)
    /// Call again when the socket is readable; a write too may need this.
    case wantRead
    /// Call again when the socket is writable, a write with the same bytes first (they may have moved).
    case wantWrite
    /// The peer closed the session properly.
    case closed
    /// The connection is lost; the text says why, for the log.
    case failed(String)
  }

  /// What protects the bytes.
  private enum Engine {
    case library(OpaquePointer)
    case records(RecordTransport)
  }

  private let context: TLSContext
  private let descriptor: Int32
  private var engine: Engine
  private var broken = false

  /// OpenSSL's object; nil once it was released.
  private var handle: OpaquePointer? { if case .library(let handle) = engine { handle } else { nil } }

  /// Starts a session on a connected socket. A client names the peer: a DNS name or an address that the
  /// certificate must carry; and may offer what `exportSession()` of an earlier session gave.
  package init(
    context: TLSContext, fd: Int32, peerName: String? = nil, resuming session: [UInt8]? = nil
  ) throws(TLSError) {
    ERR_clear_error()
    guard let handle = SSL_new(context.handle) else { throw .library(TLSContext.drainReason()) }
    self.context = context
    descriptor = fd
    engine = .library(handle)
    guard co_set_socket(handle, fd, context.isServer ? 1 : 0, context.releasesSessions ? 1 : 0) == 1 else {
      throw .library(TLSContext.drainReason())
    }
    guard !context.isServer else {
      SSL_set_accept_state(handle)
      return
    }
    SSL_set_connect_state(handle)
    if let peerName {
      guard !peerName.isEmpty, !peerName.utf8.contains(0), co_set_peer_name(handle, peerName) == 1 else {
        throw .library(TLSContext.drainReason())
      }
    }
    if let session { Self.offer(session, on: handle) }
  }

  /// Goes on with a session that another process wrote; nil if it is something else, or without memory.
  init?(context: TLSContext, fd: Int32, from reader: inout ByteReader) {
    guard let records = RecordTransport(from: &reader) else { return nil }
    self.context = context
    descriptor = fd
    engine = .records(records)
  }

  /// Whether another process can go on with the session.
  var isPassable: Bool {
    if case .records(let records) = engine { !broken && records.isPassable } else { false }
  }

  /// Writes what another process needs to go on with the session: see `RecordKeys.write`. False, and nothing
  /// is written, if none can.
  func write(to writer: inout ByteWriter) -> Bool {
    guard isPassable, case .records(let records) = engine else { return false }
    records.write(to: &writer)
    return true
  }

  /// Bytes of content, at the front of what waits to be sent, that are protected already.
  var protectedContent: Int { if case .records(let records) = engine { records.protectedContent } else { 0 } }

  deinit { if case .library(let handle) = engine { SSL_free(handle) } }

  /// A session that cannot be read or used costs a full handshake, nothing else.
  private static func offer(_ bytes: [UInt8], on handle: OpaquePointer) {
    bytes.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      guard let session = d2i_SSL_SESSION(nil, &cursor, buffer.count) else { return }
      _ = SSL_set_session(handle, session)
      SSL_SESSION_free(session)
    }
    ERR_clear_error()
  }

  /// Continues the handshake; call until `.done`.
  package func handshake() -> Progress {
    guard !broken else { return .failed("the session failed before") }
    guard let handle else { return .done }
    var errorNumber: Int32 = 0
    switch co_ssl_handshake(handle, &errorNumber) {
    case SSL_ERROR_NONE:
      if context.challenges != nil, applicationProtocol == TLSChallenges.protocolName {
        // Nothing else follows on such a connection (RFC 8737 section 3).
        shutdown()
        broken = true
        return .failed("a challenge of a certificate authority was answered")
      }
      if context.releasesSessions { release(handle) }
      return .done
    case SSL_ERROR_WANT_READ: return .wantRead
    case SSL_ERROR_WANT_WRITE: return .wantWrite
    case SSL_ERROR_ZERO_RETURN:
      broken = true
      return .failed("the peer closed during the handshake")
    default: return .failed(failure(errorNumber, of: handle))
    }
  }

  /// Takes the keys of a session whose handshake is over, and frees OpenSSL's object. One that OpenSSL has to
  /// go on with stays as it is.
  private func release(_ handle: OpaquePointer) {
    var state = co_record_state()
    defer { co_cleanse_records(&state) }
    guard co_take_records(handle, &state) == 1, var layer = RecordLayer(state) else {
      return co_forget_secrets(handle)
    }
    defer { layer.wipe() }
    engine = .records(RecordTransport(layer, isResumed: SSL_session_reused(handle) == 1))
    SSL_free(handle)
  }

  /// Reads decrypted bytes.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    transfer(size: buffer.count) { records in
      records.read(descriptor, into: buffer)
    } library: {
      co_ssl_read($0, buffer.baseAddress, buffer.count, &$1, &$2)
    }
  }

  /// Encrypts and sends bytes, possibly only the first of them.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    transfer(size: bytes.count) { records in
      records.write(descriptor, bytes)
    } library: {
      co_ssl_write($0, bytes.baseAddress, bytes.count, &$1, &$2)
    }
  }

  private func transfer(
    size: Int, records: (RecordTransport) -> Transfer,
    library: (OpaquePointer, inout Int, inout Int32) -> Int32
  ) -> Transfer {
    guard !broken else { return .failed("the session failed before") }
    guard size > 0 else { return .bytes(0) }
    switch engine {
    case .records(let transport):
      let transfer = records(transport)
      if case .failed = transfer { broken = true }
      return transfer
    case .library(let handle):
      var count = 0
      var errorNumber: Int32 = 0
      switch library(handle, &count, &errorNumber) {
      case SSL_ERROR_NONE: return .bytes(count)
      case SSL_ERROR_WANT_READ: return .wantRead
      case SSL_ERROR_WANT_WRITE: return .wantWrite
      case SSL_ERROR_ZERO_RETURN: return .closed
      default: return .failed(failure(errorNumber, of: handle))
      }
    }
  }

  private func failure(_ errorNumber: Int32, of handle: OpaquePointer) -> String {
    broken = true
    let verified = SSL_get_verify_result(handle)
    if SSL_get_verify_mode(handle) != SSL_VERIFY_NONE, verified != Int(X509_V_OK) {
      ERR_clear_error()
      return "certificate refused: " + String(cString: X509_verify_cert_error_string(verified))
    }
    if ERR_peek_error() != 0 { return TLSContext.drainReason() }
    return errorNumber == 0 ? "the peer vanished" : String(cString: strerror(errorNumber))
  }

  /// Decrypted bytes that wait inside the session: the socket will not become readable for them.
  package var pending: Int {
    switch engine {
    case .library(let handle): Int(SSL_pending(handle))
    case .records(let records): records.pending
    }
  }

  /// Whether the handshake resumed an earlier session.
  package var isResumed: Bool {
    switch engine {
    case .library(let handle): SSL_session_reused(handle) == 1
    case .records(let records): records.isResumed
    }
  }

  /// Whether OpenSSL's object was released.
  package var isReleased: Bool { handle == nil }

  /// Takes as much as there is from the socket at once, several records if they fit: fewer system calls for
  /// busy connections. From now on the owner must read until `.wantRead`, since the socket does not become
  /// readable for what the session holds.
  package func readAhead() {
    // `RecordTransport` always does.
    guard let handle else { return }
    SSL_set_default_read_buffer_len(handle, 64 << 10)
    SSL_set_read_ahead(handle, 1)
  }

  /// The protocol both sides agreed on by ALPN (RFC 7301), nil if the client offered or the server picked
  /// none.
  package var applicationProtocol: String? {
    guard let handle else { return nil }
    var start: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(handle, &start, &count)
    guard let start, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }

  /// The peer's own certificate in DER form, nil if it has shown none.
  package var peerCertificate: [UInt8]? {
    guard let handle, let certificate = SSL_get1_peer_certificate(handle) else { return nil }
    defer { X509_free(certificate) }
    let size = Int(i2d_X509(certificate, nil))
    guard size > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      var cursor = buffer.baseAddress
      count = max(0, Int(i2d_X509(certificate, &cursor)))
    }
  }

  /// Whether the peer has shown a certificate for this DNS name. Names in the subject count only if it has no
  /// others (RFC 6125 section 6.4.4), patterns only as a whole label.
  package func isPeer(named name: String) -> Bool {
    guard !name.isEmpty, let handle, let certificate = SSL_get1_peer_certificate(handle) else { return false }
    defer { X509_free(certificate) }
    let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
    return X509_check_host(certificate, name, name.utf8.count, flags, nil) == 1
  }

  /// The agreed version, such as `TLSv1.3`.
  package var version: String {
    // No other version is released.
    guard let handle else { return "TLSv1.3" }
    return SSL_get_version(handle).map { String(cString: $0) } ?? ""
  }

  /// Sends close_notify if the socket accepts it now; does not wait for a response.
  package func shutdown() {
    guard !broken else { return }
    switch engine {
    case .records(let records): records.send(.closeNotify, descriptor)
    case .library(let handle):
      guard SSL_is_init_finished(handle) == 1 else { return }
      ERR_clear_error()
      _ = SSL_shutdown(handle)
      ERR_clear_error()
    }
  }

  /// A client's session for `resuming`, nil while the server has given none: with TLS 1.3 the ticket comes
  /// after the handshake, with the first bytes read. Holds secrets.
  package func exportSession() -> [UInt8]? {
    guard let handle, let session = SSL_get1_session(handle) else { return nil }
    defer { SSL_SESSION_free(session) }
    guard SSL_SESSION_is_resumable(session) == 1 else { return nil }
    let size = Int(i2d_SSL_SESSION(session, nil))
    guard size > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      var cursor = buffer.baseAddress
      count = max(0, Int(i2d_SSL_SESSION(session, &cursor)))
    }
  }
}

extension RecordLayer {
  /// What goes on with the keys of a handshake; nil without memory.
  fileprivate init?(_ state: co_record_state) {
    guard let suite = RecordSuite(rawValue: state.suite) else { return nil }
    var state = state
    defer { co_cleanse_records(&state) }
    let size = Int(state.secret_size)
    var reading = withUnsafeBytes(of: &state.reading) {
      RecordKeys(suite, secret: UnsafeRawBufferPointer(rebasing: $0[..<size]))
    }
    let sequence = UInt64(state.written)
    var writing = withUnsafeBytes(of: &state.writing) {
      RecordKeys(suite, secret: UnsafeRawBufferPointer(rebasing: $0[..<size]), sequence: sequence)
    }
    defer {
      reading?.wipe()
      writing?.wipe()
    }
    guard let reading, let writing else { return nil }
    self.init(reading: reading, writing: writing, largest: Int(state.largest))
  }
}
