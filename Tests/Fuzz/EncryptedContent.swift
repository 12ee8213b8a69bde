import BorealisBase
import BorealisCrypto

private let fuzzedDevice = DeviceKeyKind.allCases.compactMap { try? DevicePrivateKey($0) }
private let fuzzedKey = ContentKey()

/// The coding of contents that only devices read: what is not ours is refused, and what we seal is read
/// again.
@Sendable func fuzzEncryptedContent(_ bytes: [UInt8]) {
  for cipher in ContentCipher.allCases {
    let coding = ContentCoding(cipher)
    check((try? coding.open(bytes, secret: [1])) == nil, "nobody makes a content without its key")
    guard bytes.count < 8000 else { continue }
    let size = bytes.first.map { 18 + Int($0) }
    let sealed = coding.seal(bytes, secret: [1], keyName: Array(bytes.prefix(255)), recordSize: size)
    check((try? coding.open(sealed, secret: [1])) == bytes, "what was sealed opens")
  }
  for device in fuzzedDevice { check((try? device.open(bytes)) == nil, "nobody knows the device's key") }
  check((try? fuzzedKey.open(bytes)) == nil, "nobody knows the shared key")
  if let key = ContentKey(id: ContentKeyID(1), bytes: bytes) { check(key.bytes == bytes, "one form") }
  for kind in DeviceKeyKind.allCases {
    if let key = DevicePublicKey(kind: kind, bytes: bytes) { check(key.bytes == bytes, "one form") }
    if let key = try? DevicePrivateKey(kind: kind, bytes: bytes) { check(key.bytes == bytes, "one form") }
  }
}
