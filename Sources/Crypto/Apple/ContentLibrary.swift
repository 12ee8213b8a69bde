import BorealisBase
import CryptoKit
import Foundation

/// Contents by CryptoKit, which has neither SM2 nor SM4.
enum ContentLibrary: ContentCryptography {
  typealias KeyHandle = ContentKeyHandle

  static let ciphers: Set<ContentCipher> = [.aes]

  static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

  static func derive(
    _ cipher: ContentCipher, salt: [UInt8], secret: [UInt8], info: [UInt8], count: Int
  ) -> [UInt8] {
    // A key of zeros is the same as an empty one (RFC 2104), which not every version accepts.
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret.isEmpty ? [0] : secret), salt: salt, info: info,
      outputByteCount: count)
    return key.withUnsafeBytes { Array($0) }
  }

  static func seal(_ cipher: ContentCipher, _ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    guard ciphers.contains(cipher), let nonce = try? AES.GCM.Nonce(data: nonce),
      let box = try? AES.GCM.seal(plain, using: SymmetricKey(data: key), nonce: nonce)
    else { return nil }
    return Array(box.ciphertext) + Array(box.tag)
  }

  static func open(_ cipher: ContentCipher, _ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    let count = sealed.count - ContentCoding.tagSize
    guard ciphers.contains(cipher), count >= 0, let nonce = try? AES.GCM.Nonce(data: nonce),
      let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: sealed[..<count], tag: sealed[count...]),
      let plain = try? AES.GCM.open(box, using: SymmetricKey(data: key))
    else { return nil }
    return Array(plain)
  }
}

/// A private key, which becomes one of CryptoKit's when it is used.
struct ContentKeyHandle: ContentKeyPair {
  private let kind: DeviceKeyKind
  private let ownPoint: [UInt8]
  let scalar: [UInt8]

  init(_ kind: DeviceKeyKind) throws(ContentError) {
    switch kind {
    case .x25519:
      let key = Curve25519.KeyAgreement.PrivateKey()
      (scalar, ownPoint) = (Array(key.rawRepresentation), Array(key.publicKey.rawRepresentation))
    case .p256:
      let key = P256.KeyAgreement.PrivateKey()
      (scalar, ownPoint) = (Array(key.rawRepresentation), Array(key.publicKey.x963Representation))
    case .sm2: throw .unknownKey
    }
    self.kind = kind
  }

  init(_ kind: DeviceKeyKind, point: [UInt8], scalar: [UInt8]?) throws(ContentError) {
    // Only SM2 needs a public key without its private half.
    guard let scalar, kind != .sm2 else { throw .unknownKey }
    do {
      ownPoint =
        kind == .x25519
        ? Array(try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar).publicKey.rawRepresentation)
        : Array(try P256.KeyAgreement.PrivateKey(rawRepresentation: scalar).publicKey.x963Representation)
    } catch {
      throw .damaged
    }
    guard kind == .x25519 || ownPoint == point else { throw .damaged }
    (self.kind, self.scalar) = (kind, scalar)
  }

  func point() throws(ContentError) -> [UInt8] { ownPoint }

  func agree(with other: DevicePublicKey) throws(ContentError) -> [UInt8] {
    do {
      let secret =
        kind == .x25519
        ? try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar).sharedSecretFromKeyAgreement(
          with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: other.point))
        : try P256.KeyAgreement.PrivateKey(rawRepresentation: scalar).sharedSecretFromKeyAgreement(
          with: P256.KeyAgreement.PublicKey(x963Representation: other.point))
      return secret.withUnsafeBytes { Array($0) }
    } catch {
      throw .damaged
    }
  }

  func sm2(encrypt: Bool, _ input: [UInt8]) throws(ContentError) -> [UInt8] { throw .unknownKey }
}
