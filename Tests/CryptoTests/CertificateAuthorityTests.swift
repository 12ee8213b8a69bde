import BorealisBase
import Testing

@testable import BorealisCrypto

@Suite struct CertificateAuthorityTests {
  private func make() throws -> CertificateAuthority {
    try CertificateAuthority.make(commonName: "Test authority", days: 2)
  }

  @Test func pushCertificatesSayWhatApplesSay() throws {
    let topics = [
      CertificateTopic(name: "com.example.app", kind: "app"),
      CertificateTopic(name: "com.example.app.voip", kind: "voip"),
    ]
    for (sandbox, production) in [(true, true), (true, false), (false, true)] {
      let issued = try make().issuePushClient(
        bundleID: "com.example.app", topics: topics, sandbox: sandbox, production: production, days: 3)
      let facts = try CertificateFacts(pem: issued.certificatePEM)
      #expect(facts.userID == "com.example.app")
      #expect(facts.topics == topics)
      #expect(facts.allowsSandbox == sandbox && facts.allowsProduction == production)
      #expect(facts.notAfter.seconds - facts.notBefore.seconds == 3 * 86_400 + 3600)
    }
  }

  @Test func manyTopicsFit() throws {
    let topics = (0..<60).map { CertificateTopic(name: "com.example.app\($0)", kind: "app") }
    #expect(CertificateTopic.list(extension: CertificateTopic.encode(topics)) == topics)
    #expect(CertificateTopic.list(extension: CertificateTopic.encode([])) == [])
  }

  @Test func filesWithAPasswordComeBack() throws {
    let issued = try make().issuePushClient(
      bundleID: "com.example.app", topics: [], sandbox: true, production: true, days: 1)
    let file = try PKCS12.make(
      certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM, password: "demo")
    let pair = try PKCS12.parse(file, password: "demo")
    #expect(pair.certificatesPEM == issued.certificatePEM)
    #expect(pair.keyPEM == issued.keyPEM)
    #expect(throws: CredentialFileError.wrongPassword) { try PKCS12.parse(file, password: "other") }
    let other = try make().keyPEM
    #expect(throws: CryptoError.self) {
      try PKCS12.make(certificatePEM: issued.certificatePEM, keyPEM: other, password: "demo")
    }
  }

  @Test func onlyItsOwnKeySigns() throws {
    let first = try make()
    let mixed = CertificateAuthority(certificatePEM: first.certificatePEM, keyPEM: try make().keyPEM)
    #expect(throws: CryptoError.self) {
      try mixed.issueServer(commonName: "x", dnsNames: ["localhost"], ipAddresses: [], days: 1)
    }
    #expect(throws: CryptoError.invalidDays(0)) { try CertificateAuthority.make(commonName: "x", days: 0) }
    #expect(throws: CryptoError.invalidName("")) {
      try first.issueServer(commonName: "x", dnsNames: [], ipAddresses: [], days: 1)
    }
  }
}
