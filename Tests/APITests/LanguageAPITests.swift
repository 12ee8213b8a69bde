import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import Storage

/// Pushes in several languages, from the request to what each device gets.
@Suite struct LanguageAPITests {
  private static let texts =
    #""notification":{"alert":"hello"},"languages":{"de":{"alert":"hallo"},"zh-Hans":{"alert":"你好"}}"#

  let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private init(world: GatewayWorld) { self.world = world }

  private func ask(for facts: DeviceFactSet = DeviceFactSet(.language)) async throws {
    let (router, app) = (world.router, world.app)
    try await awaitCallback { router.apps.setFacts(facts, of: app, noting: .test, done: $0) }.get()
  }

  private func report(_ language: String, of id: RegistrationID) async throws {
    let (router, app) = (world.router, world.app)
    let number = try #require(app.directory.find(id))
    try await awaitCallback { router.facts.set([.language: language], of: number, in: app, reply: $0) }.get()
  }

  /// The text that waits for a device, as its home would send it.
  private func said(_ id: RegistrationID, _ push: MessageID) async throws -> String? {
    let number = try #require(world.app.directory.find(id))
    let router = world.router
    let found = try await awaitCallback { router.deliveries.contents(of: [push], found: $0) }.get()
    let content = try #require(found.first).1.inLanguage(of: number)
    let json = try parseJSON(content.deviceJSON(.android, viaVendor: false))
    return json["notification"]?["alert"]?.string
  }

  private func row(_ id: MessageID) async throws -> PushRow {
    let found = try await world.store.look { transaction throws(StorageError) in
      try transaction.pushes.find(id: id)
    }
    return try #require(found)
  }

  private func message(_ response: HTTPResponse) -> String {
    response.json?["error"]?["message"]?.string ?? ""
  }

  @Test func `The app must ask its devices for their language`() async throws {
    let id = try await world.register()
    for path in ["/v3/push", "/v3/push/validate"] {
      let body = #"{"platform":"all","audience":"all",\#(Self.texts)}"#
      let refused = await world.call("POST", path, body)
      #expect(refused.outcome == "403 2007" && message(refused).contains("languages needs the fact language"))
    }
    #expect(
      await world.makeSchedule(
        world.single(in: 60), push: #"{"platform":"all","audience":"all",\#(Self.texts)}"#)
        == "400 8100")
    #expect(world.pending(id).isEmpty)
    try await ask()
    #expect(await world.push(Self.texts).outcome == "200")
  }

  /// A few devices, and more than are kept as a list: each gets its language, whatever is in memory.
  @Test(arguments: [0, 80]) func `Each device gets its language`(others: Int) async throws {
    try await ask()
    let ids = try await world.registerMany(5)
    let more = try await world.registerMany(others)
    for (id, language) in zip(ids, ["de-AT", "zh-Hans-CN", "fr", "zh-TW"]) {
      try await report(language, of: id)
    }
    let push = try #require(await world.push(Self.texts).messageID)
    let expected = ["hallo", "你好", "hello", "hello", "hello"]
    for (id, text) in zip(ids, expected) { #expect(try await said(id, push) == text) }
    for id in more { #expect(try await said(id, push) == "hello") }
    // What a device reports later changes nothing.
    try await report("zh-Hans", of: ids[0])
    #expect(try await said(ids[0], push) == "hallo")

    let row = try await row(push)
    let languages = try #require(row.languages.flatMap { PushLanguages(decoding: $0) })
    #expect(languages.texts.map(\.language) == ["de", "zh-Hans"])
    #expect(languages.texts.map(\.targets.count) == [1, 1])
  }

  /// The cost of a push does not depend on the number of its devices: one row with a content per language.
  @Test func `A content is stored once for each language`() async throws {
    try await ask()
    let ids = try await world.registerMany(120)
    for (place, id) in ids.enumerated() where place < 100 {
      try await report(place % 2 == 0 ? "de" : "fr", of: id)
    }
    func rows() async throws -> Int {
      try await world.store.look { transaction throws(StorageError) in
        try transaction.pushes.ids(after: MessageID(0), limit: 10, in: .all).count
      }
    }
    let push = try #require(await world.push(Self.texts).messageID)
    #expect(try await rows() == 1)
    let row = try await row(push)
    let texts = try #require(row.languages.flatMap { PushLanguages(decoding: $0) }).texts
    #expect(texts.map(\.language) == ["de"] && texts.map(\.targets.count) == [50])
    // The set grows by bits, the content not at all.
    let set = texts[0].targets.serialized().count
    #expect((row.languages?.count ?? 0) - set < 300 && set < 200)
  }

  @Test func `A push to devices of one language is an ordinary push`() async throws {
    try await ask()
    let ids = try await world.registerMany(2)
    for id in ids { try await report("de", of: id) }
    for audience in [#""all""#, #"{"registration_id":["\#(ids[0].text)"]}"#] {
      let push = try #require(await world.push(Self.texts, to: audience).messageID)
      let row = try await row(push)
      #expect(row.languages == nil)
      #expect(String(decoding: row.content, as: UTF8.self).contains("hallo"))
      #expect(try await said(ids[0], push) == "hallo")
    }
  }

  @Test func `What is too long for a channel is refused with its language`() async throws {
    try await ask()
    _ = try await world.register()
    let long = String(repeating: "x", count: 5000)
    let refused = await world.push(
      #""notification":{"android":{"alert":"a"}},"languages":{"de":{"alert":"\#(long)"}}"#)
    #expect(refused.outcome == "400 1005" && message(refused).hasPrefix("languages.de: "))
  }

  /// Sealed like the rest of what a push says.
  @Test func `Languages of an app whose contents are sealed are sealed`() async throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    var options = Store.Options()
    options.secretKeys = SecretKeySource { _ in .success(keys) }
    let sealing = Self(world: try await GatewayWorld(options: options))
    try await sealing.checkSealing()
  }

  private func checkSealing() async throws {
    try await ask()
    let ids = try await world.registerMany(2)
    try await report("de", of: ids[0])
    try await world.seal(world.app)
    let push = try #require(await world.push(Self.texts).messageID)
    let stored = try await world.store.look { transaction throws(StorageError) in
      try transaction.database.first(
        "SELECT languages FROM push WHERE msg_id = ?", .message(push)
      ) { $0.blob() }
    }
    #expect(stored?.first == 0xff)
    #expect(try await row(push).languages?.first == 1)
    #expect(try await said(ids[0], push) == "hallo")
    #expect(try await said(ids[1], push) == "hello")
  }
}
