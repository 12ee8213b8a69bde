import API
import BorealisBase
import BorealisCrypto
import Dispatch
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// What somebody can try who is not let in, or only half.
@Suite struct GuessingTests {
  @Test func `What is no email address is not looked for, nor kept`() async throws {
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

  private static let secret = [UInt8](repeating: 0, count: OneTimePassword.secretSize)

  /// The code of the present moment, or of some steps later.
  private static func code(_ offset: Int64 = 0) -> String {
    OneTimePassword.code(secret: secret, step: OneTimePassword.step(at: ManualClock().now()) + offset)
  }

  /// Turns one-time passwords on, with a secret of zeros.
  private static func turnOnTOTP(_ browser: Browser) async {
    _ = await browser.open("/console/me")
    let done = await browser.submit(
      "/console/me/totp",
      ["secret": Hex.encode(secret), "code": code(-1), "password": ConsoleWorld.password])
    #expect(done.text.contains("You need a code from your authenticator app"))
  }

  @Test func `Who guesses codes is stopped and told of, and the owner's browser is not`() async throws {
    let (clock, login) = (ManualClock(), "/console/login")
    let world = try ConsoleWorld(time: clock, sendsMail: true)
    let owner = try await world.owner()
    await Self.turnOnTOTP(owner)
    #expect(await owner.submit("/console/logout").status == 200)
    let thief = Browser(world)
    var fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    for number in 0..<10 {
      fields["code"] = nil
      #expect(
        await thief.submit(login, fields).text.contains("Enter the code from your authenticator app."),
        "\(number)")
      fields["code"] = "00000\(number)x"
      #expect(await thief.submit(login, fields).text.contains("The code is incorrect"), "\(number)")
    }
    fields["code"] = Self.code()
    #expect(await thief.submit(login, fields).text.contains("in 15 minutes"))
    try await world.settled()
    let mail = try #require(world.outbox.mails.first)
    #expect(world.outbox.mails.count == 1 && mail.recipient == "zoe@example.com")
    #expect(mail.body.contains("192.0.2.1") && mail.body.contains("https://push.example.com/console/reset"))
    // The owner's own browser has nothing to do with that, and changes nothing for the thief.
    #expect(await owner.submit(login, fields).text.contains("<h1>Apps</h1>"))
    #expect(await owner.open("/console/me").text.contains("title=\"session.code\""))
    #expect(await thief.submit(login, fields).status == 429)
    clock.advance(minutes: 15)
    fields["code"] = "x"
    for _ in 0..<10 { #expect(await thief.submit(login, fields).status == 403) }
    #expect(await thief.submit(login, fields).text.contains("in 30 minutes"))
  }

  @Test func `A browser that stole the cookie does not guess forever either`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    await Self.turnOnTOTP(owner)
    _ = await owner.submit("/console/logout")
    let fields = ["email": "zoe@example.com", "password": ConsoleWorld.password, "code": "x"]
    for _ in 0..<10 { #expect(await owner.submit("/console/login", fields).status == 403) }
    #expect(await owner.submit("/console/login", fields).status == 429)
  }

  /// Fills a line with jobs that wait for a gate each, and tells how many.
  private static func fill(_ line: BackgroundWork, until gate: DispatchSemaphore) async -> Int {
    // Only when its thread is held is it full for good: what it did before has left it then.
    await awaitCallback { held in
      let isAccepted = line.run {
        held(())
        gate.wait()
      }
      if !isAccepted { held(()) }
      #expect(isAccepted)
    }
    var jobs = 1
    while line.run({ gate.wait() }) { jobs += 1 }
    return jobs
  }

  @Test func `What nobody could look at does not count as a guess`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let (browser, gate) = (Browser(world), DispatchSemaphore(value: 0))
    let jobs = await Self.fill(world.console.people.unknownBrowsers, until: gate)
    let fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    for _ in 0..<20 { #expect(await browser.submit("/console/login", fields).status == 503) }
    for _ in 0..<jobs { gate.signal() }
    while await world.console.people.unknownBrowsers.result(of: { true }) == nil { await Task.yield() }
    #expect(await browser.submit("/console/login", fields).text.contains("<h1>Apps</h1>"))
  }

  @Test func `A known browser stays known over a restart`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let people = People(
      profiles: Profiles(store: world.store), sessions: Sessions(store: world.store),
      audit: AuditLog(store: world.store), time: ManualClock(),
      secrets: PersonSecrets(seal: { _, _, _ in nil }, open: { _, _ in nil }),
      mail: ConsoleMail(site: nil, reserve: nil))
    func logIn(_ password: String, browser: String?, as email: String = "zoe@example.com") async -> People
      .Refusal?
    {
      let attempt = People.Attempt(
        email: email, password: password, browser: browser, address: IPAddress("192.0.2.1"), agent: "")
      guard case .failure(let refusal) = await people.logIn(attempt) else { return nil }
      return refusal
    }
    for _ in 0..<10 { #expect(await logIn("guess", browser: nil) == .wrong) }
    #expect(await logIn(ConsoleWorld.password, browser: nil) == .tooMany(seconds: 900))
    let cookie = try #require(owner.cookie(PageCall.browserCookie))
    #expect(await logIn(ConsoleWorld.password, browser: cookie + "0") == .tooMany(seconds: 900))
    #expect(await logIn(ConsoleWorld.password, browser: cookie) == nil)
    // It is good for one address.
    for _ in 0..<10 { #expect(await logIn("guess", browser: cookie, as: "ida@example.com") == .wrong) }
    #expect(await logIn("guess", browser: cookie, as: "ida@example.com") == .tooMany(seconds: 900))
  }

  @Test func `Whoever opens the link in a mail is no outsider`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    _ = try await world.owner()
    let thief = Browser(world)
    for _ in 0..<10 {
      _ = await thief.submit("/console/login", ["email": "zoe@example.com", "password": "guess"])
    }
    let owner = Browser(world)
    let new = ["email": "zoe@example.com", "password": "a new long password"]
    #expect(await owner.submit("/console/login", new).status == 429)
    _ = await owner.submit("/console/reset", ["email": "zoe@example.com"])
    try await world.settled()
    let body = try #require(world.outbox.mails.last).body
    let start = try #require(body.firstRange(of: "/console/reset/"))
    let path = String(body[start.lowerBound...].prefix { !$0.isWhitespace })
    #expect(await owner.submit(path, ["password": "a new long password"]).status == 200)
    #expect(await owner.submit("/console/login", new).text.contains("<h1>Apps</h1>"))
    #expect(await Browser(world).submit("/console/login", new).status == 429)
  }

  @Test func `The line of unknownBrowsers holds up nobody who was here before`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    #expect(await owner.submit("/console/logout").status == 200)
    let gate = DispatchSemaphore(value: 0)
    let jobs = await Self.fill(world.console.people.unknownBrowsers, until: gate)
    defer { for _ in 0..<jobs { gate.signal() } }
    let fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(await Browser(world).submit("/console/login", fields).status == 503)
    #expect(await owner.submit("/console/login", fields).text.contains("<h1>Apps</h1>"))
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
      try transaction.consoleSessions.all(of: PersonID(1)).map(\.address)
    }
    #expect(audit.contains("2001:db8::7"))
  }
}
