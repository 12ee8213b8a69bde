import COpenSSL

/// Files that hold a certificate and its key under a password (RFC 7292), as macOS's Keychain exports them:
/// with RC2 and 3DES, which OpenSSL reads only with its legacy provider. That is loaded for this purpose
/// alone, in a library context of its own, so that nothing else in the process can use those ciphers.
package enum PKCS12 {
  /// The largest file that is read, in bytes.
  package static let limit = PEM.limit
  /// Rounds of key derivation that are still done for one file: some seconds. macOS uses 2048, OpenSSL 2048,
  /// Windows 2000.
  package static let maximumRounds = 5_000_000
  /// The most rounds for a file from an untrusted uploader: about a second. Each of the three derivations of
  /// a file may have 300,000; hardened exports have some 100,000.
  package static let maximumRoundsOfUploads = 1_000_000

  /// Reads a file. A nil or empty password means both no password and an empty one, which differ in this
  /// format. A file with more rounds of key derivation is refused unread.
  package static func parse(
    _ bytes: [UInt8], password: String?, rounds: Int = maximumRounds
  ) throws(CredentialFileError) -> CertificateKeyPair {
    try parse(bytes, password: password, rounds: rounds, modules: nil)
  }

  /// `modules` names another folder to look for OpenSSL's providers in.
  static func parse(
    _ bytes: [UInt8], password: String?, rounds most: Int = maximumRounds, modules: String?
  ) throws(CredentialFileError) -> CertificateKeyPair {
    guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
    defer { ERR_clear_error() }
    let library = try Library(modules: modules)
    guard let file = library.read(bytes) else { throw .notPKCS12 }
    defer { PKCS12_free(file) }
    // In steps, each of which may only cost what the previous one allowed.
    guard co_pkcs12_cost(file, nil, CO_PKCS12_CLOSED).rounds <= most else { throw .tooCostly }
    let fitting = try fittingPassword(of: file, password)
    guard co_pkcs12_cost(file, fitting, CO_PKCS12_PARTS).rounds <= most else { throw .tooCostly }
    let slow = co_pkcs12_cost(file, fitting, CO_PKCS12_KEYS).slow_key
    guard slow == NID_undef else { throw .unusualKey(String(cString: co_algorithm_name(slow))) }
    return try open(file, fitting, library)
  }

  /// Distinguishes wrong passwords from unreadable content, by the file's checksum: nil for a file without a
  /// password.
  private static func fittingPassword(
    of file: OpaquePointer, _ password: String?
  ) throws(CredentialFileError) -> String? {
    // OpenSSL takes an empty password for none there.
    guard PKCS12_mac_present(file) == 1 else { return password == "" ? nil : password }
    if let password, !password.isEmpty {
      guard let count = Int32(exactly: password.utf8.count), PKCS12_verify_mac(file, password, count) == 1
      else {
        throw .wrongPassword
      }
      return password
    }
    if PKCS12_verify_mac(file, nil, 0) == 1 { return nil }
    if PKCS12_verify_mac(file, "", 0) == 1 { return "" }
    throw .passwordNeeded
  }

  private static func open(
    _ file: OpaquePointer, _ password: String?, _ library: borrowing Library
  ) throws(CredentialFileError) -> CertificateKeyPair {
    let hasChecksum = PKCS12_mac_present(file) == 1
    // PKCS12_parse of OpenSSL 3.0 accepts no password for a file without a checksum: such a file gets one in
    // memory.
    if !hasChecksum, let password, let count = Int32(exactly: password.utf8.count) {
      guard PKCS12_set_mac(file, password, count, nil, 0, 1, EVP_sha256()) == 1 else { throw .fromQueue() }
    }
    ERR_clear_error()
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    guard PKCS12_parse(file, password, &key, &certificate, &others) == 1 else {
      guard library.hasLegacy else { throw .legacyProviderMissing }
      // Without a checksum, a missing or wrong password shows only here.
      if !hasChecksum { throw password == nil ? .passwordNeeded : .wrongPassword }
      throw .unreadablePKCS12(CryptoError.reasonFromQueue())
    }
    let owned = key.map { PrivateKey(taking: $0) }
    defer {
      X509_free(certificate)
      co_free_certificates(others)
    }
    guard let owned else { throw .noKey }
    let count = co_certificate_count(others)
    // OpenSSL names the certificate that fits the key; without one, there are only others.
    guard let certificate else { throw count > 0 ? .keyDoesNotMatch : .noCertificate }
    let chain = [certificate] + (0..<count).compactMap { co_certificate_at(others, $0) }
    // Out of the library context that has the old ciphers, into the one that all else uses.
    let plain = try PrivateKey(pem: try owned.pem())
    return try CertificateKeyPair(chain: chain, key: plain)
  }

  /// A library context with the old ciphers, for one file.
  private struct Library: ~Copyable {
    let context: OpaquePointer
    private let legacy: OpaquePointer?
    private let standard: OpaquePointer

    init(modules: String?) throws(CredentialFileError) {
      guard let context = OSSL_LIB_CTX_new() else { throw .fromQueue() }
      if let modules { OSSL_PROVIDER_set_default_search_path(context, modules) }
      let legacy = OSSL_PROVIDER_load(context, "legacy")
      guard let standard = OSSL_PROVIDER_load(context, "default") else {
        OSSL_PROVIDER_unload(legacy)
        OSSL_LIB_CTX_free(context)
        throw .fromQueue()
      }
      self.context = context
      self.legacy = legacy
      self.standard = standard
    }

    deinit {
      if let legacy { OSSL_PROVIDER_unload(legacy) }
      OSSL_PROVIDER_unload(standard)
      OSSL_LIB_CTX_free(context)
    }

    var hasLegacy: Bool { legacy != nil }

    func read(_ bytes: [UInt8]) -> OpaquePointer? {
      var file = co_new_pkcs12(context)
      return bytes.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        // Frees the empty file and clears the variable when it fails.
        return d2i_PKCS12(&file, &start, buffer.count)
      }
    }
  }
}
