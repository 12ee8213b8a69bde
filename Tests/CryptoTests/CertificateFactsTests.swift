import BorealisBase
import PushTesting
import Testing

@testable import BorealisCrypto

@Suite struct CertificateFactsTests {
  let tool = OpenSSLTool()

  /// The worked value of an extension with two topics.
  static let list = element(
    0x30,
    element(0x0c, Array("com.example.app".utf8)) + element(0x30, element(0x0c, Array("app".utf8)))
      + element(0x0c, Array("com.example.app.voip".utf8)) + element(0x30, element(0x0c, Array("voip".utf8))))

  static let topics = [
    CertificateTopic(name: "com.example.app", kind: "app"),
    CertificateTopic(name: "com.example.app.voip", kind: "voip"),
  ]

  static func element(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
    value.count < 0x80 ? [tag, UInt8(value.count)] + value : [tag, 0x81, UInt8(value.count)] + value
  }

  @Test func readsWhatAppleWrites() throws {
    let before = SystemTime().now()
    try tool.makeCertificate(
      extensions: [
        "1.2.840.113635.100.6.3.2=ASN1:NULL", "1.2.840.113635.100.6.3.6=DER:\(Hex.encode(Self.list))",
      ], days: 398, key: "RSA -pkeyopt rsa_keygen_bits:2048")
    let facts = try CertificateFacts(pem: tool.text("certificate.pem"))
    #expect(facts.userID == "com.example.app")
    #expect(facts.commonName == "Apple Push Services: com.example.app")
    #expect(facts.organizationalUnit == "T5Z8W1R6PD")
    #expect(facts.allowsProduction && !facts.allowsSandbox)
    #expect(facts.topics == Self.topics)
    #expect(abs(facts.notBefore.seconds - before.seconds) < 600)
    #expect(facts.notAfter.seconds - facts.notBefore.seconds == 398 * 86_400)
    #expect(
      Hex.encode(facts.fingerprint) == (try CertificateInfo(pem: tool.text("certificate.pem"))).fingerprint)
  }

  @Test func withoutExtensionsOnlyTheUserIDIsATopic() throws {
    try tool.makeCertificate(subject: "/UID=com.example.推送", extensions: [])
    let facts = try CertificateFacts(pem: tool.text("certificate.pem"))
    #expect(facts.topics == [CertificateTopic(name: "com.example.推送", kind: "")])
    #expect(!facts.allowsProduction && !facts.allowsSandbox)
    #expect(facts.commonName == nil && facts.organizationalUnit == nil)
  }

  @Test func olderTopicsForCallsAreAdded() throws {
    try tool.makeCertificate(
      extensions: ["1.2.840.113635.100.6.3.4=DER:\(Hex.encode(Self.list))"])
    #expect(try CertificateFacts(pem: tool.text("certificate.pem")).topics == Self.topics)
    try tool.makeCertificate(extensions: ["1.2.840.113635.100.6.3.4=ASN1:NULL"])
    #expect(
      try CertificateFacts(pem: tool.text("certificate.pem")).topics
        == [CertificateTopic(name: "com.example.app", kind: "")])
  }

  @Test func damagedTopicsAreRefused() throws {
    try tool.makeCertificate(extensions: ["1.2.840.113635.100.6.3.6=DER:30050c036162"])
    let text = tool.text("certificate.pem")
    #expect(throws: CredentialFileError.unreadableTopics) { try CertificateFacts(pem: text) }
    #expect(throws: CredentialFileError.noCertificate) { try CertificateFacts(pem: "hello") }
  }

  /// One more OCTET STRING around the list, or two, change nothing; four are too many.
  @Test func wrappersAreUnwrapped() {
    var value = Self.list
    for _ in 0...3 {
      #expect(CertificateTopic.list(extension: value) == Self.topics)
      value = Self.element(0x04, value)
    }
    #expect(CertificateTopic.list(extension: value) == nil)
    #expect(CertificateTopic.list(extension: [0x30, 0]) == [])
  }

  /// No piece of a list is a list, and no change of one byte makes the reader trap.
  @Test func everyCutIsRefused() {
    for count in Self.list.indices {
      #expect(CertificateTopic.list(extension: Array(Self.list[..<count])) == nil)
    }
    #expect(CertificateTopic.list(extension: Self.list + [0]) == nil)
    for index in Self.list.indices {
      for value in [0, 0x7f, 0x80, 0x84, 0xff] as [UInt8] {
        var changed = Self.list
        changed[index] = value
        let topics = CertificateTopic.list(extension: changed)
        #expect(changed == Self.list || topics != Self.topics)
      }
    }
  }

  @Test(
    arguments: [
      [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [0x30, 0x80, 0, 0], [0x30, 0xff], [0x1f, 0x1f, 0],
      [0x30, 0x83, 1, 0, 0],
      [0x30, 0x04, 0x0c, 0x00, 0x30, 0x00], [0x30, 0x07, 0x0c, 0x01, 0x0a, 0x30, 0x02, 0x0c, 0x00],
      [0x30, 0x08, 0x0c, 0x01, 0xff, 0x30, 0x03, 0x0c, 0x01, 0x61],
    ] as [[UInt8]])
  func hostileListsAreRefused(bytes: [UInt8]) { #expect(CertificateTopic.list(extension: bytes) == nil) }
}
