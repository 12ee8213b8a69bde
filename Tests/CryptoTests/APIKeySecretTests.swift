import BorealisCrypto
import Testing

@Suite struct APIKeySecretTests {
  @Test func `A secret passes the checks of official clients and is recognized`() {
    let secrets = (0..<200).map { _ in APIKeySecret.generate() }
    #expect(Set(secrets).count == secrets.count)
    for secret in secrets {
      // JPush's Java and Node clients refuse others.
      #expect(secret.wholeMatch(of: /[A-Za-z0-9]{24}/) != nil)
      #expect(secret.wholeMatch(of: /brlk[0-9A-Za-z]{20}/) != nil)
    }
    #expect(Set(secrets.flatMap { $0.dropFirst(4) }).count == 62, "every letter and digit occurs")
    #expect(SecretKey24.generate().wholeMatch(of: /[0-9a-f]{24}/) != nil, "no master secret begins so")
  }
}
