import COpenSSL
import Glibc
import PushBase
import Synchronization

/// Why TLS could not be set up.
public enum TLSError: Error, Equatable, CustomStringConvertible {
  /// A file cannot be opened; with the system's reason.
  case unreadable(path: String, reason: String)
  /// A file was read and does not hold what it should; with OpenSSL's reason.
  case invalid(path: String, reason: String)
  /// The private key belongs to another certificate.
  case keyDoesNotMatch(certificatePath: String, keyPath: String)
  /// OpenSSL refused; with its reason.
  case library(String)

  /// One line for people.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
    case .invalid(let path, let reason): "\(path) does not hold what TLS needs: \(reason)"
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
/// new connections. The process must ignore SIGPIPE.
public final class TLSContext: @unchecked Sendable {
  /// Which protocol versions are offered.
  public enum Versions: Sendable {
    /// TLS 1.2 and 1.3.
    case all
    /// TLS 1.2 only.
    case only12
  }

  let handle: OpaquePointer
  let isServer: Bool
  private let tickets = TicketKeys()

  private init(server: Bool, versions: Versions) throws(TLSError) {
    guard let handle = co_new_tls_context(server ? 1 : 0) else { throw .library(Self.drainReason()) }
    self.handle = handle
    isServer = server
    if versions == .only12, co_set_max_version_12(handle) != 1 { throw .library(Self.drainReason()) }
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
  public static func server(
    certificatePath: String, keyPath: String, versions: Versions = .all
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: true, versions: versions)
    try checkReadable(certificatePath)
    try checkReadable(keyPath)
    ERR_clear_error()
    guard SSL_CTX_use_certificate_chain_file(context.handle, certificatePath) == 1 else {
      throw .invalid(path: certificatePath, reason: drainReason())
    }
    guard SSL_CTX_use_PrivateKey_file(context.handle, keyPath, SSL_FILETYPE_PEM) == 1,
      SSL_CTX_check_private_key(context.handle) == 1
    else {
      let mismatch = co_is_key_mismatch(ERR_peek_error()) == 1
      let reason = drainReason()
      throw mismatch
        ? .keyDoesNotMatch(certificatePath: certificatePath, keyPath: keyPath)
        : .invalid(path: keyPath, reason: reason)
    }
    return context
  }

  /// A client's context: trusts the CAs in a PEM file, or those of the system. Without `verifies` it takes any
  /// certificate, so that anybody on the way can read and change what is sent: only for trying things out.
  public static func client(
    caFile: String? = nil, verifies: Bool = true, versions: Versions = .all
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: false, versions: versions)
    SSL_CTX_set_verify(context.handle, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
    ERR_clear_error()
    guard verifies else { return context }
    if let caFile {
      try checkReadable(caFile)
      guard SSL_CTX_load_verify_file(context.handle, caFile) == 1 else {
        throw .invalid(path: caFile, reason: drainReason())
      }
    } else if SSL_CTX_set_default_verify_paths(context.handle) != 1 {
      throw .library(drainReason())
    }
    return context
  }

  /// OpenSSL's own message for a missing file is "system library".
  private static func checkReadable(_ path: String) throws(TLSError) {
    guard access(path, R_OK) != 0 else { return }
    throw .unreadable(path: path, reason: String(cString: strerror(errno)))
  }

  /// The first reason on this thread's queue; empties the queue.
  static func drainReason() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: text)
  }
}

/// The keys that seal session tickets: the state of a resumable session lies with the client, the server
/// keeps none. A key seals for twelve hours and opens for twelve more; then it is gone, and with it the
/// secrets of the sessions it sealed.
final class TicketKeys: Sendable {
  private struct Key {
    let name = SystemRandom.bytes(16)
    let aes = SystemRandom.bytes(32)
    let mac = SystemRandom.bytes(32)
    let madeAt: UInt64
  }

  private static let lifetime: UInt64 = 12 * 3600 * 1_000_000_000
  private let time: any TimeSource
  private let keys = Mutex<[Key]>([])

  init(time: any TimeSource = SystemTime()) { self.time = time }

  /// Answers OpenSSL's ticket callback: 1 go on, 2 go on and send a new ticket, 0 unknown key, -1 failure.
  func prepare(
    name: UnsafeMutablePointer<UInt8>, iv: UnsafeMutablePointer<UInt8>, cipher: OpaquePointer?,
    mac: OpaquePointer?, encrypting: Bool
  ) -> Int32 {
    let now = time.monotonic()
    let found = keys.withLock { keys -> (key: Key, isCurrent: Bool)? in
      keys.removeAll { now &- $0.madeAt >= 2 * Self.lifetime }
      if encrypting {
        if keys.last.map({ now &- $0.madeAt >= Self.lifetime }) ?? true { keys.append(Key(madeAt: now)) }
        return keys.last.map { ($0, true) }
      }
      guard
        let index = keys.firstIndex(where: {
          $0.name.elementsEqual(UnsafeBufferPointer(start: name, count: 16))
        })
      else { return nil }
      return (keys[index], now &- keys[index].madeAt < Self.lifetime)
    }
    guard let found else { return 0 }
    if encrypting {
      name.update(from: found.key.name, count: 16)
      iv.update(from: SystemRandom.bytes(16), count: 16)
    }
    guard co_ticket_ciphers(cipher, mac, found.key.aes, found.key.mac, iv, encrypting ? 1 : 0) == 1 else {
      return -1
    }
    // TLS 1.3 clients use a ticket once, so a resumed session always asks for another.
    return encrypting || found.isCurrent ? 1 : 2
  }
}
