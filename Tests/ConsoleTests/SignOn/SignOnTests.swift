import BorealisBase
import HTTP
import PushTesting
import Testing

@testable import Console
@testable import Storage

/// Logging in with an identity provider: who comes in, and as whom.
@Suite struct SignOnTests {
  private func person(_ email: String, in world: ConsoleWorld) async throws -> PersonRow? {
    try await world.store.look { transaction throws(StorageError) in
      try transaction.people.find(email: email)
    }
  }

  /// What is in the audit log, oldest first, as `action: target`.
  private func audit(_ world: ConsoleWorld, _ scope: AuditScope) async throws -> [String] {
    try await world.store.look { transaction throws(StorageError) in
      try transaction.audit.entries(scope, before: nil, limit: 50).map {
        "\($0.entry.action): \($0.entry.target)"
      }
    }.reversed()
  }

  private func grants(_ email: String, in world: ConsoleWorld) async throws -> [RoleGrant] {
    let id = try #require(try await person(email, in: world)).id
    return try await world.store.look { transaction throws(StorageError) in
      try transaction.members.grants(of: id)
    }
  }

  /// Somebody who accepted an invitation; `isProven` says whether it was mailed.
  private func add(
    _ email: String, to world: ConsoleWorld, as role: Role? = .sender, isProven: Bool = true
  ) async throws -> PersonID {
    try await world.store.change { transaction throws(StorageError) in
      let new = NewPerson(
        email: email, name: "Kim", password: "scrypt$x", language: "en", isOperator: false)
      let id = try transaction.people.add(new, isProven: isProven, at: Timestamp(milliseconds: 0))
      if let role { try transaction.members.setRole(of: id, in: .standard, role) }
      return id
    }
  }

  // MARK: The button

  @Test func `The login page has a button for the provider`() async throws {
    let (scene, plain) = (try SignOnWorld(), try ConsoleWorld())
    let page = await Browser(scene.world).open("/console/login?next=/console/me").text
    #expect(page.contains("Log in with Company account"))
    #expect(page.contains("href=\"https://push.example.com/console/login/oidc?next=%2fconsole%2fme\""))
    #expect(await Browser(scene.world).open("/console/login?lang=zh").text.contains("使用 Company account 登录"))
    #expect(await !Browser(plain).open("/console/login").text.contains("/oidc"))
    for path in ["oidc", "oidc/callback?code=1&state=2"] {
      #expect(await Browser(plain).open("/console/login/\(path)").status == 404)
    }
  }

  @Test func `Login leads to the page that was asked for`() async throws {
    let scene = try SignOnWorld()
    _ = try await add("kim@example.com", to: scene.world)
    let browser = Browser(scene.world)
    let callback = try await scene.start(browser, at: "/console/login/oidc?next=%2Fconsole%2Fme%3Fa%3Db")
    #expect(await browser.call("GET", callback).headers["location"] == "/console/me?a=b")
    let foreign = try await scene.start(
      Browser(scene.world), at: "/console/login/oidc?next=https://evil.example")
    #expect(!foreign.contains("evil"))
    // Whoever is logged in needs no provider.
    #expect(await browser.call("GET", "/console/login/oidc").headers["location"] == "/console/")
  }

  // MARK: Persons

  @Test func `The first person comes by the setup link`() async throws {
    let scene = try SignOnWorld.withRoles("team=owner")
    scene.provider.say(["groups": ["team"]])
    #expect(try await scene.logIn().status == 403)
    _ = try await scene.world.owner()
    #expect(try await scene.logIn().status == 200)
  }

  @Test func `A new person comes in with a role by the claim, and has no password`() async throws {
    let scene = try SignOnWorld.withRoles("team=sender", "admins=admin", sendsMail: true)
    _ = try await scene.world.owner()
    scene.provider.say(["groups": ["team", "admins", "others"]])
    let browser = Browser(scene.world)
    #expect(try await scene.logIn(browser).text.contains("<h1>Apps</h1>"))
    let kim = try #require(try await person("kim@example.com", in: scene.world))
    #expect(kim.name == "Kim" && !kim.hasPassword && !kim.isOperator && kim.issuer == FakeProvider.issuer)
    #expect(
      try await grants("kim@example.com", in: scene.world)
        == [RoleGrant(account: .standard, role: .admin, isFromClaim: true)])
    #expect(
      try await audit(scene.world, .person(kim.id))
        == [
          "person.create: \(FakeProvider.issuer) kim-1", "member.signon: none → admin", "session.signon: ",
        ])
    #expect(
      try await audit(scene.world, .account(.standard)).last == "member.signon: none → admin")
    let page = await browser.open("/console/me").text
    #expect(page.contains("You log in with Company account and have no password here."))
    #expect(!page.contains("name=\"old\"") && !page.contains("/console/me/totp"))
    for path in ["password", "totp/new", "totp", "totp/off", "totp/codes"] {
      let fields = ["old": "", "password": "", "secret": "", "code": ""]
      #expect(await browser.submit("/console/me/\(path)", fields).status >= 400, "\(path)")
    }
    #expect(
      await browser.submit("/console/me/password", ["old": "", "password": "another horse battery"]).status
        == 404)
    for password in ["", "x"] {
      let login = ["email": "kim@example.com", "password": password]
      #expect(await Browser(scene.world).submit("/console/login", login).status == 403)
    }
  }

  @Test func `Nobody gets a password by mail who has none`() async throws {
    let scene = try SignOnWorld.withRoles("team=sender", sendsMail: true)
    _ = try await scene.world.owner()
    scene.provider.say(["groups": ["team"]])
    #expect(try await scene.logIn().status == 200)
    var answers: Set<String> = []
    for email in ["kim@example.com", "nobody@example.com"] {
      answers.insert(await Browser(scene.world).submit("/console/reset", ["email": email]).text)
    }
    try await scene.world.settle()
    #expect(answers.count == 1 && scene.world.outbox.mails.isEmpty)
  }

  @Test func `A person who is known is found by the verified address, later by the subject`() async throws {
    let scene = try SignOnWorld()
    let id = try await add("kim@example.com", to: scene.world)
    scene.provider.say(["email": "KIM@example.com", "email_verified": "true"])
    #expect(try await scene.logIn().text.contains("<h1>Apps</h1>"))
    #expect(
      try await audit(scene.world, .person(id)) == [
        "person.link: \(FakeProvider.issuer) kim-1", "session.signon: ",
      ])
    // Married, or a mailbox that moved.
    scene.provider.say(["email": "kim.jones@example.com", "email_verified": false, "name": "Kim Jones"])
    let browser = Browser(scene.world)
    #expect(try await scene.logIn(browser).text.contains("<h1>Apps</h1>"))
    let kim = try #require(try await person("kim@example.com", in: scene.world))
    #expect(kim.id == id && kim.name == "Kim" && kim.hasPassword)
    #expect(
      await browser.open("/console/me").text.contains(
        "You can log in with Company account or with your password."))
    #expect(try await grants("kim@example.com", in: scene.world).map(\.isFromClaim) == [false])
  }

  @Test(
    arguments: [
      (false, nil, false), (true, nil, true), (false, .bool(false), false), (true, .bool(false), false),
      (true, "false", false), (true, 1, false), (false, .bool(true), true),
    ] as [(Bool, JSONValue?, Bool)])
  func `An address counts only if the provider has verified it`(
    trusts: Bool, isVerified: JSONValue?, isLinked: Bool
  ) async throws {
    let scene = try SignOnWorld { $0.trustsEmail = trusts }
    _ = try await add("kim@example.com", to: scene.world)
    scene.provider.say(["email_verified": isVerified])
    let page = try await scene.logIn()
    #expect(page.status == (isLinked ? 200 : 403))
    #expect(isLinked || page.text.contains("did not send a verified email address"))
    #expect(try await (person("kim@example.com", in: scene.world)?.issuer != nil) == isLinked)
  }

  /// Whoever invited may have set the password.
  @Test func `A password from before the address was verified ends`() async throws {
    let scene = try SignOnWorld()
    let id = try await add("kim@example.com", to: scene.world, isProven: false)
    try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.people.setTOTP(of: id, sealed: [1], step: 0)
      try transaction.consoleSessions.add(
        tokenHash: [UInt8](repeating: 1, count: 32), of: id, address: "", agent: "", at: scene.clock.now())
    }
    #expect(try await scene.logIn().status == 200)
    let kim = try #require(try await person("kim@example.com", in: scene.world))
    #expect(!kim.hasPassword && kim.sealedTOTP == nil)
    let sessions = try await scene.world.store.look { transaction throws(StorageError) in
      try transaction.consoleSessions.all(of: id)
    }
    #expect(sessions.count == 1)
    #expect(
      try await audit(scene.world, .person(id)) == [
        "person.password.end: kim@example.com", "person.totp.off: kim@example.com",
        "person.link: \(FakeProvider.issuer) kim-1", "session.signon: ",
      ])
  }

  @Test func `The owner's password and authenticator app stay, and the provider asks for its own`()
    async throws
  {
    let scene = try SignOnWorld()
    let owner = try await scene.world.owner()
    scene.provider.say(["email": "zoe@example.com", "sub": "zoe-1"])
    #expect(await owner.open("/console/me").text.contains("You can also log in with Company account"))
    try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.people.setTOTP(of: PersonID(1), sealed: [1], step: 0)
    }
    #expect(try await scene.logIn().text.contains("<h1>Apps</h1>"))
    let zoe = try #require(try await person("zoe@example.com", in: scene.world))
    #expect(zoe.hasPassword && zoe.sealedTOTP != nil)
    let login = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(
      await Browser(scene.world).submit("/console/login", login).text.contains(Words.codeNeeded.english))
  }

  // MARK: Refusals

  @Test func `Nobody comes in without a role`() async throws {
    let scene = try SignOnWorld()
    let unknown = try await scene.logIn()
    #expect(unknown.status == 403 && unknown.text.contains("You are not a member of any account here."))
    _ = try await add("kim@example.com", to: scene.world, as: nil)
    #expect(try await scene.logIn().status == 403)
    #expect(try await person("kim@example.com", in: scene.world)?.issuer == nil)
    // One line each, which names nobody.
    #expect(scene.log.all.count == 2)
    #expect(scene.log.all.allSatisfy { $0.contains("single sign-on refused") && $0.contains("no role") })
    #expect(scene.log.all.allSatisfy { !$0.contains("@") && !$0.contains("kim-1") })
    let roles = try SignOnWorld.withRoles("team=sender", "elsewhere=owner@\(AppKey(high: 5, low: 5).text)")
    _ = try await roles.world.owner()
    for groups in [.null, [], "others", ["TEAM"], [1], "elsewhere", 7] as [JSONValue] {
      roles.provider.say(["groups": groups])
      #expect(try await roles.logIn().status == 403, "\(groups)")
    }
    #expect(try await person("kim@example.com", in: roles.world) == nil)
  }

  @Test func `Nobody comes in who is turned off, or as another user of the provider`() async throws {
    let scene = try SignOnWorld()
    let id = try await add("kim@example.com", to: scene.world)
    @Sendable func turn(off: Bool) async throws {
      try await scene.world.store.change { transaction throws(StorageError) in
        try transaction.database.run(
          "UPDATE person SET disabled = ? WHERE id = ?", .integer(off ? 1 : 0), .integer(id.rawValue))
      }
    }
    try await turn(off: true)
    #expect(try await scene.logIn().text.contains("Your access was turned off."))
    try await turn(off: false)
    #expect(try await scene.logIn().status == 200)
    try await turn(off: true)
    #expect(try await scene.logIn().text.contains("Your access was turned off."))
    try await turn(off: false)
    // The next Kim, who got the address of the one before.
    scene.provider.say(["sub": "kim-2"])
    let other = try await scene.logIn()
    #expect(other.status == 403 && other.text.contains("another user of Company account"))
    // An operator's command lets the person be connected anew.
    try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.people.removeIdentity(of: id)
    }
    #expect(try await scene.logIn().status == 200)
  }

  @Test func `Whoever was removed from the account stays outside`() async throws {
    let scene = try SignOnWorld()
    let owner = try await scene.world.owner()
    let id = try await add("kim@example.com", to: scene.world)
    let kim = Browser(scene.world)
    #expect(try await scene.logIn(kim).status == 200)
    let path = "/console/accounts/\(AccountID.standard.rawValue)/people"
    _ = await owner.open(path)
    #expect(await owner.submit("\(path)/\(id.rawValue)/role", ["role-\(id.rawValue)": "none"]).status == 200)
    #expect(await kim.open(path).status == 404)
    #expect(try await scene.logIn().status == 403)
  }

  // MARK: Roles

  @Test func `Roles follow the claim at each login`() async throws {
    let scene = try SignOnWorld.withRoles("team=sender", "admins=admin", "owners=owner")
    let other = try await scene.world.account("other")
    let owner = try await scene.world.owner()
    func logIn(_ groups: JSONValue) async throws -> [RoleGrant] {
      scene.provider.say(["groups": groups])
      #expect(try await scene.logIn().status == 200, "\(groups)")
      return try await grants("kim@example.com", in: scene.world)
    }
    #expect(try await logIn("team").map(\.role) == [.sender])
    #expect(try await logIn(["admins", "team"]).map(\.role) == [.admin])
    let people = "/console/accounts/\(AccountID.standard.rawValue)/people"
    #expect(await owner.open(people).text.contains("By single sign-on"))
    // One that somebody gave in the console stays when the claim gives none.
    let id = try #require(try await person("kim@example.com", in: scene.world)).id
    try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.members.setRole(of: id, in: other, .viewer)
    }
    #expect(
      try await logIn([]) == [RoleGrant(account: other, role: .viewer, isFromClaim: false)])
    #expect(try await logIn("owners").first == RoleGrant(account: .standard, role: .owner, isFromClaim: true))
    // An account keeps an owner.
    try await scene.world.store.change { transaction throws(StorageError) in
      _ = try transaction.members.remove(PersonID(1), from: .standard)
    }
    #expect(try await logIn("team").first?.role == .owner)
    #expect(try await logIn([]).first?.role == .owner)
    // Also if nothing else lets the person in.
    try await scene.world.store.change { transaction throws(StorageError) in
      _ = try transaction.members.remove(id, from: other)
    }
    #expect(try await logIn([]).map(\.role) == [.owner])
  }

  @Test func `A claim gives roles in other accounts, by their developer keys`() async throws {
    let key = AppKey(high: 0x0123, low: 0x4567)
    let scene = try SignOnWorld { options in
      options.roleClaim = "realm_access.roles"
      options.roles = ["a=viewer@\(key.text)", "b=admin@\(AppKey(high: 9, low: 9).text)"].compactMap {
        RoleRule($0)
      }
    }
    _ = try await scene.world.owner()
    let account = try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.accounts.create(
        key: key, name: "other", secretHash: [UInt8](repeating: 1, count: 32), plan: PlanRow.unlimited,
        at: Timestamp(milliseconds: 0))
    }
    scene.provider.say(["realm_access": ["roles": ["a", "b"]]])
    #expect(try await scene.logIn().status == 200)
    #expect(
      try await grants("kim@example.com", in: scene.world)
        == [RoleGrant(account: account, role: .viewer, isFromClaim: true)])
  }
}
