// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import COpenSSL
import Foundation

// The declarations of Apple's CryptoKit that the library uses, with OpenSSL behind them.

public enum CryptoKitError: Error {
  case incorrectKeySize
  case authenticationFailure
  case underlyingCoreCryptoError(error: Int32)
}

public protocol HashFunction {}

public struct SHA256Digest: Sequence, Sendable {
  fileprivate let bytes: [UInt8]

  public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}

public struct SHA256: HashFunction {
  public static func hash<D: DataProtocol>(data: D) -> SHA256Digest {
    var digest = [UInt8](repeating: 0, count: 32)
    let bytes = Array(data)
    precondition(co_sha256(bytes, bytes.count, &digest) == 1, "SHA-256 failed")
    return SHA256Digest(bytes: digest)
  }
}

public struct SymmetricKey: ContiguousBytes, Sendable {
  fileprivate let bytes: [UInt8]

  public init<D: ContiguousBytes>(data: D) { bytes = data.withUnsafeBytes { Array($0) } }

  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes(body)
  }
}

public struct HKDF<H: HashFunction>: Sendable {
  public static func deriveKey<Salt: DataProtocol, Info: DataProtocol>(
    inputKeyMaterial: SymmetricKey, salt: Salt, info: Info, outputByteCount: Int
  ) -> SymmetricKey {
    let (salt, info, secret) = (Array(salt), Array(info), inputKeyMaterial.bytes)
    var output = [UInt8](repeating: 0, count: outputByteCount)
    let done = co_hkdf(
      0, salt, salt.count, secret, secret.count, info, info.count, &output, outputByteCount)
    precondition(done == 1, "HKDF failed")
    return SymmetricKey(data: output)
  }
}

public struct SharedSecret: ContiguousBytes, Sendable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes(body)
  }
}

public enum AES {
  public enum GCM {
    public struct Nonce: Sendable {
      fileprivate let bytes: [UInt8]

      public init<D: DataProtocol>(data: D) throws {
        // CryptoKit takes any size from 12 on; the library has no other.
        guard data.count == 12 else { throw CryptoKitError.incorrectKeySize }
        bytes = Array(data)
      }
    }

    public struct SealedBox: Sendable {
      public let nonce: Nonce
      public let ciphertext: Data
      public let tag: Data

      public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {
        guard tag.count == 16 else { throw CryptoKitError.incorrectKeySize }
        (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
      }
    }

    public static func seal<Plaintext: DataProtocol>(
      _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil
    ) throws -> SealedBox {
      let nonce = try nonce ?? Nonce(data: (0..<12).map { _ in UInt8.random(in: 0...255) })
      let (plain, count) = (Array(message), message.count)
      var output = [UInt8](repeating: 0, count: count + 16)
      guard key.bytes.count == 16, co_aes128_gcm(1, key.bytes, nonce.bytes, plain, count, &output) == 1
      else { throw CryptoKitError.incorrectKeySize }
      return try SealedBox(nonce: nonce, ciphertext: output[..<count], tag: output[count...])
    }

    public static func open(_ sealedBox: SealedBox, using key: SymmetricKey) throws -> Data {
      let (sealed, count) = (Array(sealedBox.ciphertext + sealedBox.tag), sealedBox.ciphertext.count)
      var output = [UInt8](repeating: 0, count: count + 16)
      guard key.bytes.count == 16,
        co_aes128_gcm(0, key.bytes, sealedBox.nonce.bytes, sealed, count, &output) == 1
      else {
        ERR_clear_error()
        throw CryptoKitError.authenticationFailure
      }
      return Data(output[..<count])
    }
  }
}

public enum Curve25519 {
  public enum KeyAgreement {
    public struct PublicKey: Sendable {
      public let rawRepresentation: Data

      public init<D: ContiguousBytes>(rawRepresentation: D) throws {
        self.rawRepresentation = try Key.point(kind: 1, rawRepresentation, size: 32)
      }
    }

    public struct PrivateKey: Sendable {
      public let rawRepresentation: Data
      public let publicKey: PublicKey

      public init() {
        let key = Key.made(kind: 1)
        rawRepresentation = key.scalar
        guard let publicKey = try? PublicKey(rawRepresentation: key.point) else {
          preconditionFailure("no point")
        }
        self.publicKey = publicKey
      }

      public init<D: ContiguousBytes>(rawRepresentation: D) throws {
        self.rawRepresentation = rawRepresentation.withUnsafeBytes { Data($0) }
        publicKey = try PublicKey(
          rawRepresentation: Key.point(kind: 1, ofScalar: Array(self.rawRepresentation)))
      }

      public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
        try Key.agree(
          kind: 1, rawRepresentation, publicKey.rawRepresentation, publicKeyShare.rawRepresentation)
      }
    }
  }
}

public enum P256 {
  public enum KeyAgreement {
    public struct PublicKey: Sendable {
      public let x963Representation: Data

      public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {
        self.x963Representation = try Key.point(kind: 2, x963Representation, size: 65)
      }
    }

    public struct PrivateKey: Sendable {
      public let rawRepresentation: Data
      public let publicKey: PublicKey

      public init(compactRepresentable: Bool = true) {
        let key = Key.made(kind: 2)
        rawRepresentation = key.scalar
        guard let publicKey = try? PublicKey(x963Representation: key.point) else {
          preconditionFailure("no point")
        }
        self.publicKey = publicKey
      }

      public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        self.rawRepresentation = rawRepresentation.withUnsafeBytes { Data($0) }
        publicKey = try PublicKey(
          x963Representation: Key.point(kind: 2, ofScalar: Array(self.rawRepresentation)))
      }

      public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
        try Key.agree(
          kind: 2, rawRepresentation, publicKey.x963Representation, publicKeyShare.x963Representation)
      }
    }
  }
}
