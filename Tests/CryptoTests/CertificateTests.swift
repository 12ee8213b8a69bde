import BorealisBase
import BorealisCrypto
import Testing

@Suite struct CertificateTests {
  @Test(arguments: [1, 398, 36500])
  func saysWhatWasAsked(days: Int) throws {
    let before = SystemTime().now()
    let made = try SelfSignedCertificate.make(
      commonName: "推送.example", dnsNames: ["localhost", "*.example.com"], ipAddresses: ["127.0.0.1", "::1"],
      days: days)
    #expect(made.keyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let info = try CertificateInfo(pem: made.certificatePEM)
    #expect(info.subject == "CN=推送.example")
    #expect(info.fingerprint == made.fingerprint)
    let lifetime = info.notAfter.milliseconds - before.milliseconds
    #expect(abs(lifetime - Int64(days) * 86_400_000) < 60_000)
  }

  @Test func fingerprintIsTheDigestOfTheEncodedForm() throws {
    let made = try SelfSignedCertificate.make(commonName: "a", dnsNames: ["a"], ipAddresses: [], days: 1)
    let lines = made.certificatePEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }
    let encoded = try #require(Base64.decode(Array(lines.joined().utf8)))
    #expect(Hex.encode(SHA256.digest(encoded)) == made.fingerprint)
  }

  @Test func everyCertificateIsNew() throws {
    let made = try (0..<3).map { _ in
      try SelfSignedCertificate.make(commonName: "a", dnsNames: ["a"], ipAddresses: [], days: 1)
    }
    #expect(Set(made.map(\.keyPEM)).count == 3)
    #expect(Set(made.map(\.fingerprint)).count == 3)
  }

  @Test(arguments: [
    (CryptoError.invalidName(""), "", ["a"], ["::1"], 1),
    (.invalidName("a,DNS:evil.example"), "a", ["a,DNS:evil.example"], [], 1),
    (.invalidName("a\n"), "a", ["a\n"], [], 1),
    (.invalidName("a..b"), "a", ["a..b"], [], 1),
    (.invalidName("a.*"), "a", ["a.*"], [], 1),
    (.invalidName(""), "a", [], [], 1),
    (.invalidAddress("1.2.3"), "a", [], ["1.2.3"], 1),
    (.invalidAddress("1.2.3.4,DNS:evil"), "a", [], ["1.2.3.4,DNS:evil"], 1),
    (.invalidDays(0), "a", ["a"], [], 0),
    (.invalidDays(36501), "a", ["a"], [], 36501),
  ])
  func refuses(error: CryptoError, name: String, names: [String], addresses: [String], days: Int) {
    #expect(throws: error) {
      try SelfSignedCertificate.make(commonName: name, dnsNames: names, ipAddresses: addresses, days: days)
    }
  }

  @Test(arguments: [
    "", "hello", "-----BEGIN CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "\0",
    "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
      + "AAAA\n-----END CERTIFICATE-----\n",
  ])
  func notCertificates(text: String) {
    #expect(throws: CryptoError.notACertificate) { try CertificateInfo(pem: text) }
  }
}
