import COpenSSL

extension PKCS12 {
  /// Puts a certificate and its key, not encrypted, both PEM, into a file under a password, with AES-256 and
  /// SHA-256. Throws if the two do not belong together.
  package static func make(
    certificatePEM: String, keyPEM: String, password: String
  ) throws(CryptoError) -> [UInt8] {
    guard let certificate = PEM.read(certificatePEM, { PEM_read_bio_X509($0, nil, co_no_password, nil) })
    else {
      ERR_clear_error()
      throw .notACertificate
    }
    defer { X509_free(certificate) }
    guard let key = PEM.read(keyPEM, { PEM_read_bio_PrivateKey($0, nil, co_no_password, nil) }) else {
      throw .fromQueue()
    }
    defer { EVP_PKEY_free(key) }
    // Zeros mean the library's defaults.
    guard let file = PKCS12_create(password, nil, key, certificate, nil, 0, 0, 0, 0, 0) else {
      throw .fromQueue()
    }
    defer { PKCS12_free(file) }
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_PKCS12(file, &start)
    guard count > 0, let start else { throw .fromQueue() }
    defer { CRYPTO_free(start, nil, 0) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }
}
