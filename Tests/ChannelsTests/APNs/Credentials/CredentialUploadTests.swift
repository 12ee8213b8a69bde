import BorealisBase
import BorealisCrypto
import Channels
import Storage
import Testing

@Suite struct CredentialUploadTests {
  private func upload(
    fileName: String = "key.p8", keyID: String? = nil, teamID: String? = "T5Z8W1R6PD",
    topic: String? = "com.example.app", p8: [UInt8]? = nil
  ) throws -> CredentialUpload {
    try CredentialUpload(
      p8: try p8 ?? Array(ES256Key.generate().pem.utf8), fileName: fileName, keyID: keyID, teamID: teamID,
      topic: topic, environments: [.production])
  }

  @Test(arguments: [
    ("AuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("/home/a/AuthKey_ABC123DEFG.p8", "ABC123DEFG"),
    ("AuthKey_ABC123DEFG (1).p8", "ABC123DEFG"), ("AuthKey_ABC123DEFG(1).p8", "ABC123DEFG"),
    ("AuthKey_ABC123DEFGH.p8", nil), ("AuthKey_abc123defg.p8", nil), ("AuthKey_.p8", nil), ("key.p8", nil),
    ("", nil),
    ("AuthKey_ABC123DEF.p8", nil), ("SubscriptionKey_ABC123DEFG.p8", nil),
    ("AuthKey_ABC123DEFG", "ABC123DEFG"),
  ])
  func fileNamesTellTheKeyID(name: String, id: String?) throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let found = try? upload(fileName: name).rows(for: AppID(1), sealedWith: keys).first?.name
    #expect(found == id)
    // What is said wins over the name.
    #expect(
      try upload(fileName: name, keyID: "ZZZZZZZZZZ").rows(for: AppID(1), sealedWith: keys)[0].name
        == "ZZZZZZZZZZ")
  }

  @Test(
    arguments: [
      (nil, "T5Z8W1R6PD", "com.example.app", CredentialError.missingKeyID),
      ("K7Q2M9X4T", "T5Z8W1R6PD", "com.example.app", .badKeyID("K7Q2M9X4T")),
      ("K7Q2M9X4T\"", "T5Z8W1R6PD", "com.example.app", .badKeyID("K7Q2M9X4T\"")),
      ("k7q2m9x4tb", "T5Z8W1R6PD", "com.example.app", .badKeyID("k7q2m9x4tb")),
      ("K7Q2M9X4TB", nil, "com.example.app", .missingTeamID),
      ("K7Q2M9X4TB", "T5Z8W1R6PDX", "com.example.app", .badTeamID("T5Z8W1R6PDX")),
      ("K7Q2M9X4TB", "T5Z8W1R6PD", nil, .missingTopic),
      ("K7Q2M9X4TB", "T5Z8W1R6PD", "com..app", .badTopic("com..app")),
      ("K7Q2M9X4TB", "T5Z8W1R6PD", "com.example app", .badTopic("com.example app")),
      ("K7Q2M9X4TB", "T5Z8W1R6PD", "", .badTopic("")),
      ("K7Q2M9X4TB", "T5Z8W1R6PD", "com.exämple", .badTopic("com.exämple")),
    ] as [(String?, String?, String?, CredentialError)])
  func keysWithWrongPapers(keyID: String?, teamID: String?, topic: String?, error: CredentialError) {
    #expect(throws: error) { try upload(keyID: keyID, teamID: teamID, topic: topic) }
  }

  @Test func otherFilesAreNamed() {
    #expect(throws: CredentialError.file(.notPEM)) { try upload(p8: Array("hello".utf8)) }
  }

  @Test func certificatesTellTopicAndEnvironments() async throws {
    let pair = try TestCertificate.make()
    let now = pair.facts.notBefore.adding(seconds: 10)
    let upload = try CredentialUpload(pair, topic: nil, environments: nil, now: now)
    #expect(upload.topic == "com.example.app" && upload.environments == [.production, .sandbox])
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let rows = upload.rows(for: AppID(3), sealedWith: keys)
    #expect(rows.map(\.teamID) == ["T5Z8W1R6PD", "T5Z8W1R6PD"] && rows[0].name.isEmpty)
    #expect(rows[0].expiresAt == pair.facts.notAfter && rows[0].fingerprint == pair.facts.fingerprint)
    let both = [APNsEnvironment.production, .sandbox]
    #expect(
      throws: CredentialError.certificateForOthers(
        topics: ["com.example.app"], environments: both, wanted: "com.example.other")
    ) {
      try CredentialUpload(pair, topic: "com.example.other", environments: nil, now: now)
    }
    // A part of another name is not that name.
    #expect(throws: CredentialError.self) {
      try CredentialUpload(pair, topic: "com.example.ap", environments: nil, now: now)
    }
    let late = pair.facts.notAfter.adding(seconds: 86_400 * 2)
    #expect(throws: CredentialError.expired(days: 2)) {
      try CredentialUpload(pair, topic: nil, environments: nil, now: late)
    }
    let early = pair.facts.notBefore.adding(seconds: -86_400 * 3)
    #expect(throws: CredentialError.notYetValid(days: 3)) {
      try CredentialUpload(pair, topic: nil, environments: nil, now: early)
    }
  }

  @Test func environmentsAreHeldAgainstTheCertificate() async throws {
    let sandbox = try TestCertificate.make(extensions: ["1.2.840.113635.100.6.3.1=ASN1:NULL"])
    let now = sandbox.facts.notBefore
    #expect(try CredentialUpload(sandbox, topic: nil, environments: nil, now: now).environments == [.sandbox])
    #expect(throws: CredentialError.wrongEnvironment(allowed: [.sandbox], wanted: .production)) {
      try CredentialUpload(sandbox, topic: nil, environments: [.sandbox, .production], now: now)
    }
    let other = try TestCertificate.make(extensions: [])
    #expect(throws: CredentialError.notForPushes(name: other.facts.commonName)) {
      try CredentialUpload(other, topic: nil, environments: nil, now: other.facts.notBefore)
    }
  }

  /// A certificate for calls alone is for the app whose name stands before the suffix.
  @Test func certificatesForCalls() async throws {
    let pair = try TestCertificate.make(
      name: "com.example.app.voip",
      extensions: [
        "1.2.840.113635.100.6.3.2=ASN1:NULL",
        "1.2.840.113635.100.6.3.6=DER:301e0c14\(Hex.encode("com.example.app.voip".utf8))30060c04\(Hex.encode("voip".utf8))",
      ])
    let upload = try CredentialUpload(pair, topic: nil, environments: nil, now: pair.facts.notBefore)
    #expect(upload.topic == "com.example.app")
  }

  @Test func goesWithWhatTheAppHas() async throws {
    let world = try CredentialWorld()
    let app = try await world.makeApp()
    let key = try ES256Key.generate()
    let upload = try CredentialWorld.upload(key)
    try upload.check(against: [])
    let first = try await world.add(upload, to: app)[0]
    let rows = try await world.rows()
    #expect(throws: CredentialError.alreadyThere(first, .production)) { try upload.check(against: rows) }
    try CredentialWorld.upload(key, environments: [.sandbox]).check(against: rows)
    try CredentialWorld.upload(.generate()).check(against: rows)
    #expect(throws: CredentialError.otherTopic(existing: "com.example.app", new: "com.example.other")) {
      try CredentialWorld.upload(.generate(), topic: "com.example.other").check(against: rows)
    }
    // Uploading the former one again is how to go back to it.
    _ = try await world.add(try CredentialWorld.upload(.generate()), to: app)
    try upload.check(against: try await world.rows())
  }
}
