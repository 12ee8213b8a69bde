import COpenSSL
import PushBase

/// Texts out of OpenSSL's memory buffers.
enum PEM {
  /// What `write` put into a memory buffer; `write` gives a number above 0 when it could.
  static func text(_ write: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
    guard let memory = BIO_new(BIO_s_mem()) else { throw .fromQueue() }
    defer { BIO_free(memory) }
    guard write(memory) > 0 else { throw .fromQueue() }
    var start: UnsafePointer<CChar>?
    let count = co_bio_bytes(memory, &start)
    return String(
      decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
  }

  /// SHA-256 of a certificate's DER form, in hexadecimal digits.
  static func fingerprint(of certificate: OpaquePointer) throws(CryptoError) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard X509_digest(certificate, EVP_sha256(), &digest, &count) == 1, count == 32 else {
      throw .fromQueue()
    }
    return Hex.encode(digest)
  }
}
