import BorealisBase

/// The content coding of RFC 8188: a header of salt, size of a record and a key's name, then records that are
/// each authenticated. With SM4 and SM3 in place of AES and SHA-256 it is the national variant, otherwise the
/// same.
package struct ContentCoding: Sendable {
  /// The largest ciphertext that is read, in bytes: more than any push holds.
  package static let maximumSize = 65_536
  /// The overhead of a ciphertext of one record, without the key's name, in bytes.
  package static let overhead = saltSize + 5 + 1 + tagSize

  static let saltSize = 16
  static let tagSize = 16
  private static let usualRecord = 4096

  /// The header before the records.
  package struct Header: Equatable, Sendable {
    /// 16 bytes, others for each content.
    package let salt: [UInt8]
    /// Bytes of a record with its tag, at least 18.
    package let recordSize: Int
    /// Names the key, at most 255 bytes.
    package let keyName: [UInt8]
    /// How many bytes the header itself takes.
    var size: Int { ContentCoding.saltSize + 5 + keyName.count }

    /// Reads the header of a ciphertext; nil if it is none.
    package init?(_ bytes: [UInt8]) {
      var reader = ByteReader(bytes)
      guard bytes.count <= ContentCoding.maximumSize, let salt = reader.read(count: ContentCoding.saltSize),
        let size = reader.read(UInt32.self), size >= 18, let count = reader.read(UInt8.self),
        let name = reader.read(count: Int(count))
      else { return nil }
      (self.salt, recordSize, keyName) = (salt, Int(size), name)
    }
  }

  private let cipher: ContentCipher

  /// The coding with a cipher.
  package init(_ cipher: ContentCipher) { self.cipher = cipher }

  /// Enciphers under a secret of any length; `keyName` has at most 255 bytes. Without a record size it is one
  /// record, as RFC 8291 wants it. The same salt must never be used twice with the same secret.
  package func seal(
    _ plain: [UInt8], secret: [UInt8], keyName: [UInt8], salt: [UInt8] = SystemRandom.bytes(16),
    recordSize: Int? = nil
  ) -> [UInt8] {
    precondition(salt.count == Self.saltSize && keyName.count <= 255, "not a header of the coding")
    let size = max(18, recordSize ?? max(Self.usualRecord, plain.count + 1 + Self.tagSize))
    var writer = ByteWriter(capacity: plain.count + Self.overhead + keyName.count)
    writer.write(bytes: salt)
    writer.write(UInt32(clamping: size))
    writer.write(UInt8(keyName.count))
    writer.write(bytes: keyName)
    let keys = keys(secret, salt)
    var start = 0
    var number: UInt64 = 0
    repeat {
      let end = min(plain.count, start + size - 1 - Self.tagSize)
      let isLast = end == plain.count
      let record = Array(plain[start..<end]) + [isLast ? 2 : 1]
      writer.write(bytes: run(seal: true, keys, number, record) ?? [])
      (start, number) = (end, number + 1)
    } while start < plain.count
    return writer.bytes
  }

  /// Opens what `seal` gave for the same secret.
  package func open(_ bytes: [UInt8], secret: [UInt8]) throws(ContentError) -> [UInt8] {
    guard let header = Header(bytes) else { throw .malformed }
    let keys = keys(secret, header.salt)
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var start = header.size
    var number: UInt64 = 0
    guard start < bytes.count else { throw .malformed }
    while start < bytes.count {
      let end = min(bytes.count, start + header.recordSize)
      guard end - start > Self.tagSize else { throw .malformed }
      guard let record = run(seal: false, keys, number, Array(bytes[start..<end])) else { throw .damaged }
      // Padding is zeros after a delimiter, which says whether more records follow, so that truncation is
      // detected.
      guard let last = record.lastIndex(where: { $0 != 0 }), record[last] == (end == bytes.count ? 2 : 1)
      else { throw .damaged }
      plain += record[..<last]
      (start, number) = (end, number + 1)
    }
    return plain
  }

  private struct Keys {
    let key: [UInt8]
    let nonce: [UInt8]
  }

  private func keys(_ secret: [UInt8], _ salt: [UInt8]) -> Keys {
    Keys(
      key: derive(salt: salt, secret, info: "Content-Encoding: \(cipher.rawValue)\0", count: 16),
      nonce: derive(salt: salt, secret, info: "Content-Encoding: nonce\0", count: 12))
  }

  private func derive(salt: [UInt8], _ secret: [UInt8], info: String, count: Int) -> [UInt8] {
    derive(salt: salt, secret, info: Array(info.utf8), count: count)
  }

  /// HKDF with the coding's digest.
  func derive(salt: [UInt8], _ secret: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
    ContentLibrary.derive(cipher, salt: salt, secret: secret, info: info, count: count)
  }

  /// Enciphers or deciphers a record; nil if its tag is wrong.
  private func run(seal: Bool, _ keys: Keys, _ number: UInt64, _ record: [UInt8]) -> [UInt8]? {
    var nonce = keys.nonce
    for index in 0..<8 { nonce[4 + index] ^= UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64(index))) }
    return seal
      ? ContentLibrary.seal(cipher, record, key: keys.key, nonce: nonce)
      : ContentLibrary.open(cipher, record, key: keys.key, nonce: nonce)
  }
}
