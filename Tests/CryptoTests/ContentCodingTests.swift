import BorealisBase
import COpenSSL
import Testing

@testable import BorealisCrypto

/// Known answers of the standards, and what must be refused.
@Suite struct ContentCodingTests {
  /// RFC 8188 section 3.1: one record, a key without a name.
  @Test func oneRecord() throws {
    let secret = url("yqdlZ-tYemfogSmv7Ws5PQ")
    let sealed = url("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    let coding = ContentCoding(.aes)
    #expect(try coding.open(sealed, secret: secret) == Array("I am the walrus".utf8))
    let salt = url("I1BsxtFttlv3u_Oo94xnmw")
    #expect(coding.seal(Array("I am the walrus".utf8), secret: secret, keyName: [], salt: salt) == sealed)
  }

  /// RFC 8188 section 3.2: two records, the first with padding.
  @Test func twoRecords() throws {
    let sealed = url(
      "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA")
    let header = try #require(ContentCoding.Header(sealed))
    #expect(header.keyName == Array("a1".utf8) && header.recordSize == 25)
    let plain = try ContentCoding(.aes).open(sealed, secret: url("BO3ZVPxUlnLORbVGMpbT1Q"))
    #expect(plain == Array("I am the walrus".utf8))
  }

  /// RFC 8291 section 5 and appendix A.
  @Test func webPush() throws {
    let receiver = try DevicePrivateKey(
      kind: .p256,
      bytes: url("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
        + url("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
        + url("BTBZMqHH6r4Tts7J_aSIgg"))
    let sender = try DevicePrivateKey(
      kind: .p256,
      bytes: url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
        + url("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
        + [UInt8](repeating: 0, count: 16))
    let plain = Array("When I grow up, I want to be a watermelon".utf8)
    let sealed = url(
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8"
        + "wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    #expect(try receiver.open(sealed) == plain)
    #expect(
      try receiver.publicKey.seal(plain, from: sender, salt: url("DGv6ra1nlYgDCS1FRnbzlw")) == sealed)
  }

  /// GM/T 0002 appendix A (SM4) and GM/T 0004 appendix A (SM3).
  @Test func nationalBlocksAndDigests() throws {
    let key = try #require(Hex.decode("0123456789abcdeffedcba9876543210"))
    var block = [UInt8](repeating: 0, count: 16)
    let cipher = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(cipher) }
    #expect(EVP_EncryptInit_ex(cipher, EVP_sm4_ecb(), nil, key, nil) == 1)
    co_sm4_block(key, &block, cipher.map { UnsafeRawPointer($0) })
    #expect(Hex.encode(block) == "681edf34d206965e86b3e94f536e4246")
    #expect(
      Hex.encode(SM3.digest(Array("abc".utf8)))
        == "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0")
  }

  /// RFC 8998 appendix A.1.
  @Test func sm4GCM() throws {
    let key = try #require(Hex.decode("0123456789abcdeffedcba9876543210"))
    let nonce = try #require(Hex.decode("00001234567800000000abcd"))
    let context = try #require(Hex.decode("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
    let plain = [0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0xee, 0xaa].flatMap {
      [UInt8](repeating: $0, count: 8)
    }
    let expected = try #require(
      Hex.decode(
        "17f399f08c67d5ee19d0dc9969c4bb7d5fd46fd3756489069157b282bb200735d82710ca5c22f0ccfa7cbf93d496ac15"
          + "a56834cbcf98c397b4024a2691233b8d83de3541e4c2b58177e065a9bf7b62ec"))
    var sealed = [UInt8](repeating: 0, count: 80)
    #expect(co_sm4_gcm(1, key, nonce, context, context.count, plain, 64, &sealed) == 1)
    #expect(sealed == expected)
    var opened = [UInt8](repeating: 0, count: 64)
    #expect(co_sm4_gcm(0, key, nonce, context, context.count, sealed, 64, &opened) == 1)
    #expect(opened == plain)
    sealed[79] ^= 1
    #expect(co_sm4_gcm(0, key, nonce, context, context.count, sealed, 64, &opened) == 0)
    #expect(opened == [UInt8](repeating: 0, count: 64))
  }

  /// GM/T 0003.5 appendix C: "encryption standard" on the recommended curve.
  @Test func sm2() throws {
    let scalar = "3945208f7b2144b13f36e38ac6d39f95889393692860b51a42fb81ef4df7c5b8"
    let point =
      "0409f9df311e5421a150dd7d161e4bc5c672179fad1833fc076bb08ff356f35020"
      + "ccea490ce26775a52dc6ea718cc1aa600aed05fbf35e084a6632f6072da9ad13"
    let sealed =
      "307c022004ebfc718e8d1798620432268e77feb6415e2ede0e073c0f4f640ecd2e149a73"
      + "022100e858f9d81e5430a57b36daab8f950a3c64e6ee6a63094d99283aff767e124df0"
      + "042059983c18f809e262923c53aec295d30383b54e39d609d160afcb1908d0bd8766"
      + "041321886ca989ca9c7d58087307ca93092d651efa"
    let bytes = try #require(Hex.decode(scalar + point + String(repeating: "00", count: 16)))
    let key = try DevicePrivateKey(kind: .sm2, bytes: bytes)
    let plain = try key.key.sm2(encrypt: false, try #require(Hex.decode(sealed)))
    #expect(plain == Array("encryption standard".utf8))
  }

  @Test(arguments: ContentCipher.allCases, [0, 1, 7, 8, 9, 4000, 60_000])
  func openWhatTheySealed(cipher: ContentCipher, count: Int) throws {
    let (plain, secret) = (SystemRandom.bytes(count), SystemRandom.bytes(32))
    let coding = ContentCoding(cipher)
    let sealed = coding.seal(plain, secret: secret, keyName: [1, 2])
    #expect(sealed.count == count + ContentCoding.overhead + 2)
    #expect(try coding.open(sealed, secret: secret) == plain)
    if count < 5000 {
      let records = coding.seal(plain, secret: secret, keyName: [], recordSize: 25)
      #expect(try coding.open(records, secret: secret) == plain)
    }
  }

  @Test(arguments: DeviceKeyKind.allCases)
  func onlyTheDeviceReads(kind: DeviceKeyKind) throws {
    let key = try DevicePrivateKey(kind)
    let plain = Array("for you".utf8)
    let sealed = try key.publicKey.seal(plain)
    // Kept and read again, as a device does across restarts.
    let again = try DevicePrivateKey(kind: kind, bytes: key.bytes)
    #expect(again.publicKey == key.publicKey)
    #expect(try again.open(sealed) == plain)
    #expect(DevicePublicKey(kind: kind, bytes: key.publicKey.bytes) == key.publicKey)
    let other = try DevicePrivateKey(kind)
    #expect(throws: ContentError.damaged) { try other.open(sealed) }
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      let bytes = changed
      if (16..<20).contains(index) {
        // The size of a record that is the only one: nothing depends on it (RFC 8188 section 2.1).
        #expect([plain, nil].contains(try? key.open(bytes)))
      } else {
        #expect(throws: ContentError.self) { try key.open(bytes) }
      }
      #expect(throws: ContentError.self) { try key.open(Array(sealed[..<index])) }
    }
    #expect(throws: ContentError.self) { try key.open(sealed + [0]) }
  }

  @Test(arguments: ContentCipher.allCases)
  func sharedKeys(cipher: ContentCipher) throws {
    let key = ContentKey(cipher)
    let sealed = key.seal(Array("for all".utf8))
    #expect(try key.open(sealed) == Array("for all".utf8))
    #expect(ContentKey(id: key.id, bytes: key.bytes)?.bytes == key.bytes)
    #expect(throws: ContentError.damaged) { try ContentKey(cipher).open(sealed) }
    // Of two contents under one key neither can stand for a part of the other.
    let other = key.seal(Array("for two".utf8))
    #expect(throws: ContentError.damaged) { try key.open(Array(sealed[..<37]) + other[37...].prefix(16)) }
    #expect(ContentKey(id: key.id, bytes: [3] + key.secret) == nil)
  }

  /// A point that is not on its curve would give the private key away.
  @Test(arguments: [DeviceKeyKind.p256, .sm2]) func wrongPointsAreRefused(kind: DeviceKeyKind) throws {
    let point = [4] + [UInt8](repeating: 1, count: 64)
    let key = try #require(
      DevicePublicKey(kind: kind, point: point, auth: [UInt8](repeating: 0, count: 16)))
    #expect(throws: ContentError.damaged) { try key.seal([1]) }
    let real = try DevicePrivateKey(kind)
    #expect(throws: ContentError.self) {
      try DevicePrivateKey(
        kind: kind, bytes: Array(real.bytes[..<32]) + DevicePrivateKey(kind).publicKey.bytes)
    }
  }

  /// A zero point of X25519 leads to a secret that everybody knows.
  @Test func zeroIsNoKey() throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let key = try #require(
      DevicePublicKey(kind: .x25519, point: zero, auth: [UInt8](repeating: 0, count: 16)))
    #expect(throws: ContentError.damaged) { try key.seal([1]) }
  }

  private func url(_ text: String) -> [UInt8] {
    var standard = text.replacing("-", with: "+").replacing("_", with: "/")
    while !standard.utf8.count.isMultiple(of: 4) { standard += "=" }
    return Base64.decode(standard.utf8) ?? []
  }
}
