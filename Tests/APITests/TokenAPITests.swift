import BorealisBase
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Core
@testable import Storage

/// `POST /v1/tokens`.
@Suite struct TokenAPITests {
  /// Has two kinds of words, the second with names.
  private final class WordChannel: ServiceChannel {
    let info = ChannelInfo(
      id: ChannelID(rawValue: 200), name: "words", english: "Words", chinese: "词",
      platforms: PlatformSet(.android), parts: .notification,
      tokens: [
        TokenKind(1, name: "word", form: .text, maximumBytes: 8),
        TokenKind(2, name: "phrase", form: .text, maximumBytes: 8, isNamed: true),
      ])

    func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] { [] }
    func deliver(_ push: ChannelPush) {}
  }

  private static func makeWorld() async throws -> GatewayWorld {
    let world = try await GatewayWorld()
    world.router.add(WordChannel())
    return world
  }

  private static func reportTokens(
    _ tokens: String, _ device: (id: RegistrationID, secret: [UInt8]), in world: GatewayWorld
  ) async -> String {
    await world.call(
      "POST", "/v1/tokens",
      #"{"app_key":"\#(world.app.key.text)","registration_id":"\#(device.id.text)","#
        + #""secret":"\#(Hex.encode(device.secret))","tokens":\#(tokens)}"#, authorization: nil
    ).outcome
  }

  private static func stored(_ number: RegistrationNumber, in world: GatewayWorld) async throws -> [String] {
    let app = world.app.id
    return try await world.store.look { transaction throws(StorageError) in
      try transaction.tokens.all(app: app, of: number).map {
        "\($0.token.slot.kind)\($0.token.slot.name) \(String(decoding: $0.token.bytes, as: UTF8.self))"
      }
    }
  }

  @Test(arguments: ["/v1/tokens", "/v1/receipts"])
  func `Pages of listed sites read the answers to their devices' calls`(target: String) async throws {
    let world = try await Self.makeWorld()
    func origin(_ origin: String?, _ target: String, _ body: String = "{}") async -> String? {
      var headers: HTTPHeaders = ["content-type": "text/plain;charset=UTF-8"]
      if let origin { headers.append("origin", origin) }
      let answer = await world.call("POST", target, body, authorization: nil, headers: headers)
      #expect((answer.headers["vary"] == "Origin") == (answer.headers["access-control-allow-origin"] != nil))
      return answer.headers["access-control-allow-origin"]
    }
    let site = "https://www.example.com"
    #expect(await origin(site, target) == site)
    #expect(await origin("https://other.example.com", target) == nil)
    #expect(await origin(nil, target) == nil)
    // App servers are no pages.
    #expect(await origin(site, "/v3/push") == nil)
  }

  @Test func `Several tokens of a call are stored together`() async throws {
    let world = try await Self.makeWorld()
    let new = try await world.router.newDevice(in: world.app)
    let device = (id: new.id, secret: new.secret)
    let all = #"""
      [{"channel":"words","token":"one"},{"channel":"words","kind":"phrase","name":"a","token":"two"},
       {"channel":"words","kind":"phrase","name":"b","token":"three"}]
      """#
    #expect(await Self.reportTokens(all, device, in: world) == "200")
    #expect(try await Self.stored(new.number, in: world) == ["1 one", "2a two", "2b three"])
    #expect(world.app.directory.hasToken(TokenSlot(ChannelID(rawValue: 200), kind: 1), new.number))
    // A call may take one away, replace another and leave the third.
    let next = #"""
      [{"channel":"words","token":""},{"channel":"words","kind":"phrase","name":"a","token":"four"}]
      """#
    #expect(await Self.reportTokens(next, device, in: world) == "200")
    #expect(try await Self.stored(new.number, in: world) == ["1 ", "2a four", "2b three"])
    #expect(!world.app.directory.hasToken(TokenSlot(ChannelID(rawValue: 200), kind: 1), new.number))
  }

  /// The bad one comes last, so that whatever is done one by one would have been done.
  @Test(arguments: [
    #"{"channel":"words","token":"much too long"}"#, #"{"channel":"fax","token":"x"}"#, "7",
    #"{"channel":"words","token":"again"}"#, #"{"channel":"words","kind":"phrase","name":"b","token":"one"}"#,
    #"{"channel":"words","kind":"phrase","token":"x"}"#,
  ])
  func `Of tokens with a bad one among them none is stored`(bad: String) async throws {
    let world = try await Self.makeWorld()
    let new = try await world.router.newDevice(in: world.app)
    let device = (id: new.id, secret: new.secret)
    let good =
      #"{"channel":"words","token":"one"},{"channel":"words","kind":"phrase","name":"a","token":"two"}"#
    #expect(await Self.reportTokens("[\(good),\(bad)]", device, in: world) == "400 1003")
    #expect(try await Self.stored(new.number, in: world) == [])
    #expect(await Self.reportTokens("[\(good)]", device, in: world) == "200")
    #expect(try await Self.stored(new.number, in: world).count == 2)
  }

  @Test func `If the database fails, none is stored, in memory neither`() async throws {
    let world = try await Self.makeWorld()
    let new = try await world.router.newDevice(in: world.app)
    let device = (id: new.id, secret: new.secret)
    try await world.pragma("query_only = ON")
    #expect(
      await Self.reportTokens(#"[{"channel":"words","token":"one"}]"#, device, in: world) == "503 1030")
    #expect(!world.app.directory.hasToken(TokenSlot(ChannelID(rawValue: 200), kind: 1), new.number))
    try await world.pragma("query_only = OFF")
    #expect(try await Self.stored(new.number, in: world) == [])
  }

  @Test func `A wrong secret changes nothing and says no more than an unknown registration`() async throws {
    let world = try await Self.makeWorld()
    let new = try await world.router.newDevice(in: world.app)
    var wrong = new.secret
    wrong[15] ^= 1
    let one = #"[{"channel":"words","token":"one"}]"#
    #expect(await Self.reportTokens(one, (new.id, wrong), in: world) == "401 1004")
    let unknown = RegistrationID(high: 7, low: 7)
    #expect(await Self.reportTokens(one, (unknown, new.secret), in: world) == "401 1004")
    #expect(await Self.reportTokens(one, (new.id, Array(new.secret.dropLast())), in: world) == "400 1003")
    #expect(try await Self.stored(new.number, in: world) == [])
    #expect(await Self.reportTokens(one, (new.id, new.secret), in: world) == "200")
  }

  @Test func `A call has at most 16 tokens`() async throws {
    let world = try await Self.makeWorld()
    let new = try await world.router.newDevice(in: world.app)
    let device = (id: new.id, secret: new.secret)
    let tokens = (0..<17).map { #"{"channel":"words","kind":"phrase","name":"\#($0)","token":"t\#($0)"}"# }
    #expect(await Self.reportTokens("[\(tokens.joined(separator: ","))]", device, in: world) == "400 1003")
    #expect(await Self.reportTokens("[]", device, in: world) == "400 1003")
    #expect(try await Self.stored(new.number, in: world) == [])
    #expect(
      await Self.reportTokens("[\(tokens.dropLast().joined(separator: ","))]", device, in: world) == "200")
    #expect(try await Self.stored(new.number, in: world).count == 16)
  }

  @Test func `A registration makes 30 calls a minute, and another its own`() async throws {
    let world = try await Self.makeWorld()
    let (new, other) = (
      try await world.router.newDevice(in: world.app), try await world.router.newDevice(in: world.app)
    )
    func reportToken(
      _ token: String, _ one: (id: RegistrationID, secret: [UInt8], number: RegistrationNumber)
    )
      async -> String
    {
      await Self.reportTokens(#"[{"channel":"words","token":"\#(token)"}]"#, (one.id, one.secret), in: world)
    }
    for index in 0..<30 { #expect(await reportToken("t\(index)", new) == "200") }
    #expect(await reportToken("late", new) == "429 2002")
    #expect(try await Self.stored(new.number, in: world) == ["1 t29"])
    #expect(await reportToken("mine", other) == "200")
    world.clock.advance(seconds: 61)
    #expect(await reportToken("late", new) == "200")
  }
}

extension AppDirectory {
  fileprivate func hasToken(_ slot: TokenSlot, _ number: RegistrationNumber) -> Bool {
    state.withLock { $0.table.members(holding: slot).contains(number) }
  }
}
