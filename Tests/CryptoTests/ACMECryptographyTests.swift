import BorealisBase
import BorealisCrypto
import PushTesting
import Testing

/// What ACME needs, as the `openssl` command sees it.
@Suite struct ACMECryptographyTests {
  private let tool = OpenSSLTool()

  @Test func `A request has the names, the key and a signature`() throws {
    let key = try ES256Key.generate()
    try tool.write(try key.certificateRequest(dnsNames: ["a.example.com", "b.example.com"]), to: "request")
    let text = try tool.run("req -inform DER -in request -noout -verify -text")
    #expect(text.contains("verify OK") && text.contains("DNS:a.example.com, DNS:b.example.com"))
    #expect(text.contains("Subject: \n") && text.contains("Signature Algorithm: ecdsa-with-SHA256"))
    let publicKey = try tool.run("req -inform DER -in request -noout -pubkey")
    #expect(try publicKey == key.publicKeyPEM())
  }

  @Test(arguments: [[], [""], ["a,DNS:evil.example"], ["a\n"]])
  func `Names that would be others are refused`(names: [String]) throws {
    let key = try ES256Key.generate()
    #expect(throws: CryptoError.self) { try key.certificateRequest(dnsNames: names) }
  }

  @Test func `A challenge's certificate carries the digest, and critically so`() throws {
    let made = try SelfSignedCertificate.answeringChallenge(
      for: "push.example.com", keyAuthorization: "token.thumbprint")
    try tool.write(Array(made.certificatePEM.utf8), to: "certificate.pem")
    let text = try tool.run("x509 -in certificate.pem -noout -text")
    #expect(text.contains("DNS:push.example.com"))
    #expect(
      text.contains("1.3.6.1.5.5.7.1.31: critical") || text.contains("acmeIdentifier: critical"), "\(text)")
    let digest = SHA256.digest(Array("token.thumbprint".utf8))
    let parsed = try tool.run("asn1parse -in certificate.pem")
    #expect(parsed.contains("[HEX DUMP]:0420\(Hex.encode(digest).uppercased())"), "\(parsed)")
  }

  @Test func `A certificate says when it begins`() throws {
    let made = try SelfSignedCertificate.make(commonName: "a", dnsNames: ["a"], ipAddresses: [], days: 2)
    let info = try CertificateInfo(pem: made.certificatePEM)
    let life = info.notAfter.milliseconds - info.notBefore.milliseconds
    #expect(life == (2 * 86_400 + 3600) * 1000)
  }
}
