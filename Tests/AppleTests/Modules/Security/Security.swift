// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import COpenSSL
import Dispatch
import Foundation

// The declarations of Apple's Security framework that the library uses, with OpenSSL behind them.

public typealias CFArray = [SecCertificate]
public typealias CFData = Data
public typealias CFError = NSError
public typealias CFAllocator = NSObject
public typealias OSStatus = Int32

public final class SecCertificate: @unchecked Sendable {
  fileprivate let handle: OpaquePointer

  fileprivate init?(_ der: Data) {
    let bytes = Array(der)
    let handle = bytes.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_X509(nil, &start, bytes.count)
    }
    guard let handle else { return nil }
    self.handle = handle
  }

  deinit { X509_free(handle) }
}

public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
  SecCertificate(data)
}

public final class SecTrust: @unchecked Sendable {
  private let chain: [SecCertificate]
  private let host: String
  fileprivate var anchors: [SecCertificate] = []
  fileprivate var knowsOnlyAnchors = false

  init(chain: [SecCertificate], host: String) { (self.chain, self.host) = (chain, host) }

  fileprivate var isValid: Bool {
    guard let first = chain.first, let store = X509_STORE_new() else { return false }
    defer { X509_STORE_free(store) }
    for anchor in anchors { X509_STORE_add_cert(store, anchor.handle) }
    if !knowsOnlyAnchors { X509_STORE_set_default_paths(store) }
    let rest = OPENSSL_sk_new_null()
    defer { OPENSSL_sk_free(rest) }
    for certificate in chain.dropFirst() {
      OPENSSL_sk_push(rest, UnsafeRawPointer(certificate.handle))
    }
    guard let context = X509_STORE_CTX_new() else { return false }
    defer { X509_STORE_CTX_free(context) }
    guard X509_STORE_CTX_init(context, store, first.handle, rest) == 1, X509_verify_cert(context) == 1 else {
      ERR_clear_error()
      return false
    }
    return X509_check_host(first.handle, host, host.utf8.count, 0, nil) == 1
      || X509_check_ip_asc(first.handle, host, 0) == 1
  }
}

@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
  trust.anchors = anchorCertificates ?? []
  trust.knowsOnlyAnchors = true
  return 0
}

@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus {
  trust.knowsOnlyAnchors = only
  return 0
}

public func SecTrustEvaluateWithError(
  _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool { trust.isValid }

public final class sec_protocol_metadata_t: Sendable {}

public final class sec_trust_t: Sendable {
  fileprivate let trust: SecTrust

  init(_ trust: SecTrust) { self.trust = trust }
}

public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> {
  .passRetained(trust.trust)
}

public enum tls_protocol_version_t: UInt16, Sendable {
  case TLSv12 = 0x0303
  case TLSv13 = 0x0304
}

public typealias sec_protocol_verify_complete_t = (Bool) -> Void
public typealias sec_protocol_verify_t = (
  sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void

public final class sec_protocol_options_t: @unchecked Sendable {
  fileprivate var least = tls_protocol_version_t.TLSv12
  fileprivate var verify: (sec_protocol_verify_t, DispatchQueue)?

  public init() {}

  /// For the module Network: the least version, and what decides about the server's certificates.
  public var minimum: UInt16 { least.rawValue }

  /// Asks whether to trust a server, on the queue that was named.
  public func decide(chain: [Data], host: String, _ done: @escaping @Sendable (Bool) -> Void) {
    let trust = SecTrust(chain: chain.compactMap { SecCertificate($0) }, host: host)
    guard let (block, queue) = verify else { return done(SecTrustEvaluateWithError(trust, nil)) }
    nonisolated(unsafe) let call = block
    queue.async { call(sec_protocol_metadata_t(), sec_trust_t(trust), done) }
  }
}

public func sec_protocol_options_set_min_tls_protocol_version(
  _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) { options.least = version }

public func sec_protocol_options_set_verify_block(
  _ options: sec_protocol_options_t, _ verify_block: @escaping sec_protocol_verify_t,
  _ verify_block_queue: DispatchQueue
) { options.verify = (verify_block, verify_block_queue) }
