import BorealisBase
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// What the console sends by mail.
@Suite struct MailTests {
  private func link(_ mail: NewMail, _ part: String) throws -> String {
    let start = try #require(mail.body.firstRange(of: "https://push.example.com\(part)"))
    let address = mail.body[start.lowerBound...].prefix { !$0.isWhitespace }
    return String(address.dropFirst("https://push.example.com".count))
  }

  @Test func `An invitation goes by mail, and its link is not shown`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    _ = await owner.open("/console/accounts/1/people")
    let page = await owner.submit(
      "/console/accounts/1/people/invite", ["email": "ben@example.com", "role": "admin"])
    #expect(page.text.contains("ben@example.com") || page.text.contains("ben@<wbr>example.com"))
    #expect(page.text.contains("Email queued") && !page.text.contains("It works once"))
    let mail = try #require(world.outbox.mails.first)
    #expect(mail.recipient == "ben@example.com" && mail.body.contains("Admin"))
    let ben = Browser(world)
    let home = await ben.submit(
      try link(mail, "/console/invitations/"),
      ["name": "Ben", "email": "ben@example.com", "password": ConsoleWorld.password])
    #expect(home.text.contains("<h1>Apps</h1>"))
  }

  private func invite(_ owner: Browser, _ email: String) async -> String {
    _ = await owner.open("/console/accounts/1/people")
    return await owner.submit("/console/accounts/1/people/invite", ["email": email, "role": "admin"]).text
  }

  @Test func `An invitation shows what was seen of its mail, whatever becomes of it`() async throws {
    let world = try ConsoleWorld(time: ManualClock(), sendsMail: true)
    let owner = try await world.owner()
    #expect(await invite(owner, "ben@example.com").contains("Email queued"))
    let path = "/console/accounts/1/people"
    for (progress, words) in [
      (MailProgress.delayed(reason: "no <route>"), "failed (no &lt;route&gt;). The server will retry."),
      (.refused(reason: "550 no such user"), "Email not sent: 550 no such user"),
      (.handedOver, "Accepted by the mail server"),
    ] {
      world.outbox.progress(progress)
      try await world.settled()
      #expect(await owner.open(path).text.contains(words), "\(words)")
    }
  }

  @Test func `Mail is sent again with a new link, and a link is made to be copied; the one before ends`()
    async throws
  {
    let clock = ManualClock()
    let world = try ConsoleWorld(time: clock, sendsMail: true)
    let owner = try await world.owner()
    _ = await invite(owner, "ben@example.com")
    clock.advance(seconds: 60)
    let late = world.outbox.progress
    let first = try link(try #require(world.outbox.mails.last), "/console/invitations/")
    let base = "/console/accounts/1/people/invitations/1"
    #expect(
      await owner.post("\(base)/mail").headers["location"]
        == "/console/accounts/1/people?notice=invited-again")
    // What is heard late of the mail before says nothing of this one.
    late(.refused(reason: "too late"))
    try await world.settled()
    #expect(await owner.open("/console/accounts/1/people").text.contains("Email queued"))
    let second = try link(try #require(world.outbox.mails.last), "/console/invitations/")
    #expect(first != second)
    #expect(await Browser(world).open(first).status == 404)
    #expect(await Browser(world).open(second).status == 200)
    let page = await owner.submit("\(base)/link").text
    #expect(
      page.contains("Not sent by email. Send the link to the person yourself.")
        && world.outbox.mails.count == 2)
    let start = try #require(page.firstRange(of: "https://push.example.com/console/invitations/"))
    let third = String(
      page[start.lowerBound...].prefix { $0 != "<" }.dropFirst("https://push.example.com".count))
    #expect(await Browser(world).open(second).status == 404)
    #expect(await Browser(world).open(third).status == 200)
    #expect(await !owner.open("/console/accounts/1/people").text.contains(third))
    let audit = await owner.open("/console/accounts/1/audit").text
    #expect(audit.contains("title=\"member.mail\"") && audit.contains("title=\"member.link\""))
  }

  @Test func `Mail that waited when the server stopped is lost, and that is said`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    _ = await invite(owner, "ben@example.com")
    try await world.store.change { t throws(StorageError) in
      try t.invitations.loseQueuedMail(at: ManualClock().now())
    }
    let page = await owner.open("/console/accounts/1/people").text
    #expect(page.contains("the server stopped before the mail server accepted it"))
  }

  @Test func `Without a mail server the page says so`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    #expect(await invite(owner, "ben@example.com").contains("no mail server is configured"))
    #expect(await owner.submit("/console/accounts/1/people/invitations/1/mail").status == 404)
    #expect(
      await owner.submit("/console/accounts/1/people/invitations/1/link").text.contains("It works once"))
  }

  @Test func `An operator sees how far the mail to a new owner has come`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let boss = try await world.owner()
    _ = await boss.open("/console/operator")
    let fields = ["name": "Tenant", "email": "tina@example.com", "plan": "free"]
    #expect(await boss.submit("/console/operator/accounts", fields).text.contains("invitation is queued"))
    world.outbox.progress(.refused(reason: "550 unknown"))
    try await world.settled()
    #expect(await boss.open("/console/operator").text.contains("Email not sent: 550 unknown"))
    #expect(await boss.submit("/console/operator/invitations/1/mail").text.contains("Email queued"))
    #expect(
      await boss.submit("/console/operator/invitations/1/link").text.contains(
        "https://push.example.com/console/invitations/"))
    #expect(world.outbox.mails.count == 2)
  }

  @Test func `A lost password is replaced by a link, once; all browsers are logged out`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    let browser = Browser(world)
    #expect(await browser.open("/console/login").text.contains("/console/reset"))
    #expect(await browser.submit("/console/reset", ["email": "zoe@example.com"]).status == 200)
    try await world.settled()
    let mail = try #require(world.outbox.mails.first)
    let path = try link(mail, "/console/reset/")
    #expect(await browser.submit(path, ["password": "short"]).status == 422)
    #expect(await browser.submit(path, ["password": "a new long password"]).status == 200)
    #expect(await browser.submit(path, ["password": "another long password"]).status == 404)
    #expect(await owner.call("GET", "/console/").status == 303)
    let old = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(await browser.submit("/console/login", old).status == 403)
    let new = ["email": "zoe@example.com", "password": "a new long password"]
    #expect(await browser.submit("/console/login", new).text.contains("<h1>Apps</h1>"))
  }

  @Test func `Whoever asks for mail while too much waits is told, and nothing is done`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    let browser = Browser(world)
    _ = await browser.submit("/console/reset", ["email": "zoe@example.com"])
    try await world.settled()
    let path = try link(try #require(world.outbox.mails.first), "/console/reset/")
    world.outbox.isFull = true
    for email in ["zoe@example.com", "nobody@example.com"] {
      let answer = await browser.submit("/console/reset", ["email": email])
      #expect(answer.status == 503 && answer.text.contains("too many emails are queued"))
      try await world.settled()
    }
    _ = await invite(owner, "ben@example.com")
    try await world.settled()
    #expect(
      await owner.open("/console/accounts/1/people").text.contains(
        "Email not sent: too many emails are queued"))
    #expect(world.outbox.mails.count == 1)
    // The link that was mailed before holds.
    #expect(await browser.submit(path, ["password": "a new long password"]).status == 200)
  }

  @Test func `Outsiders learn nothing, and nobody is flooded`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    _ = try await world.owner()
    let browser = Browser(world)
    var answers: Set<String> = []
    for email in [
      "nobody@example.com", "zoe@example.com", "zoe@example.com", "zoe@example.com", "zoe@example.com", "",
    ] {
      answers.insert(await browser.submit("/console/reset", ["email": email]).text)
      try await world.settled()
    }
    #expect(answers.count == 1)
    #expect(world.outbox.mails.map(\.recipient) == Array(repeating: "zoe@example.com", count: 3))
  }

  @Test func `Where no mail is set up there is no such page`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let browser = Browser(world)
    #expect(await browser.open("/console/reset").status == 404)
    #expect(await browser.submit("/console/reset", ["email": "zoe@example.com"]).status == 404)
    #expect(await !browser.open("/console/login").text.contains("/console/reset"))
  }
}

extension ConsoleWorld {
  /// Waits for what a request does behind its answer: a look at the database by the only reader, and then a
  /// change of it.
  func settled() async throws {
    _ = try await awaitCallback { done in
      store.read { transaction throws(StorageError) in
        try transaction.people.isAny()
      } completion: {
        done($0)
      }
    }.get()
    try await store.change { _ throws(StorageError) in }
  }
}
