import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Tokens: who gets them, and what they open.
@Suite(.timeLimit(.minutes(1))) struct AuthTests {
  @Test func `The documented vector is a good signature`() {
    let signed = Array("demoAppKey00011767225600000demoMasterSecret01".utf8)
    #expect(
      Hex.encode(SHA256.digest(signed)) == "c4af6a1da77a3f6a0a1b3c1863343c760f94f45d400b08fee213cdaa45480b9d")
  }

  @Test(arguments: [false, true])
  func `Whoever signs gets a token for a day`(isNumber: Bool) async throws {
    let world = try await GetuiWorld()
    let answer = await world.call("POST", "/auth", world.authBody(isNumber: isNumber))
    #expect(answer.status == 200 && answer.code == 0 && answer.message == "success")
    let token = try #require(answer.json["data"]?["token"]?.string)
    #expect(token.utf8.count == 64)
    let end = world.clock.now().milliseconds + 86_400_000
    #expect(answer.json["data"]?["expire_time"] == .string(String(end)))
    #expect(await isGood(token, world))
    // Another server on the same database takes it too.
    #expect(await isGood(token, world, by: try world.restarted()))
    world.clock.advance(seconds: 86_399)
    #expect(await isGood(token, world))
    world.clock.advance(seconds: 1)
    #expect(await !isGood(token, world))
  }

  /// Whether a token opens a call: `DELETE /auth` shows it without a side effect when it is asked about by
  /// `check`.
  private func isGood(_ token: String, _ world: GetuiWorld, by api: GetuiAPI? = nil) async -> Bool {
    await awaitCallback { done in
      (api ?? world.api).tokens.check(token, of: world.app) {
        done((try? $0.get()) ?? false)
      }
    }
  }

  @Test func `Wrong signatures, keys and clocks get none`() async throws {
    let world = try await GetuiWorld()
    let cases: [(String, Int, Int)] = [
      (world.authBody(secret: "0123456789abcdef01234567"), 401, 10001),
      (world.authBody(skew: -600_001), 401, 10001), (world.authBody(skew: 600_001), 401, 10001),
      (world.authBody(key: "000000000000000000000000"), 401, 10001),
      (world.authBody(skew: 600_000), 200, 0), (world.authBody(skew: -600_000), 200, 0),
      ("", 200, 1), ("[", 200, 1), ("[]", 400, 20001), ("null", 400, 20001), ("{}", 400, 20001),
      (#"{"sign":"00","timestamp":"x","appkey":"y"}"#, 400, 20001),
      (#"{"sign":1,"timestamp":"1","appkey":"y"}"#, 400, 20001),
      (#"{"sign":"00","appkey":"y"}"#, 400, 20001),
    ]
    for (body, status, code) in cases {
      let answer = await world.call("POST", "/auth", body)
      #expect(answer.status == status && answer.code == code, "\(body): \(answer.status) \(answer.code)")
    }
  }

  @Test func `Tokens live beside each other, and one ends when it is given back`() async throws {
    let world = try await GetuiWorld()
    let (first, second) = (await world.token(), await world.token())
    #expect(first != second)
    let answer = await world.call("DELETE", "/auth/\(first)")
    #expect(answer.status == 200 && answer.code == 0)
    #expect(await !isGood(first, world))
    #expect(await isGood(second, world))
    let restarted = try world.restarted()
    #expect(await !isGood(first, world, by: restarted))
    #expect(await isGood(second, world, by: restarted))
    #expect(await world.call("DELETE", "/auth/\(first)").code == 10001)
  }

  @Test func `A token opens one app only, and nothing when a bit of it differs`() async throws {
    let world = try await GetuiWorld()
    let other = try await world.router.makeApp(in: world.store, secret: "aaaaaaaaaaaaaaaaaaaaaaaa")
    try await world.setSecret("bbbbbbbbbbbbbbbbbbbbbbbb", of: other)
    let token = await world.token()
    for app in [world.app, other] {
      let isGood = await awaitCallback { done in
        world.api.tokens.check(token, of: app) { done((try? $0.get()) ?? false) }
      }
      #expect(isGood == (app === world.app))
    }
    let bytes = try #require(Hex.decode(token))
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(await !isGood(Hex.encode(changed), world))
    }
    for text in ["", "x", String(token.dropLast(2)), token + "00"] { #expect(await !isGood(text, world)) }
  }

  @Test func `A new secret ends the tokens of the one before`() async throws {
    let world = try await GetuiWorld()
    let token = await world.token()
    try await world.setSecret("cccccccccccccccccccccccc")
    world.clock.advance(seconds: 3)
    #expect(await !isGood(token, world))
    #expect(await world.call("POST", "/auth", world.authBody()).code == 10001)
    let answer = await world.call("POST", "/auth", world.authBody(secret: "cccccccccccccccccccccccc"))
    #expect(answer.code == 0)
  }

  @Test func `A hundred tokens a minute, and wrong signatures use none of them up`() async throws {
    let world = try await GetuiWorld()
    for _ in 0..<50 { _ = await world.call("POST", "/auth", world.authBody(secret: "wrong")) }
    for _ in 0..<100 { #expect(await world.call("POST", "/auth", world.authBody()).code == 0) }
    let refused = await world.call("POST", "/auth", world.authBody())
    #expect(refused.status == 401 && refused.code == 10003)
    world.clock.advance(seconds: 60)
    #expect(await world.call("POST", "/auth", world.authBody()).code == 0)
  }

  @Test func `Unknown routes and wrong methods are said in this shape`() async throws {
    let world = try await GetuiWorld()
    let unknown = await world.call("POST", "/nothing")
    #expect(unknown.status == 404 && unknown.code == 404)
    let wrong = await world.call("PUT", "/auth")
    #expect(wrong.status == 405 && wrong.code == 405 && wrong.headers["allow"] == "POST")
  }
}
