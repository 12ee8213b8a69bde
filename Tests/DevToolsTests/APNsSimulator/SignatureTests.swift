import BorealisBase
import BorealisCrypto
import Testing

@testable import DevTools

@Suite struct SignatureTests {
  let key: TestKey
  let message = Array("a message".utf8)

  init() throws { key = try TestKey() }

  @Test func goodSignaturesAreTaken() throws {
    let publicKey = try ES256PublicKey(pem: key.publicPEM())
    // Numbers that begin with a zero byte or a set bit come often enough among so many.
    for number in 0..<300 {
      let message = Array("message \(number)".utf8)
      #expect(publicKey.isValid(signature: try key.sign(message), of: message))
    }
  }

  @Test func theWayToLoadAKeyDoesNotMatter() throws {
    let signature = try key.sign(message)
    #expect(try ES256PublicKey(pem: key.pem).isValid(signature: signature, of: message))
    let lines = try key.publicPEM().split(separator: "\n").dropFirst().dropLast()
    let document = try #require(Base64.decode(Array(lines.joined().utf8)))
    let point = Array(document.suffix(65))
    #expect(try ES256PublicKey(point: point).isValid(signature: signature, of: message))
  }

  @Test func anyChangeIsNoticed() throws {
    let publicKey = try ES256PublicKey(pem: key.publicPEM())
    let signature = try key.sign(message)
    for index in signature.indices {
      var changed = signature
      changed[index] ^= 1
      #expect(!publicKey.isValid(signature: changed, of: message))
    }
    #expect(!publicKey.isValid(signature: signature, of: message + [0]))
    #expect(!publicKey.isValid(signature: TestKey.der(signature), of: message))
    #expect(!publicKey.isValid(signature: Array(repeating: 0, count: 64), of: message))
    #expect(!publicKey.isValid(signature: [], of: message))
    #expect(!(try ES256PublicKey(pem: TestKey().publicPEM())).isValid(signature: signature, of: message))
  }

  @Test func otherKeysAreRefused() {
    for text in ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", Self.p384, Self.ed25519]
    {
      #expect(throws: CryptoError.self) { try ES256PublicKey(pem: text) }
    }
    var point = [UInt8](repeating: 1, count: 65)
    point[0] = 4
    for bytes in [[], point, Array(point.dropLast())] {
      #expect(throws: CryptoError.self) { try ES256PublicKey(point: bytes) }
    }
  }

  static let ed25519 = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
    -----END PUBLIC KEY-----

    """

  static let p384 = """
    -----BEGIN PUBLIC KEY-----
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEF6SSKdicTsO37wokkN9HpM0nm494xE0S
    w5EcTdp+mt33GDRDXqAFp73YmZDjY+IWfl2cPB3lOzqUziZW0/acB8VCOlywDX8I
    6aPkja/ru34mxEjsJM0Oa45HbZ2k7qv9
    -----END PUBLIC KEY-----

    """
}
