import BorealisBase
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// Bounds of invitations and of their mail.
@Suite struct InvitationTests {
  private static let people = "/console/accounts/1/people"

  private func invite(_ owner: Browser, _ email: String) async -> (status: Int, text: String) {
    _ = await owner.open(Self.people)
    return await owner.submit("\(Self.people)/invite", ["email": email, "role": "viewer"])
  }

  private func link(_ mail: NewMail) throws -> String {
    let start = try #require(mail.body.firstRange(of: "/console/invitations/"))
    return String(mail.body[start.lowerBound...].prefix { !$0.isWhitespace })
  }

  @Test func `An account has a hundred open invitations`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    try await world.store.change { t throws(StorageError) in
      let now = ManualClock().now()
      for number in 0..<NewInvitation.mostOpen {
        try t.invitations.add(
          tokenHash: WebToken.hash("\(number)"), to: .standard, as: .viewer, email: "\(number)@example.com",
          by: PersonID(1), at: now, expiresAt: now.adding(seconds: 1000))
      }
    }
    let refused = await invite(owner, "ben@example.com")
    #expect(refused.status == 422 && refused.text.contains("already has 100 open invitations"))
    #expect(await !owner.open(Self.people).text.contains("ben@"))
    // Another one to the same address takes its place.
    #expect(await invite(owner, "7@example.com").status == 200)
  }

  @Test func `A minute lies between two mails to an address`() async throws {
    let clock = ManualClock()
    let world = try ConsoleWorld(time: clock, sendsMail: true)
    let owner = try await world.owner()
    #expect(await invite(owner, "ben@example.com").status == 200)
    let first = try link(try #require(world.outbox.mails.first))
    let again = await owner.submit("\(Self.people)/invitations/1/mail")
    #expect(again.status == 429 && again.text.contains("less than a minute ago"))
    #expect(await invite(owner, "Ben@Example.com").status == 429)
    #expect(await owner.post("/console/accounts/1/invitations/2/withdraw").status == 404)
    #expect(await Browser(world).open(first).status == 200)
    // Nor does it help to begin anew.
    #expect(await owner.post("/console/accounts/1/invitations/1/withdraw").status == 303)
    #expect(await invite(owner, "ben@example.com").status == 429)
    #expect(world.outbox.mails.count == 1)
    clock.advance(seconds: 60)
    #expect(await invite(owner, "ben@example.com").status == 200)
    #expect(world.outbox.mails.count == 2)
  }

  @Test func `An account sends two hundred mails in a day`() {
    let limit = InvitationMailLimit()
    let day: UInt64 = 86_400_000_000_000
    for number in 0..<InvitationMailLimit.mostInDay {
      #expect(limit.count(.standard, to: "\(number)@example.com", at: UInt64(number)) == nil)
    }
    #expect(limit.count(.standard, to: "x@example.com", at: 1000) == .tooMany)
    #expect(limit.count(AccountID(2), to: "x@example.com", at: 1000) == nil)
    #expect(limit.count(.standard, to: "x@example.com", at: day) == nil)
    #expect(limit.count(.standard, to: "y@example.com", at: day) == .tooMany)
  }

  @Test func `A name in mail is no link`() async throws {
    #expect(PersonName.inMail("J.R. Tolkien") == "J. R. Tolkien")
    #expect(PersonName.inMail("Zoe 李") == "Zoe 李")
    #expect(!PersonName.isFine("http://evil.example"))
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    try await world.store.change { t throws(StorageError) in
      try t.people.setProfile(of: PersonID(1), name: "Claim: http://evil.example/x", language: "en")
    }
    _ = await invite(owner, "ben@example.com")
    _ = await Browser(world).submit("/console/reset", ["email": "zoe@example.com"])
    try await world.settled()
    #expect(world.outbox.mails.count == 2)
    for mail in world.outbox.mails {
      #expect(mail.body.contains("Claim: http: / / evil. example/ x") && !mail.body.contains("evil.example"))
    }
  }

  @Test func `What cannot be sent again leaves the link before it as it is`() async throws {
    let world = try ConsoleWorld(sendsMail: true)
    let owner = try await world.owner()
    _ = await invite(owner, "ben@example.com")
    let first = try link(try #require(world.outbox.mails.first))
    world.outbox.isFull = true
    let answer = await owner.submit("\(Self.people)/invitations/1/mail")
    #expect(answer.status == 503 && answer.text.contains("the earlier link still works"))
    #expect(await Browser(world).open(first).status == 200)
    #expect(await owner.open(Self.people).text.contains("Email queued"))
  }
}
