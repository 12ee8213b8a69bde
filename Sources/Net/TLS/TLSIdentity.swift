import COpenSSL

/// A certificate with its chain, and its key.
package enum TLSIdentity: Sendable {
  /// PEM files: the chain, the own certificate first, and the key, not encrypted.
  case files(certificatePath: String, keyPath: String)
  /// The same in memory.
  case pem(certificates: [UInt8], key: [UInt8])
}

/// Whose certificates are believed.
package enum TLSTrust: Sendable {
  /// The CAs that the system trusts.
  case system
  /// The CAs in a PEM file, and no others.
  case file(String)
  /// The CAs that the system trusts, and those in a PEM file.
  case systemAnd(file: String)
  /// The same in memory, for contexts that are made where no file may be read.
  case systemAndPEM([UInt8])
  /// The CAs in PEM form, and no others.
  case pem([UInt8])
}

/// Whether a server requests client certificates, and which authority must have signed them.
package enum TLSClientPolicy: Sendable {
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
    case .files(let certificatePath, let keyPath):
      try use(try PEMFile(path: certificatePath), try PEMFile(path: keyPath))
    case .pem(let certificates, let key):
      try use(PEMFile(certificates, name: "the certificate"), PEMFile(key, name: "the key"))
    }
  }

  private func use(_ certificates: PEMFile, _ key: PEMFile) throws(TLSError) {
    var count = 0
    try Self.forEachCertificate(certificates) { certificate in
      count += 1
      return count == 1
        ? SSL_CTX_use_certificate(handle, certificate) == 1
        : co_add_chain_certificate(handle, certificate) == 1
    }
    let memory = BIO_new_mem_buf(key.bytes, Int32(clamping: key.bytes.count))
    defer { BIO_free(memory) }
    guard let privateKey = PEM_read_bio_PrivateKey(memory, nil, co_no_password, nil) else {
      throw key.faultOfKey(else: Self.drainReason())
    }
    defer { EVP_PKEY_free(privateKey) }
    if let place = try Self.place(of: privateKey, in: certificates), place > 1 {
      throw .invalid(
        path: certificates.name,
        reason:
          "the key belongs to its certificate number \(place); the server's own certificate must be the first"
      )
    }
    guard SSL_CTX_use_PrivateKey(handle, privateKey) == 1, SSL_CTX_check_private_key(handle) == 1 else {
      let isMismatch = co_is_key_mismatch(ERR_peek_error()) == 1
      let reason = Self.drainReason()
      throw isMismatch
        ? .keyDoesNotMatch(certificatePath: certificates.name, keyPath: key.name)
        : .invalid(path: key.name, reason: reason)
    }
  }

  /// Which of some certificates, from 1 on, is that of a key; nil for none.
  private static func place(of key: OpaquePointer, in certificates: PEMFile) throws(TLSError) -> Int? {
    var (count, place): (Int, Int?) = (0, nil)
    try forEachCertificate(certificates) { certificate in
      count += 1
      if place == nil, X509_check_private_key(certificate, key) == 1 { place = count }
      // That a key does not match would be taken for a fault of the file.
      ERR_clear_error()
      return true
    }
    return place
  }

  /// Believes some CAs and demands a peer's certificate as `mode` says.
  func verify(_ trust: TLSTrust, _ mode: Int32) throws(TLSError) {
    SSL_CTX_set_verify(handle, mode, nil)
    ERR_clear_error()
    switch trust {
    case .system: try trustSystem()
    case .file(let path): try self.trust(try PEMFile(path: path))
    case .systemAnd(let path):
      try trustSystem()
      try self.trust(try PEMFile(path: path))
    case .systemAndPEM(let bytes):
      try trustSystem()
      try self.trust(PEMFile(bytes, name: "the certificate"))
    case .pem(let bytes): try self.trust(PEMFile(bytes, name: "the certificate"))
    }
  }

  private func trustSystem() throws(TLSError) {
    guard SSL_CTX_set_default_verify_paths(handle) == 1 else { throw .library(Self.drainReason()) }
  }

  private func trust(_ authorities: PEMFile) throws(TLSError) {
    let store = SSL_CTX_get_cert_store(handle)
    try Self.forEachCertificate(authorities) { X509_STORE_add_cert(store, $0) == 1 }
  }

  /// Reads certificates in PEM form, at least one; `body` returns false when OpenSSL refuses.
  private static func forEachCertificate(
    _ file: PEMFile, _ body: (OpaquePointer) -> Bool
  ) throws(TLSError) {
    let memory = BIO_new_mem_buf(file.bytes, Int32(clamping: file.bytes.count))
    defer { BIO_free(memory) }
    var count = 0
    while let certificate = PEM_read_bio_X509(memory, nil, co_no_password, nil) {
      defer { X509_free(certificate) }
      guard body(certificate) else { throw .invalid(path: file.name, reason: drainReason()) }
      count += 1
    }
    guard count > 0, co_is_end_of_pem(ERR_peek_error()) == 1 else {
      throw file.faultOfCertificates(else: drainReason())
    }
    ERR_clear_error()
  }
}
