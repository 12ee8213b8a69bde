import BorealisBase

/// A key that an app server shares with many devices, so that one content serves all of them. Each device
/// gets it enciphered for its own key.
package struct ContentKey: Sendable {
  /// Bytes of the secret.
  package static let secretSize = 32

  /// Its ID, which is in the header of each content.
  package let id: ContentKeyID
  /// The coding of its contents.
  package let cipher: ContentCipher
  /// 32 random bytes: a secret of app server and devices.
  package let secret: [UInt8]

  /// A new key under a random name.
  package init(_ cipher: ContentCipher = .aes) {
    self.cipher = cipher
    secret = SystemRandom.bytes(Self.secretSize)
    id = ContentKeyID(SystemRandom.bytes(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
  }

  /// Reads what `bytes` gave; nil if it is not of that form, or of a coding that the platform's library does
  /// not have.
  package init?(id: ContentKeyID, bytes: [UInt8]) {
    guard bytes.count == Self.secretSize + 1, bytes[0] == 1 || bytes[0] == 2 else { return nil }
    self.id = id
    cipher = bytes[0] == 1 ? .aes : .sm4
    guard ContentLibrary.ciphers.contains(cipher) else { return nil }
    secret = Array(bytes[1...])
  }

  /// What is enciphered for each device: 1 for AES or 2 for SM4, then the secret.
  package var bytes: [UInt8] { [cipher == .aes ? 1 : 2] + secret }

  /// Enciphers a content.
  package func seal(_ plain: [UInt8]) -> [UInt8] {
    ContentCoding(cipher).seal(plain, secret: secret, keyName: id.bytes)
  }

  /// Opens what was enciphered with this key.
  package func open(_ bytes: [UInt8]) throws(ContentError) -> [UInt8] {
    guard let header = ContentCoding.Header(bytes) else { throw .malformed }
    guard header.keyName == id.bytes else { throw .damaged }
    return try ContentCoding(cipher).open(bytes, secret: secret)
  }
}
