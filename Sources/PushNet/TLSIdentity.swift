import COpenSSL

/// A certificate with its chain, and its key.
public enum TLSIdentity: Sendable {
  /// PEM files: the chain, the own certificate first, and the key, not encrypted.
  case files(certificatePath: String, keyPath: String)
  /// The same in memory.
  case pem(certificates: [UInt8], key: [UInt8])
}

/// Whose certificates are believed.
public enum TLSTrust: Sendable {
  /// The CAs that the system trusts.
  case system
  /// The CAs in a PEM file, and no others.
  case file(String)
  /// The CAs that the system trusts, and those in a PEM file.
  case systemAnd(file: String)
  /// The CAs in PEM form, and no others.
  case pem([UInt8])
}

/// Whether a server requests client certificates, and which authority must have signed them.
public enum TLSClientPolicy: Sendable {
  /// Clients are not asked.
  case notAsked
  /// A client may have none; one that it has must be good.
  case optional(TLSTrust)
  /// A client without a good certificate is refused.
  case required(TLSTrust)
}

extension TLSContext {
  /// Takes a certificate and its key.
  func use(_ identity: TLSIdentity) throws(TLSError) {
    ERR_clear_error()
    switch identity {
    case .files(let certificatePath, let keyPath): try use(certificatePath, keyPath)
    case .pem(let certificates, let key): try use(certificates, key)
    }
  }

  private func use(_ certificatePath: String, _ keyPath: String) throws(TLSError) {
    try Self.checkReadable(certificatePath)
    try Self.checkReadable(keyPath)
    guard SSL_CTX_use_certificate_chain_file(handle, certificatePath) == 1 else {
      throw .invalid(path: certificatePath, reason: Self.drainReason())
    }
    guard SSL_CTX_use_PrivateKey_file(handle, keyPath, SSL_FILETYPE_PEM) == 1,
      SSL_CTX_check_private_key(handle) == 1
    else { throw keyFailure(certificatePath, keyPath) }
  }

  private func use(_ certificates: [UInt8], _ key: [UInt8]) throws(TLSError) {
    var isFirst = true
    try Self.forEachCertificate(certificates) { certificate in
      defer { isFirst = false }
      return isFirst
        ? SSL_CTX_use_certificate(handle, certificate) == 1
        : co_add_chain_certificate(handle, certificate) == 1
    }
    let memory = BIO_new_mem_buf(key, Int32(clamping: key.count))
    defer { BIO_free(memory) }
    guard let privateKey = PEM_read_bio_PrivateKey(memory, nil, co_no_password, nil) else {
      throw .invalid(path: "the key", reason: Self.drainReason())
    }
    defer { EVP_PKEY_free(privateKey) }
    guard SSL_CTX_use_PrivateKey(handle, privateKey) == 1, SSL_CTX_check_private_key(handle) == 1 else {
      throw keyFailure("the certificate", "the key")
    }
  }

  private func keyFailure(_ certificate: String, _ key: String) -> TLSError {
    let isMismatch = co_is_key_mismatch(ERR_peek_error()) == 1
    let reason = Self.drainReason()
    return isMismatch
      ? .keyDoesNotMatch(certificatePath: certificate, keyPath: key) : .invalid(path: key, reason: reason)
  }

  /// Believes some CAs and demands a peer's certificate as `mode` says.
  func verify(_ trust: TLSTrust, _ mode: Int32) throws(TLSError) {
    SSL_CTX_set_verify(handle, mode, nil)
    ERR_clear_error()
    switch trust {
    case .system: try trustSystem()
    case .file(let path): try self.trust(path)
    case .systemAnd(let path):
      try trustSystem()
      try self.trust(path)
    case .pem(let bytes):
      let store = SSL_CTX_get_cert_store(handle)
      try Self.forEachCertificate(bytes) { X509_STORE_add_cert(store, $0) == 1 }
    }
  }

  private func trustSystem() throws(TLSError) {
    guard SSL_CTX_set_default_verify_paths(handle) == 1 else { throw .library(Self.drainReason()) }
  }

  private func trust(_ path: String) throws(TLSError) {
    try Self.checkReadable(path)
    guard SSL_CTX_load_verify_file(handle, path) == 1 else {
      throw .invalid(path: path, reason: Self.drainReason())
    }
  }

  /// Reads certificates in PEM form, at least one; `body` returns false when OpenSSL refuses.
  private static func forEachCertificate(
    _ bytes: [UInt8], _ body: (OpaquePointer) -> Bool
  ) throws(TLSError) {
    let memory = BIO_new_mem_buf(bytes, Int32(clamping: bytes.count))
    defer { BIO_free(memory) }
    var count = 0
    while let certificate = PEM_read_bio_X509(memory, nil, co_no_password, nil) {
      defer { X509_free(certificate) }
      guard body(certificate) else { throw .library(drainReason()) }
      count += 1
    }
    guard count > 0, co_is_end_of_pem(ERR_peek_error()) == 1 else {
      throw .invalid(path: "the certificate", reason: drainReason())
    }
    ERR_clear_error()
  }
}
