import BorealisBase
import HTTP
import PushTesting
import Testing

@testable import Console
@testable import Storage

/// The way to the provider and back: whose answer counts, and what the provider may do wrong.
@Suite struct SignOnFlowTests {
  private static let configuration = "/.well-known/openid-configuration"

  /// A provider whose user Kim is a member.
  private func scene(_ change: (inout SignOnOptions) -> Void = { _ in }) async throws -> SignOnWorld {
    let scene = try SignOnWorld(change)
    _ = try await scene.world.member(.sender, of: .standard, name: "kim")
    return scene
  }

  private func isIn(_ browser: Browser) async -> Bool {
    await browser.call("GET", "/console/me").status == 200
  }

  // MARK: Whose answer it is

  @Test func `An answer counts once, in the browser that asked`() async throws {
    let scene = try await scene()
    let (kim, thief) = (Browser(scene.world), Browser(scene.world))
    let callback = try await scene.start(kim)
    // The link of another, with one's own cookie and with none.
    _ = try await scene.start(thief)
    for browser in [thief, Browser(scene.world)] {
      let page = await browser.open(callback)
      #expect(page.status == 400 && page.text.contains("was started in another browser"))
      #expect(await !isIn(browser))
    }
    #expect(await kim.open(callback).status == 200)
    #expect(await isIn(kim) && kim.cookie("borealis_signon") == "")
    #expect(await Browser(scene.world).open(callback).status == 400)
    #expect(scene.provider.paths.filter { $0 == "/token" }.count == 1)
  }

  @Test func `A code is not taken twice, even with the cookie`() async throws {
    let scene = try await scene()
    let kim = Browser(scene.world)
    let callback = try await scene.start(kim)
    let copy = Browser(scene.world, cookies: ["borealis_signon": kim.cookie("borealis_signon") ?? ""])
    #expect(await kim.open(callback).status == 200)
    let page = await copy.open(callback)
    #expect(page.status == 400 && page.text.contains("was completed before"))
    #expect(await !isIn(copy))
  }

  /// The verifier belongs to the cookie, so somebody else's code is of no use.
  @Test func `A code of another login is refused`() async throws {
    let scene = try await scene()
    let (kim, other) = (Browser(scene.world), Browser(scene.world))
    let (mine, theirs) = (try await scene.start(kim), try await scene.start(other))
    let state = mine.firstRange(of: "&state=").map { String(mine[$0.lowerBound...]) } ?? ""
    let code = theirs.firstRange(of: "&state=").map { String(theirs[..<$0.lowerBound]) } ?? ""
    #expect(await kim.open(code + state).status == 400)
    #expect(await !isIn(kim))
  }

  @Test func `A login ends after ten minutes`() async throws {
    let scene = try await scene()
    let kim = Browser(scene.world)
    let callback = try await scene.start(kim)
    scene.clock.advance(seconds: 600)
    #expect(await kim.open(callback).status == 400)
    #expect(!scene.provider.paths.contains("/token"))
  }

  @Test func `A changed state, and an answer without code, are refused`() async throws {
    let scene = try await scene()
    let kim = Browser(scene.world)
    let callback = try await scene.start(kim)
    for target in [
      callback.replacing("&state=", with: "&state=x"), callback.replacing("code=", with: "kode="),
      String(callback.prefix { $0 != "?" }),
      callback.replacing("code=", with: "code=\(String(repeating: "x", count: 4096))"),
    ] {
      #expect(await kim.open(target).status == 400, "\(target)")
    }
    #expect(await !isIn(kim) && !scene.provider.paths.contains("/token"))
  }

  /// RFC 9207.
  @Test func `An answer names its issuer if the provider does so, and no other one`() async throws {
    for (announces, suffix, isTaken) in [
      (false, "&iss=https%3A%2F%2Flogin.example.com", true),
      (false, "&iss=https%3A%2F%2Fevil.example", false),
      (true, "&iss=https%3A%2F%2Flogin.example.com", true), (true, "", false), (true, "&iss=", false),
    ] {
      let scene = try await scene()
      if announces { scene.provider.publish(["authorization_response_iss_parameter_supported": true]) }
      let kim = Browser(scene.world)
      let page = await kim.open(try await scene.start(kim) + suffix)
      #expect(page.status == (isTaken ? 200 : 502), "\(suffix)")
      #expect(scene.provider.paths.contains("/token") == isTaken)
    }
  }

  @Test func `A person who declines, or may not, is told so`() async throws {
    let scene = try await scene()
    let kim = Browser(scene.world)
    let callback = try await scene.start(kim)
    let state = callback.firstRange(of: "&state=").map { callback[$0.lowerBound...] } ?? ""
    let page = await kim.open("/console/login/oidc/callback?error=access_denied%3Cb%3E\(state)")
    #expect(page.status == 403 && page.text.contains("Company account did not let you in (access_deniedb)."))
    // Only in the browser that asked.
    let other = await Browser(scene.world).open("/console/login/oidc/callback?error=access_denied\(state)")
    #expect(other.status == 400)
  }

  @Test func `Whoever tries many codes is refused for a while`() async throws {
    let scene = try await scene()
    let thief = Browser(scene.world)
    let callback = try await scene.start(thief)
    let wrong = callback.replacing("code=code-", with: "code=guess-")
    for _ in 0..<100 { #expect(await thief.open(wrong).status == 400) }
    let asked = scene.provider.paths.count
    #expect(await thief.open(wrong).status == 429)
    #expect(scene.provider.paths.count == asked)
  }

  // MARK: The provider

  @Test func `Both ways in which a client proves who it is`() async throws {
    for (methods, isFine) in [
      (["client_secret_post", "private_key_jwt"], true),
      (["client_secret_basic", "client_secret_post"], true),
      (["private_key_jwt"], false), ([], false),
    ] as [([JSONValue], Bool)] {
      let scene = try await scene()
      scene.provider.publish(["token_endpoint_auth_methods_supported": .array(methods)])
      guard isFine else {
        #expect(await Browser(scene.world).open("/console/login/oidc").status == 502)
        continue
      }
      #expect(try await scene.logIn().status == 200)
    }
  }

  @Test func `A configuration that is not the provider's is not used`() async throws {
    for change in [
      ["issuer": "https://login.example.com/"], ["issuer": nil],
      ["token_endpoint": "http://login.example.com/token"],
      ["token_endpoint": nil], ["authorization_endpoint": "javascript:alert(1)"], ["userinfo_endpoint": 1],
    ] as [[String: JSONValue?]] {
      let scene = try await scene()
      scene.provider.publish(change)
      let page = await Browser(scene.world).open("/console/login/oidc")
      #expect(page.status == 502 && page.text.contains("Company account cannot be reached"), "\(change)")
      #expect(page.text.contains("Log in with a password"))
    }
  }

  @Test(arguments: [
    HTTPAnswer(error: "Couldn't connect to server"), HTTPAnswer(error: "Timeout was reached"),
    HTTPAnswer(status: 500), HTTPAnswer(status: 302), HTTPAnswer(status: 200, body: Array("<html>".utf8)),
    HTTPAnswer(status: 200, body: Array("[]".utf8)), HTTPAnswer(status: 200),
    HTTPAnswer(status: 200, body: Array(#"{"issuer":"\#(String(repeating: "x", count: 262_144))"}"#.utf8)),
    HTTPAnswer(status: 400, body: Array(#"{"error":"invalid_client"}"#.utf8)),
  ])
  func `A provider that is down or wrong is asked again later`(answer: HTTPAnswer) async throws {
    let scene = try await scene()
    scene.provider.answer(Self.configuration, answer)
    for _ in 0..<3 { #expect(await Browser(scene.world).open("/console/login/oidc").status == 502) }
    #expect(scene.provider.paths == [Self.configuration])
    scene.provider.answer(Self.configuration, nil)
    scene.clock.advance(seconds: 5)
    let kim = Browser(scene.world)
    let callback = try await scene.start(kim)
    scene.provider.answer("/token", answer)
    #expect(await kim.open(callback).status == 502)
    #expect(await !isIn(kim))
    scene.provider.answer("/token", nil)
    #expect(try await scene.logIn(kim).status == 200)
    // Whoever is not there may have moved.
    let isElsewhere = answer.error != nil || answer.status == 302
    #expect(scene.provider.paths.filter { $0 == Self.configuration }.count == (isElsewhere ? 3 : 2))
  }

  @Test(arguments: [
    (301, true), (307, true), (404, true), (405, true), (410, true), (403, false), (500, false),
  ])
  func `Endpoints that are not there are looked up again`(status: Int, isElsewhere: Bool) async throws {
    let scene = try await scene()
    scene.provider.answer("/token", HTTPAnswer(status: status))
    #expect(try await scene.logIn().status == 502)
    scene.provider.answer("/token", nil)
    #expect(try await scene.logIn().status == 200)
    #expect(scene.provider.paths.filter { $0 == Self.configuration }.count == (isElsewhere ? 2 : 1))
  }

  @Test func `Failures are logged now and then, without secrets`() async throws {
    let scene = try await scene()
    for status in [500, 502, 503] {
      scene.provider.answer("/token", HTTPAnswer(status: status))
      #expect(try await scene.logIn().status == 502)
    }
    #expect(scene.log.all.count == 1)
    #expect(scene.log.all.first?.contains("its token endpoint: answered 500") == true)
    scene.clock.advance(seconds: 5)
    #expect(try await scene.logIn().status == 502)
    #expect(scene.log.all.count == 2 && scene.log.all.allSatisfy { !$0.contains("code-") })
  }

  @Test func `Roles in accounts that do not exist are logged`() async throws {
    let key = AppKey(high: 5, low: 5)
    let scene = try SignOnWorld.withRoles("a=viewer", "b=viewer@\(key.text)")
    await scene.world.console.checkSettings()
    #expect(scene.log.all.count == 1 && scene.log.all.first?.contains(key.text) == true)
  }

  @Test func `A token of another login, client or time is refused`() async throws {
    for claims in [
      ["nonce": "x"], ["aud": "other"], ["exp": 1], ["iss": "https://evil.example"], ["sub": nil],
    ] as [[String: JSONValue?]] {
      let scene = try await scene()
      scene.provider.say(claims)
      let kim = Browser(scene.world)
      #expect(try await scene.logIn(kim).status == 502, "\(claims)")
      #expect(await !isIn(kim))
    }
  }

  @Test func `One request for the configuration is for all who wait`() async throws {
    let scene = try await scene()
    let release = scene.provider.hold()
    let statuses = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask { await Browser(scene.world).call("GET", "/console/login/oidc").status }
      }
      while scene.provider.paths.isEmpty { await Task.yield() }
      release()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == [Int](repeating: 303, count: 8))
    #expect(scene.provider.paths == [Self.configuration])
    scene.clock.advance(seconds: 3600)
    _ = await Browser(scene.world).call("GET", "/console/login/oidc")
    #expect(scene.provider.paths.count == 2)
  }

  // MARK: UserInfo

  @Test func `Claims that the token lacks come from UserInfo, about the same person`() async throws {
    let scene = try SignOnWorld.withRoles("team=sender")
    _ = try await scene.world.owner()
    scene.provider.say(["email": nil, "name": nil, "email_verified": nil])
    scene.provider.setUserInfo([
      "sub": "kim-1", "email": "kim@example.com", "email_verified": true, "name": "Kim", "groups": ["team"],
    ])
    #expect(try await scene.logIn().status == 200)
    scene.provider.setUserInfo(["sub": "kim-2", "groups": ["team"]])
    #expect(try await scene.logIn().status == 502)
    // Its failure takes no role away.
    scene.provider.answer("/userinfo", HTTPAnswer(status: 503))
    #expect(try await scene.logIn().status == 502)
    scene.provider.answer("/userinfo", nil)
    scene.provider.setUserInfo(["sub": "kim-1"])
    #expect(try await scene.logIn().status == 403)
  }

  @Test(
    arguments: [
      ("kim@example.com", true, true), ("kim@example.com", false, false), ("kim@example.com", nil, false),
      ("Kim@example.com", true, false), ("other@example.com", true, false), (nil, true, false),
    ] as [(JSONValue?, JSONValue?, Bool)])
  func `UserInfo verifies the address of the token if it has the same`(
    email: JSONValue?, isVerified: JSONValue?, isLinked: Bool
  ) async throws {
    let scene = try await scene()
    scene.provider.say(["email_verified": nil])
    var said: [String: JSONValue] = ["sub": "kim-1"]
    said["email"] = email
    said["email_verified"] = isVerified
    scene.provider.setUserInfo(said)
    let page = try await scene.logIn()
    #expect(page.status == (isLinked ? 200 : 403))
    #expect(isLinked || page.text.contains("did not send a verified email address"))
  }

  @Test func `A session that the browser had ends, and the new one is listed`() async throws {
    let scene = try await scene()
    let browser = Browser(scene.world)
    #expect(try await scene.logIn(browser).status == 200)
    let first = browser.cookie("borealis_session")
    let again = Browser(
      scene.world, cookies: ["borealis_session": first ?? "", "borealis_signon": ""])
    // Logged in already, so the way is gone at once.
    #expect(await again.call("GET", "/console/login/oidc").headers["location"] == "/console/")
    #expect(await browser.open("/console/me").text.contains("this browser"))
    #expect(await browser.submit("/console/logout").status == 200)
    #expect(await !isIn(browser))
  }
}
