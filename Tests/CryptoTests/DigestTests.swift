import BorealisBase
import BorealisCrypto
import Testing

@Suite struct DigestTests {
  /// FIPS 180-4's examples, and lengths around a block.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func sha256(text: String, expected: String) {
    let bytes = Array(text.utf8)
    #expect(Hex.encode(SHA256.digest(bytes)) == expected)
    let ofSpan = SHA256.digest(bytes.span)
    #expect(ofSpan == SHA256.digest(bytes))
  }

  @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 1000])
  func shortDigestIsThePrefix(count: Int) {
    let bytes = SystemRandom.bytes(count)
    let (high, low) = SHA256.digest128(bytes)
    let text = Hex.digits(high, count: 16) + Hex.digits(low, count: 16)
    #expect(text == Hex.encode(SHA256.digest(bytes).prefix(16)))
    let ofSpan = SHA256.digest128(bytes.span)
    #expect(ofSpan == (high, low))
  }

  /// RFC 4231, cases 1, 2 and 6; the empty case by Python's hmac module.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0b, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
  ])
  func hmac(key: [UInt8], message: String, expected: String) {
    #expect(Hex.encode(HMAC.sha256(key: key, Array(message.utf8))) == expected)
  }

  @Test func comparison() {
    let secret = SystemRandom.bytes(24)
    #expect(constantTimeEquals(secret, secret))
    #expect(constantTimeEquals([], []))
    #expect(!constantTimeEquals(secret, []))
    #expect(!constantTimeEquals(secret, Array(secret.dropLast())))
    for index in secret.indices {
      var other = secret
      other[index] ^= 1
      #expect(!constantTimeEquals(secret, other))
      let spansEqual = constantTimeEquals(secret.span, other.span)
      #expect(!spansEqual)
    }
    let spansEqual = constantTimeEquals(secret.span, secret.span)
    #expect(spansEqual)
  }

  @Test func secrets() {
    let secrets = (0..<100).map { _ in SecretKey24.generate() }
    #expect(Set(secrets).count == 100)
    #expect(secrets.allSatisfy { $0.utf8.count == 24 && Hex.decode($0)?.count == 12 })
  }
}
