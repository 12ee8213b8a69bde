import COpenSSL
import Synchronization

/// Certificates that answer ACME's challenge TLS-ALPN-01 (RFC 8737), each while an order waits for it. A
/// server's context that has them shows one to a client that offers `acme-tls/1` alone and names its DNS
/// name, and ends the connection with the handshake. Without one for the name the handshake fails. Clients
/// that offer anything else do not notice. Safe to use from any thread.
package final class TLSChallenges: Sendable {
  /// The protocol by which a certificate authority asks.
  static let protocolName = "acme-tls/1"
  /// The same as the only one in a client's offer.
  private static let offer = [UInt8(protocolName.utf8.count)] + Array(protocolName.utf8)

  /// A certificate with its key, which OpenSSL only reads.
  private final class Answer: @unchecked Sendable {
    let certificate: OpaquePointer
    let key: OpaquePointer

    /// Nil if they are not in PEM form.
    init?(certificate: [UInt8], key: [UInt8]) {
      guard let certificate = Self.read(certificate, { PEM_read_bio_X509($0, nil, co_no_password, nil) })
      else { return nil }
      guard let key = Self.read(key, { PEM_read_bio_PrivateKey($0, nil, co_no_password, nil) }) else {
        X509_free(certificate)
        return nil
      }
      (self.certificate, self.key) = (certificate, key)
    }

    deinit {
      X509_free(certificate)
      EVP_PKEY_free(key)
    }

    private static func read(_ bytes: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
      bytes.withUnsafeBytes { buffer in
        guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
          return nil
        }
        defer {
          BIO_free(memory)
          ERR_clear_error()
        }
        return body(memory)
      }
    }
  }

  private let answers = Mutex<[String: Answer]>([:])

  /// Answers nothing.
  package init() {}

  /// Answers for a DNS name from now on with a certificate and its key in PEM form. False if these cannot be
  /// read.
  package func answer(for name: String, certificate: [UInt8], key: [UInt8]) -> Bool {
    guard let answer = Answer(certificate: certificate, key: key) else { return false }
    answers.withLock { $0[name.lowercased()] = answer }
    return true
  }

  /// Answers nothing from now on.
  package func removeAll() { answers.withLock { $0 = [:] } }

  // MARK: OpenSSL's callbacks

  /// Has a server's context ask these, which have to live as long as its sessions do.
  func attach(to context: OpaquePointer) {
    SSL_CTX_set_client_hello_cb(
      context,
      { session, alert, argument in
        guard let session, let argument else { return SSL_CLIENT_HELLO_ERROR }
        let own = Unmanaged<TLSChallenges>.fromOpaque(argument).takeUnretainedValue()
        if own.accepts(session) { return SSL_CLIENT_HELLO_SUCCESS }
        alert?.pointee = SSL_AD_UNRECOGNIZED_NAME
        return SSL_CLIENT_HELLO_ERROR
      }, Unmanaged.passUnretained(self).toOpaque())
    // Comes behind the other one, without whose consent there is no handshake with this protocol.
    SSL_CTX_set_alpn_select_cb(
      context,
      { _, picked, pickedCount, offered, count, _ in
        guard let offered, let picked, let pickedCount,
          UnsafeBufferPointer(start: offered, count: Int(count)).elementsEqual(TLSChallenges.offer)
        else { return SSL_TLSEXT_ERR_NOACK }
        picked.pointee = offered + 1
        pickedCount.pointee = UInt8(count - 1)
        return SSL_TLSEXT_ERR_OK
      }, nil)
  }

  /// Whether a handshake may go on: false if it asks for a challenge that nobody waits for. Gives the session
  /// the certificate that answers.
  private func accepts(_ session: OpaquePointer) -> Bool {
    let offered = Self.field(TLSEXT_TYPE_application_layer_protocol_negotiation, session)
    guard offered.dropFirst(2).elementsEqual(Self.offer) else { return true }
    guard let name = Self.serverName(Self.field(TLSEXT_TYPE_server_name, session)),
      let answer = answers.withLock({ $0[name] })
    else { return false }
    defer { ERR_clear_error() }
    return SSL_use_cert_and_key(session, answer.certificate, answer.key, nil, 1) == 1
  }

  /// An extension of the ClientHello; empty without it.
  private static func field(_ type: Int32, _ session: OpaquePointer) -> [UInt8] {
    var start: UnsafePointer<UInt8>?
    var count = 0
    guard SSL_client_hello_get0_ext(session, UInt32(type), &start, &count) == 1, let start else { return [] }
    return Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// The DNS name in small letters of an extension `server_name` (RFC 6066 section 3) with one name; nil for
  /// anything else.
  static func serverName(_ field: [UInt8]) -> String? {
    // The length of the list, the type 0, the length of the name.
    guard field.count > 5, field[2] == 0, Int(field[0]) << 8 | Int(field[1]) == field.count - 2,
      Int(field[3]) << 8 | Int(field[4]) == field.count - 5
    else { return nil }
    return String(validating: field[5...], as: UTF8.self)?.lowercased()
  }
}
