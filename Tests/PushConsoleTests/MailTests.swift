import PushBase
import PushHTTP
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

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
    #expect(page.text.contains("An invitation is on its way to ben@example.com."))
    #expect(!page.text.contains("it works once"))
    let mail = try #require(world.outbox.mails.first)
    #expect(mail.recipient == "ben@example.com" && mail.body.contains("Admin"))
    let ben = Browser(world)
    let home = await ben.submit(
      try link(mail, "/console/invitations/"),
      ["name": "Ben", "email": "ben@example.com", "password": ConsoleWorld.password])
    #expect(home.text.contains("<h1>Apps</h1>"))
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

  @Test func `Strangers learn nothing, and nobody is flooded`() async throws {
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
  /// Waits for what a request does behind its answer: a look at the database by the only reader, and then a change of it.
  func settled() async throws {
    _ = try await withCheckedThrowingContinuation { done in
      store.read { transaction throws(StorageError) in
        try transaction.hasPeople()
      } completion: {
        done.resume(with: $0)
      }
    }
    try await store.change { _ throws(StorageError) in }
  }
}
