import BorealisBase
import COpenSSL

/// The public key of a device, with which anybody can encrypt content for the device.
package struct DevicePublicKey: Equatable, Sendable {
  /// Bytes of `auth`.
  package static let authSize = 16

  package let kind: DeviceKeyKind
  /// The point, `kind.pointSize` bytes.
  package let point: [UInt8]
  /// 16 random bytes that go into every content's key beside the point (RFC 8291 section 3.2).
  package let auth: [UInt8]

  /// Makes a key; nil if sizes or the form of the point are wrong. Whether the point is on its curve is
  /// checked when it is used.
  package init?(kind: DeviceKeyKind, point: [UInt8], auth: [UInt8]) {
    guard point.count == kind.pointSize, auth.count == Self.authSize, kind == .x25519 || point[0] == 4 else {
      return nil
    }
    (self.kind, self.point, self.auth) = (kind, point, auth)
  }

  /// Reads the form of the device protocol: point, then auth.
  package init?(kind: DeviceKeyKind, bytes: [UInt8]) {
    guard bytes.count == kind.pointSize + Self.authSize else { return nil }
    self.init(
      kind: kind, point: Array(bytes[..<kind.pointSize]), auth: Array(bytes[kind.pointSize...]))
  }

  /// The form of the device protocol.
  package var bytes: [UInt8] { point + auth }

  /// The first eight bytes of SHA-256 of the point: the same for everybody.
  package var id: ContentKeyID {
    ContentKeyID(SHA256.digest(point).prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
  }

  /// Enciphers a content for the device; throws `damaged` if the point is not on its curve.
  package func seal(_ plain: [UInt8]) throws(ContentError) -> [UInt8] {
    guard kind != .sm2 else { return try sealSM2(plain) }
    guard let own = try? DevicePrivateKey(kind) else { throw .damaged }
    return try seal(plain, from: own, salt: SystemRandom.bytes(16))
  }

  /// RFC 8291 with the sender's key and the salt.
  func seal(_ plain: [UInt8], from sender: DevicePrivateKey, salt: [UInt8]) throws(ContentError) -> [UInt8] {
    let secret = try sender.key.agree(with: self)
    let coding = ContentCoding(.aes)
    let point = sender.publicKey.point
    return coding.seal(
      plain, secret: coding.inputKey(secret, of: self, from: point), keyName: point, salt: salt)
  }

  /// SM2 enciphers a random secret, which takes the place of the one that two keys have in common.
  private func sealSM2(_ plain: [UInt8]) throws(ContentError) -> [UInt8] {
    let secret = SystemRandom.bytes(32)
    let key = try ContentKeyHandle(kind, point: point)
    let name = try key.sm2(encrypt: true, secret)
    let coding = ContentCoding(.sm4)
    return coding.seal(plain, secret: coding.inputKey(secret, of: self, from: name), keyName: name)
  }
}

extension ContentCoding {
  /// The input of RFC 8188 as RFC 8291 section 3.4 makes it.
  fileprivate func inputKey(_ secret: [UInt8], of receiver: DevicePublicKey, from sender: [UInt8]) -> [UInt8]
  {
    derive(
      salt: receiver.auth, secret, info: Array("WebPush: info\0".utf8) + receiver.point + sender, count: 32)
  }
}

/// A device's key pair: a secret of that device.
package struct DevicePrivateKey: Sendable {
  let key: ContentKeyHandle
  /// What others may know.
  package let publicKey: DevicePublicKey

  /// Makes a new one.
  package init(_ kind: DeviceKeyKind = .x25519) throws(CryptoError) {
    guard let handle = co_new_content_key(Int32(kind.rawValue)) else { throw .fromQueue() }
    key = ContentKeyHandle(taking: handle)
    var point = [UInt8](repeating: 0, count: 65)
    let count = co_content_point(Int32(kind.rawValue), handle, &point)
    guard
      let publicKey = DevicePublicKey(
        kind: kind, point: Array(point[..<count]), auth: SystemRandom.bytes(DevicePublicKey.authSize))
    else { throw .fromQueue() }
    self.publicKey = publicKey
  }

  /// Reads what `bytes` gave; throws unless the two halves belong together.
  package init(kind: DeviceKeyKind, bytes: [UInt8]) throws(ContentError) {
    guard bytes.count > 32, let publicKey = DevicePublicKey(kind: kind, bytes: Array(bytes[32...])) else {
      throw .malformed
    }
    key = try ContentKeyHandle(kind, point: publicKey.point, scalar: Array(bytes[..<32]))
    self.publicKey = publicKey
    guard kind == .x25519 else { return }
    var point = [UInt8](repeating: 0, count: 65)
    guard co_content_point(Int32(kind.rawValue), key.handle, &point) == 32,
      Array(point[..<32]) == publicKey.point
    else { throw .malformed }
  }

  package var kind: DeviceKeyKind { publicKey.kind }

  /// The private scalar, 32 bytes, then the public key's form: a secret.
  package var bytes: [UInt8] {
    var scalar = [UInt8](repeating: 0, count: 32)
    let done = co_content_scalar(Int32(kind.rawValue), key.handle, &scalar)
    precondition(done == 1, "a private key without a private half")
    return scalar + publicKey.bytes
  }

  /// Opens what was enciphered for its public key.
  package func open(_ bytes: [UInt8]) throws(ContentError) -> [UInt8] {
    guard let header = ContentCoding.Header(bytes) else { throw .malformed }
    let coding = ContentCoding(kind.coding)
    let secret: [UInt8]
    if kind == .sm2 {
      secret = try key.sm2(encrypt: false, header.keyName)
    } else {
      guard let sender = DevicePublicKey(kind: kind, point: header.keyName, auth: publicKey.auth) else {
        throw .malformed
      }
      secret = try key.agree(with: sender)
    }
    return try coding.open(
      bytes, secret: coding.inputKey(secret, of: publicKey, from: header.keyName))
  }
}

/// OpenSSL's key, which frees itself. Nothing changes it after its init, so any thread may use it.
final class ContentKeyHandle: @unchecked Sendable {
  let handle: OpaquePointer

  init(taking handle: OpaquePointer) { self.handle = handle }

  init(_ kind: DeviceKeyKind, point: [UInt8], scalar: [UInt8]? = nil) throws(ContentError) {
    let handle =
      if let scalar {
        co_read_content_key(Int32(kind.rawValue), point, point.count, scalar)
      } else {
        co_read_content_key(Int32(kind.rawValue), point, point.count, nil)
      }
    ERR_clear_error()
    guard let handle else { throw .damaged }
    self.handle = handle
  }

  deinit { EVP_PKEY_free(handle) }

  func agree(with other: DevicePublicKey) throws(ContentError) -> [UInt8] {
    var secret = [UInt8](repeating: 0, count: 32)
    guard co_agree(Int32(other.kind.rawValue), handle, other.point, other.point.count, &secret) == 1 else {
      ERR_clear_error()
      throw .damaged
    }
    return secret
  }

  func sm2(encrypt: Bool, _ input: [UInt8]) throws(ContentError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 255)
    var count = output.count
    guard co_sm2(handle, encrypt ? 1 : 0, input, input.count, &output, &count) == 1, count <= output.count
    else {
      ERR_clear_error()
      throw .damaged
    }
    return Array(output[..<count])
  }
}
