import BorealisBase
import BorealisCrypto
import Dispatch
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// Ways into what is somebody else's.
@Suite struct TakeoverTests {
  // MARK: Addresses that look alike

  @Test func `Only ASCII letters of an address have no case`() {
    #expect(EmailAddress.key("Kim@Example.com") == "kim@example.com")
    for (one, other) in [("\u{212a}im@a.example", "kim@a.example"), ("a\u{1fef}@a.example", "a`@a.example")] {
      #expect(EmailAddress.key(one) != EmailAddress.key(other))
      #expect(EmailAddress.isPlausible(one) && !EmailAddress.isAcceptable(one))
      #expect(EmailAddress.isAcceptable(other))
      let signer = BrowserSigner(key: Array(0..<32))
      #expect(signer.name(in: signer.cookie(for: one), for: other) == nil)
    }
  }

  @Test func `Who has an address with the sign for kelvin does not make up for guesses at one with a k`()
    async throws
  {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = try await world.member(.viewer, of: .standard, name: "kim")
    let thief = Browser(world)
    let guess = ["email": "kim@example.com", "password": "guess"]
    for _ in 0..<9 { #expect(await thief.submit("/console/login", guess).status == 403) }
    _ = try await world.member(.viewer, of: .standard, name: "\u{212a}im")
    #expect(await thief.submit("/console/login", guess).status == 403)
    #expect(await thief.submit("/console/login", guess).status == 429)
    _ = await owner.open("/console/accounts/1/people")
    let invited = ["email": "\u{212a}ai@example.com", "role": "viewer"]
    let answer = await owner.submit("/console/accounts/1/people/invite", invited)
    #expect(answer.status == 422 && answer.text.contains("Enter a valid email address."))
  }

  // MARK: Logins under way

  private static let secret = [UInt8](repeating: 0, count: OneTimePassword.secretSize)

  private func people(_ world: ConsoleWorld, open: @escaping @Sendable () -> Void) -> People {
    People(
      profiles: Profiles(store: world.store), sessions: Sessions(store: world.store),
      audit: AuditLog(store: world.store), time: ManualClock(),
      secrets: PersonSecrets(
        seal: { _, _, _ in nil },
        open: { _, _ in
          open()
          return Self.secret
        }),
      mail: ConsoleMail(site: nil, reserve: nil))
  }

  private func attempt(code: String? = nil, ticket: String? = nil) -> People.Attempt {
    People.Attempt(
      email: "zoe@example.com", password: ticket == nil ? ConsoleWorld.password : "", code: code,
      address: IPAddress("192.0.2.1"), agent: "", ticket: ticket)
  }

  private static var code: String {
    OneTimePassword.code(secret: secret, step: OneTimePassword.step(at: ManualClock().now()))
  }

  @Test func `A login that was under way when the password changed fails`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    try await world.store.change { t throws(StorageError) in
      try t.people.setTOTP(of: PersonID(1), sealed: [1], step: 0)
    }
    let (arrivals, arrival) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let people = people(world) {
      arrival.yield()
      gate.wait()
    }
    async let outcome = people.logIn(attempt(code: Self.code))
    for await _ in arrivals { break }
    try await world.store.change { t throws(StorageError) in
      try t.people.setPassword(of: PersonID(1), "another", keeping: nil)
    }
    gate.signal()
    #expect(await outcome == .failure(.wrong))
    let sessions = try await world.store.look { t throws(StorageError) in
      try t.consoleSessions.all(of: PersonID(1))
    }
    #expect(sessions.isEmpty)
  }

  @Test func `The ticket for the second step is for the password that was typed`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    try await world.store.change { t throws(StorageError) in
      try t.people.setTOTP(of: PersonID(1), sealed: [1], step: 0)
    }
    let people = people(world) {}
    guard case .failure(.needsCode(false, let ticket)) = await people.logIn(attempt()) else {
      Issue.record("no code was asked for")
      return
    }
    #expect(
      await people.logIn(attempt(code: "x", ticket: ticket))
        == .failure(.needsCode(wasWrong: true, ticket: ticket)))
    try await world.store.change { t throws(StorageError) in
      try t.people.setPassword(of: PersonID(1), "another", keeping: nil)
    }
    #expect(await people.logIn(attempt(code: Self.code, ticket: ticket)) == .failure(.wrong))
  }

  @Test(arguments: ["password", "authenticator"])
  func `Nothing is done with the row of a person who has changed`(what: String) async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let checked = try #require(
      try await world.store.look { t throws(StorageError) in try t.people.find(PersonID(1)) })
    try await world.store.change { t throws(StorageError) in
      if what == "password" {
        try t.people.setPassword(of: checked.id, "another", keeping: nil)
      } else {
        try t.people.setTOTP(of: checked.id, sealed: [1], step: 0)
      }
    }
    let now = ManualClock().now()
    let entry = AuditRow(
      at: now, account: nil, person: checked.id, who: "", action: "test", target: "", address: "")
    let new = Sessions.New(cookie: WebToken.make(), replacing: nil, address: "", agent: "", at: now)
    #expect(try await Sessions(store: world.store).begin(new, of: checked, .none).get() == .personChanged)
    let profiles = Profiles(store: world.store)
    #expect(try await !profiles.setPassword("third", of: checked, keeping: 1, noting: entry).get())
    let person = try await profiles.setTOTP(nil, step: 0, recoveryCodes: [], of: checked, noting: entry).get()
    #expect(person == nil)
  }

  // MARK: Invitations to accounts of others

  @Test func `An operator gets no link to an account that has members`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let boss = try await world.owner()
    let estate = try await Estate.make(world, "mine")
    _ = await boss.open("/console/operator")
    for action in ["link", "mail"] {
      let path = "/console/operator/invitations/\(estate.invitation)/\(action)"
      #expect(await boss.submit(path).status == 404, "\(action)")
    }
    #expect(world.outbox.mails.isEmpty)
    #expect(await Browser(world).open("/console/invitations/\(estate.token)").status == 200)
  }

  @Test func `What an operator has sent ends when the account has members`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let (account, token) = (try await world.account("new"), WebToken.make())
    try await world.store.change { t throws(StorageError) in
      let now = ManualClock().now()
      try t.invitations.add(
        tokenHash: WebToken.hash(token), to: account, as: .owner, email: "olga@example.com", by: PersonID(1),
        at: now, expiresAt: now.adding(seconds: 1000))
    }
    let link = "/console/invitations/\(token)"
    #expect(await Browser(world).open(link).status == 200)
    _ = try await world.member(.viewer, of: account, name: "vic")
    #expect(await Browser(world).open(link).status == 404)
    // As an owner the operator may invite.
    try await world.store.change { t throws(StorageError) in
      try t.members.setRole(of: PersonID(1), in: account, .owner)
    }
    #expect(await Browser(world).open(link).status == 200)
  }

  // MARK: Addresses that nobody has proven

  @Test func `A mailed link ends what somebody has set up under an address that was not theirs`() async throws
  {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    _ = await owner.open("/console/accounts/1/people")
    let people = "/console/accounts/1/people"
    _ = await owner.submit("\(people)/invite", ["email": "ceo@example.com", "role": "viewer"])
    let page = await owner.submit("\(people)/invitations/1/link").text
    let start = try #require(page.firstRange(of: "/console/invitations/"))
    let link = String(page[start.lowerBound...].prefix { $0 != "<" && $0 != "\"" })
    let outsider = Browser(world)
    _ = await outsider.submit(link, ["name": "Ceo", "password": ConsoleWorld.password])
    #expect(await outsider.call("GET", "/console/me").status == 200)
    let id = try #require(
      try await world.store.look { t throws(StorageError) in try t.people.find(email: "ceo@example.com") }
    ).id
    func turnOn() async throws {
      try await world.store.change { t throws(StorageError) in
        try t.people.setTOTP(of: id, sealed: [1], step: 0)
      }
    }
    func reset() async throws -> PersonRow? {
      let browser = Browser(world)
      _ = await browser.submit("/console/reset", ["email": "ceo@example.com"])
      try await world.settled()
      let body = try #require(world.outbox.mails.last).body
      let start = try #require(body.firstRange(of: "/console/reset/"))
      let path = String(body[start.lowerBound...].prefix { !$0.isWhitespace })
      #expect(await browser.submit(path, ["password": "a new long password"]).status == 200)
      return try await world.store.look { t throws(StorageError) in try t.people.find(id) }
    }
    try await turnOn()
    #expect(try await reset()?.sealedTOTP == nil)
    #expect(await outsider.call("GET", "/console/me").status == 303)
    // From now on the address is the person's.
    try await turnOn()
    #expect(try await reset()?.sealedTOTP == [1])
  }

  @Test func `An address to which an invitation was mailed is proven`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    _ = await owner.open("/console/accounts/1/people")
    _ = await owner.submit(
      "/console/accounts/1/people/invite", ["email": "ben@example.com", "role": "viewer"])
    let body = try #require(world.outbox.mails.first).body
    let start = try #require(body.firstRange(of: "/console/invitations/"))
    let link = String(body[start.lowerBound...].prefix { !$0.isWhitespace })
    _ = await Browser(world).submit(link, ["name": "Ben", "password": ConsoleWorld.password])
    let wasProven = try await world.store.change { t throws(StorageError) -> Bool in
      guard let ben = try t.people.find(email: "ben@example.com") else { return false }
      return try !t.people.prove(ben.id)
    }
    #expect(wasProven)
  }
}
