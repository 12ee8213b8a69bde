import COpenSSL
import Glibc

/// Why TLS could not be set up.
package enum TLSError: Error, Equatable, CustomStringConvertible {
  /// A file cannot be opened; with the system's reason.
  case unreadable(path: String, reason: String)
  /// A file was read and does not hold what it should; with OpenSSL's reason.
  case invalid(path: String, reason: String)
  /// The private key belongs to another certificate.
  case keyDoesNotMatch(certificatePath: String, keyPath: String)
  /// OpenSSL refused; with its reason.
  case library(String)

  /// One line for people.
  package var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
    case .invalid(let path, let reason): "\(path) cannot be used for TLS: \(reason)"
    case .keyDoesNotMatch(let certificate, let key): "the key in \(key) is not the one of \(certificate)"
    case .library(let reason): "OpenSSL: \(reason)"
    }
  }
}

/// What all TLS connections of one side share: certificate and key, or trusted CAs. TLS 1.2 and 1.3; ECDHE
/// with AES-GCM or ChaCha20 only; no renegotiation, no compression.
///
/// OpenSSL locks what connections on several threads share once a context is complete, and nothing changes a
/// context after its init: so it may be used from any thread. A certificate is renewed by a new context for
/// new connections.
package final class TLSContext: @unchecked Sendable {
  /// Which protocol versions are offered.
  package enum Versions: Sendable {
    /// TLS 1.2 and 1.3.
    case all
    /// TLS 1.2 only.
    case only12
    /// TLS 1.3 only.
    case only13
  }

  let handle: OpaquePointer
  let isServer: Bool
  /// Whether sessions with TLS 1.3 go on without OpenSSL when their handshake is over.
  let releasesSessions: Bool
  private let tickets = TicketKeys()
  /// What a server picks from by ALPN; set once, before the context is used.
  private var protocols: ProtocolNames?
  /// What a server answers to a certificate authority; set once, before the context is used.
  private(set) var challenges: TLSChallenges?

  private init(
    server: Bool, versions: Versions, releasesSessions: Bool = false
  ) throws(TLSError) {
    guard let handle = co_new_tls_context(server ? 1 : 0) else { throw .library(Self.drainReason()) }
    self.handle = handle
    isServer = server
    self.releasesSessions = releasesSessions
    if releasesSessions { co_keep_secrets(handle) }
    let isRestricted =
      switch versions {
      case .all: true
      case .only12: co_set_max_version_12(handle) == 1
      case .only13: co_set_min_version_13(handle) == 1
      }
    guard isRestricted else { throw .library(Self.drainReason()) }
    guard server else { return }
    // Held by this object, which every session holds.
    SSL_CTX_set_ex_data(handle, 0, Unmanaged.passUnretained(tickets).toOpaque())
    co_set_ticket_callback(handle) { ssl, name, iv, cipher, mac, encrypting in
      guard let name, let iv, let context = SSL_get_SSL_CTX(ssl), let data = SSL_CTX_get_ex_data(context, 0)
      else { return -1 }
      let keys = Unmanaged<TicketKeys>.fromOpaque(data).takeUnretainedValue()
      return keys.prepare(name: name, iv: iv, cipher: cipher, mac: mac, encrypting: encrypting == 1)
    }
  }

  deinit { SSL_CTX_free(handle) }

  /// A server's context. The certificate file holds the chain in PEM form, the server's own certificate
  /// first; the key file holds its key in PEM form, not encrypted.
  package static func server(
    certificatePath: String, keyPath: String, versions: Versions = .all, releasesSessions: Bool = false
  ) throws(TLSError) -> TLSContext {
    try server(
      identity: .files(certificatePath: certificatePath, keyPath: keyPath), versions: versions,
      releasesSessions: releasesSessions)
  }

  /// A server's context that may agree on a protocol by ALPN (RFC 7301) and ask clients for a certificate.
  ///
  /// `protocols` are the names this side speaks, the preferred one first. A client that offers others only is
  /// refused; one that offers none at all is not, see `TLSSession.applicationProtocol`. With
  /// `releasesSessions` an idle connection with TLS 1.3 takes a fiftieth of the memory, if it has agreed on
  /// no protocol and clients are not asked for certificates. `challenges` are for a context without
  /// `protocols`.
  package static func server(
    identity: TLSIdentity, protocols: [String] = [], clients: TLSClientPolicy = .notAsked,
    versions: Versions = .all, releasesSessions: Bool = false, challenges: TLSChallenges? = nil
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: true, versions: versions, releasesSessions: releasesSessions)
    try context.use(identity)
    if let challenges {
      precondition(protocols.isEmpty, "one callback picks the protocol")
      context.challenges = challenges
      challenges.attach(to: context.handle)
    }
    try context.setServerProtocols(protocols)
    switch clients {
    case .notAsked: break
    case .optional(let trust): try context.verify(trust, SSL_VERIFY_PEER)
    case .required(let trust):
      try context.verify(trust, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
    }
    return context
  }

  /// A client's context: trusts the CAs in a PEM file, or those of the system. Without `verifies` it takes
  /// any certificate, so that anybody on the way can read and change what is sent: only for trying things
  /// out.
  package static func client(
    caFile: String? = nil, verifies: Bool = true, versions: Versions = .all
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: false, versions: versions)
    ERR_clear_error()
    guard verifies else {
      SSL_CTX_set_verify(context.handle, SSL_VERIFY_NONE, nil)
      return context
    }
    try context.verify(caFile.map { .file($0) } ?? .system, SSL_VERIFY_PEER)
    return context
  }

  /// A client's context that offers protocols by ALPN (RFC 7301) and has a certificate for servers that ask
  /// for one.
  package static func client(
    trust: TLSTrust, identity: TLSIdentity? = nil, protocols: [String] = [], versions: Versions = .all
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: false, versions: versions)
    try context.verify(trust, SSL_VERIFY_PEER)
    if let identity { try context.use(identity) }
    guard !protocols.isEmpty else { return context }
    let list = try ProtocolNames(protocols).encoded
    guard co_offer_protocols(context.handle, list, list.count) == 0 else { throw .library(drainReason()) }
    return context
  }

  private func setServerProtocols(_ names: [String]) throws(TLSError) {
    guard !names.isEmpty else { return }
    protocols = try ProtocolNames(names)
    // OpenSSL asks only for sessions of this context, which hold it.
    SSL_CTX_set_alpn_select_cb(
      handle,
      { _, picked, pickedCount, offered, offeredCount, context in
        guard let context, let picked, let pickedCount, let offered else { return SSL_TLSEXT_ERR_NOACK }
        let own = Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue().protocols
        guard let place = own?.pick(from: UnsafeBufferPointer(start: offered, count: Int(offeredCount)))
        else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        picked.pointee = offered + place.lowerBound
        pickedCount.pointee = UInt8(place.count)
        return SSL_TLSEXT_ERR_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The first reason on this thread's queue; empties the queue.
  static func drainReason() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: text)
  }
}
