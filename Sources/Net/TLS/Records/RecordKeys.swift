import BorealisBase
import COpenSSL

/// A cipher suite of TLS 1.3 (RFC 8446 appendix B.4).
package enum RecordSuite: Int32, CaseIterable, Sendable {
  /// TLS_AES_128_GCM_SHA256.
  case aes128 = 0
  /// TLS_AES_256_GCM_SHA384.
  case aes256 = 1
  /// TLS_CHACHA20_POLY1305_SHA256.
  case chacha20 = 2

  var keySize: Int { self == .aes128 ? 16 : 32 }
  /// The size of its hash, and so of its secrets.
  package var secretSize: Int { self == .aes256 ? 48 : 32 }
}

/// What protects the records of one direction (RFC 8446 sections 5.2, 5.3 and 7.3). Its owner wipes it.
package struct RecordKeys {
  let suite: RecordSuite
  /// The number of the next record.
  package private(set) var sequence: UInt64
  private var secret = InlineArray<48, UInt8>(repeating: 0)
  private var key = InlineArray<32, UInt8>(repeating: 0)
  private var base = InlineArray<12, UInt8>(repeating: 0)

  /// Takes a traffic secret, of which so many records were protected; nil if it has another size, or without
  /// memory.
  package init?(_ suite: RecordSuite, secret bytes: UnsafeRawBufferPointer, sequence: UInt64 = 0) {
    (self.suite, self.sequence) = (suite, sequence)
    guard bytes.count == suite.secretSize else { return nil }
    withUnsafeMutableBytes(of: &secret) {
      UnsafeMutableRawBufferPointer(rebasing: $0[..<bytes.count]).copyMemory(from: bytes)
    }
    guard derive() else {
      wipe()
      return nil
    }
  }

  private mutating func expand(_ label: String, _ size: Int, into output: UnsafeMutableRawBufferPointer)
    -> Bool
  {
    withUnsafeBytes(of: &secret) { secret in
      co_expand_label(
        suite.rawValue, secret.bindMemory(to: UInt8.self).baseAddress, label,
        output.bindMemory(to: UInt8.self).baseAddress, size) == 1
    }
  }

  private mutating func derive() -> Bool {
    var (key, base) = (self.key, self.base)
    defer {
      Self.wipe(&key)
      Self.wipe(&base)
    }
    guard withUnsafeMutableBytes(of: &key, { expand("key", suite.keySize, into: $0) }),
      withUnsafeMutableBytes(of: &base, { expand("iv", 12, into: $0) })
    else { return false }
    (self.key, self.base) = (key, base)
    return true
  }

  /// Goes on with the next secret (RFC 8446 section 7.2). False without memory.
  mutating func update() -> Bool {
    var next = InlineArray<48, UInt8>(repeating: 0)
    defer { Self.wipe(&next) }
    guard withUnsafeMutableBytes(of: &next, { expand("traffic upd", suite.secretSize, into: $0) }) else {
      return false
    }
    secret = next
    // Without new keys nothing is protected any more.
    sequence = .max
    guard derive() else { return false }
    sequence = 0
    return true
  }

  /// What makes the next record's nonce (RFC 8446 section 5.3), which is used once; nil if there was one for
  /// each number.
  private mutating func nextNonce() -> InlineArray<12, UInt8>? {
    guard sequence < .max else { return nil }
    var nonce = base
    for place in 0..<8 { nonce[11 - place] ^= UInt8(truncatingIfNeeded: sequence >> (8 * UInt64(place))) }
    sequence += 1
    return nonce
  }

  /// Writes a record with a content of at most 16 KiB and its kind to where there is room for 22 bytes more.
  /// False if that is impossible, and then the connection is over.
  package mutating func seal(
    _ kind: UInt8, _ content: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
    _ ciphers: inout co_record_ciphers
  ) -> Bool {
    precondition(output.count >= content.count + RecordLayer.overhead)
    guard var nonce = nextNonce() else { return false }
    return withUnsafeBytes(of: &key) { key in
      withUnsafeBytes(of: &nonce) { nonce in
        co_seal_record(
          &ciphers, suite.rawValue, key.bindMemory(to: UInt8.self).baseAddress,
          nonce.bindMemory(to: UInt8.self).baseAddress, kind,
          content.bindMemory(to: UInt8.self).baseAddress, content.count,
          output.bindMemory(to: UInt8.self).baseAddress) == 1
      }
    }
  }

  /// Decrypts a record, header and all, in its place. False if it is not the peer's next one.
  mutating func open(_ record: UnsafeMutableRawBufferPointer, _ ciphers: inout co_record_ciphers) -> Bool {
    guard record.count >= RecordLayer.headerSize, var nonce = nextNonce() else { return false }
    return withUnsafeBytes(of: &key) { key in
      withUnsafeBytes(of: &nonce) { nonce in
        co_open_record(
          &ciphers, suite.rawValue, key.bindMemory(to: UInt8.self).baseAddress,
          nonce.bindMemory(to: UInt8.self).baseAddress, record.bindMemory(to: UInt8.self).baseAddress,
          record.count - RecordLayer.headerSize) == 1
      }
    }
  }

  /// Writes the secret and its count. Whoever reads them goes on protecting records: from now on nobody may
  /// do so here, unless it is certain that the reader never does.
  func write(to writer: inout ByteWriter) {
    writer.write(UInt8(suite.rawValue))
    writer.write(sequence)
    withUnsafeBytes(of: secret) { writer.write(bytes: $0.prefix(suite.secretSize)) }
  }

  /// Reads what `write` wrote; nil if it is something else, or without memory.
  init?(from reader: inout ByteReader) {
    guard let number = reader.read(UInt8.self), let suite = RecordSuite(rawValue: Int32(number)),
      let sequence = reader.read(UInt64.self), var secret = reader.read(count: suite.secretSize)
    else { return nil }
    defer { secret.wipe() }
    guard
      let keys = secret.withUnsafeBytes({ RecordKeys(suite, secret: $0, sequence: sequence) })
    else { return nil }
    self = keys
  }

  /// Overwrites the secrets.
  mutating func wipe() {
    Self.wipe(&secret)
    Self.wipe(&key)
    Self.wipe(&base)
  }

  private static func wipe<let size: Int>(_ bytes: inout InlineArray<size, UInt8>) {
    withUnsafeMutableBytes(of: &bytes) { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}

extension [UInt8] {
  /// Overwrites secrets.
  package mutating func wipe() { withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
}
