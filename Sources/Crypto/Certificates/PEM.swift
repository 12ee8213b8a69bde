import BorealisBase
import COpenSSL

/// PEM text (RFC 7468), and texts out of OpenSSL's memory buffers.
enum PEM {
  /// No file with a key or certificates comes near this size, in bytes.
  static let limit = 256 * 1024

  /// The labels of a text's blocks, in order: `PRIVATE KEY` of `-----BEGIN PRIVATE KEY-----`.
  static func labels(_ text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      guard let begin = line.firstRange(of: "-----BEGIN ") else { return nil }
      let rest = line[begin.upperBound...]
      return rest.firstRange(of: "-----").map { String(rest[..<$0.lowerBound]) }
    }
  }

  /// The text of a file's bytes, without a byte order mark, which would hide the first block from OpenSSL.
  static func text(of bytes: [UInt8]) throws(CredentialFileError) -> String {
    guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let plain = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
    guard !plain.contains(0), let text = String(validating: plain, as: UTF8.self) else { throw .binary }
    return text
  }

  /// Lets OpenSSL read a text as a file.
  static func read<Value>(_ text: String, _ body: (OpaquePointer) -> Value?) -> Value? {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBytes { buffer in
      guard let count = Int32(exactly: buffer.count), let memory = BIO_new_mem_buf(buffer.baseAddress, count)
      else { return nil }
      defer { BIO_free(memory) }
      return body(memory)
    }
  }

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
