import PushBase
import PushCrypto
import PushGateway
import PushHTTP
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

/// What somebody can try who is not let in, or only half.
@Suite struct GuessingTests {
  @Test func `What is no e-mail address is not looked for, nor kept`() async throws {
    let world = try ConsoleWorld()
    let browser = Browser(world)
    for number in 0...100 {
      let fields = ["email": "nobody \(number)", "password": "guess"]
      #expect(await browser.submit("/console/login", fields).status == 403, "\(number)")
    }
  }

  @Test func `A form that is too large is refused`() async throws {
    let world = try ConsoleWorld()
    let browser = Browser(world)
    let body = "email=" + String(repeating: "x", count: 128 << 10)
    #expect(await browser.call("POST", "/console/login", body: body).status == 413)
  }

  /// Turns one-time passwords on, with a secret of zeros.
  private static func turnOnTOTP(_ browser: Browser) async {
    let secret = [UInt8](repeating: 0, count: OneTimePassword.secretSize)
    let step = OneTimePassword.step(at: ManualClock().now())
    let code = OneTimePassword.code(secret: secret, step: step - 1)
    _ = await browser.open("/console/me")
    let done = await browser.submit(
      "/console/me/totp",
      ["secret": Hex.encode(secret), "code": code, "password": ConsoleWorld.password])
    #expect(done.text.contains("Logging in takes a code"))
  }

  @Test func `Codes cannot be guessed for ever with the right password`() async throws {
    let world = try ConsoleWorld()
    await Self.turnOnTOTP(try await world.owner())
    let thief = Browser(world)
    var fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    for number in 0..<10 {
      fields["code"] = nil
      #expect(await thief.submit("/console/login", fields).text.contains("Now the code"), "\(number)")
      fields["code"] = "00000\(number)x"
      #expect(await thief.submit("/console/login", fields).text.contains("The code was wrong"), "\(number)")
    }
    #expect(await thief.submit("/console/login", fields).status == 429)
  }

  @Test func `Whoever finds a browser open cannot guess the password there`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.open("/console/me")
    let fields = ["old": "guess", "password": "yet another phrase"]
    for _ in 0..<10 { #expect(await owner.submit("/console/me/password", fields).status == 422) }
    let refused = await owner.submit("/console/me/password", fields)
    #expect(refused.status == 429 && refused.text.contains("Too many attempts. Try again in 15 minutes."))
  }

  @Test func `Behind a proxy that is trusted the address is the visitor's own`() async throws {
    var limits = GatewayLimits()
    limits.trustedProxies = [try #require(IPNetwork("192.0.2.1"))]
    let world = try ConsoleWorld(limits: limits)
    _ = try await world.owner()
    let login = await Browser(world).call(
      "POST", "/console/login", body: "email=zoe%40example.com&password=correct+horse+battery",
      headers: [("x-forwarded-for", "203.0.113.9, 2001:db8::7")])
    #expect(login.status == 303)
    let audit = try await world.store.change { transaction throws(StorageError) in
      try transaction.reading.consoleSessions(of: PersonID(1)).map(\.address)
    }
    #expect(audit.contains("2001:db8::7"))
  }
}
