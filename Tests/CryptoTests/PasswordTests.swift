import BorealisBase
import Testing

@testable import BorealisCrypto

@Suite struct PasswordTests {
  @Test func `A password matches its own hash and no other`() throws {
    let (hash, again) = (try Password.hash("correct horse"), try Password.hash("correct horse"))
    #expect(hash != again && hash.hasPrefix("scrypt$15$8$3$"))
    #expect(Password.matches("correct horse", hash) && Password.matches("correct horse", again))
    #expect(!Password.matches("correct horsf", hash) && !Password.matches("", hash))
  }

  /// RFC 7914 section 12, the first 32 bytes of the third vector.
  @Test func `A known digest`() throws {
    let digest = try #require(
      Hex.decode("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"))
    let salt = Base64.encode(Array("SodiumChloride".utf8))
    #expect(Password.matches("pleaseletmein", "scrypt$14$8$1$\(salt)$\(Base64.encode(digest))"))
  }

  @Test(arguments: [
    "", "scrypt", "bcrypt$15$8$3$AA==$AA==", "scrypt$40$8$3$AA==$AA==", "scrypt$15$8$0$AA==$AA==",
    "scrypt$15$8$3$!$!",
    "scrypt$18$8$1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  ])
  func `What is no hash of ours matches nothing`(stored: String) { #expect(!Password.matches("x", stored)) }

  /// RFC 6238 appendix B, the last six of its eight digits.
  @Test(arguments: [
    (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
    (2_000_000_000, "279037"), (20_000_000_000, "353130"),
  ])
  func codes(second: Int64, code: String) {
    let secret = Array("12345678901234567890".utf8)
    let moment = Timestamp(milliseconds: second * 1000)
    #expect(OneTimePassword.code(secret: secret, step: OneTimePassword.step(at: moment)) == code)
    let step = OneTimePassword.step(at: moment)
    for offset: Int64 in [-30, 0, 30] {
      #expect(
        OneTimePassword.match(code, secret: secret, at: moment.adding(seconds: offset), after: 0) == step)
    }
    #expect(OneTimePassword.match(code, secret: secret, at: moment.adding(seconds: 90), after: 0) == nil)
    #expect(OneTimePassword.match(code, secret: secret, at: moment, after: step) == nil)
    #expect(OneTimePassword.match("", secret: secret, at: moment, after: 0) == nil)
  }

  /// RFC 4648 section 10, without padding.
  @Test(arguments: [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foobar", "MZXW6YTBOI")])
  func base32(plain: String, text: String) { #expect(OneTimePassword.text(of: Array(plain.utf8)) == text) }
}
