import BorealisBase

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
    ContentKeyID(ContentLibrary.sha256(point).prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
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
    let key = try ContentKeyHandle(kind, point: point, scalar: nil)
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

  /// Makes a new one; throws if the platform's library does not have the kind.
  package init(_ kind: DeviceKeyKind = .x25519) throws(ContentError) {
    key = try ContentKeyHandle(kind)
    guard
      let publicKey = DevicePublicKey(
        kind: kind, point: try key.point(), auth: SystemRandom.bytes(DevicePublicKey.authSize))
    else { throw .damaged }
    self.publicKey = publicKey
  }

  /// Reads what `bytes` gave; throws unless the two halves belong together.
  package init(kind: DeviceKeyKind, bytes: [UInt8]) throws(ContentError) {
    guard bytes.count > 32, let publicKey = DevicePublicKey(kind: kind, bytes: Array(bytes[32...])) else {
      throw .malformed
    }
    key = try ContentKeyHandle(kind, point: publicKey.point, scalar: Array(bytes[..<32]))
    self.publicKey = publicKey
    guard try key.point() == publicKey.point else { throw .malformed }
  }

  package var kind: DeviceKeyKind { publicKey.kind }

  /// The private scalar, 32 bytes, then the public key's form: a secret.
  package var bytes: [UInt8] { key.scalar + publicKey.bytes }

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
