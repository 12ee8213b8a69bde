import BorealisBase
import HTTP
import PushTesting
import Testing

@testable import Console
@testable import Storage

/// Who comes in by a link, and what they may call themselves.
@Suite struct LoginPageTests {
  private func link(_ page: String) throws -> String {
    let start = try #require(page.firstRange(of: "http://console.example/console/invitations/"))
    return "/console/invitations/" + page[start.upperBound...].prefix { $0 != "<" }
  }

  private func invite(_ owner: Browser, _ email: String, as role: Role, to account: AccountID) async throws
    -> String
  {
    let path = "/console/accounts/\(account.rawValue)/people"
    _ = await owner.open(path)
    return try link(await owner.submit("\(path)/invite", ["email": email, "role": role.word]).text)
  }

  @Test func `A guest is who was invited, whatever the form says`() async throws {
    let world = try ConsoleWorld()
    let path = try await invite(try await world.owner(), "kim@example.com", as: .sender, to: .standard)
    let guest = Browser(world)
    let page = await guest.open(path).text
    #expect(page.contains("kim@example.com") && !page.contains("name=\"email\""))
    let fields = ["name": "Kim", "email": "boss@corp.com", "password": "another horse battery"]
    #expect(await guest.submit(path, fields).text.contains("<h1>Apps</h1>"))
    let (people, log) = try await world.store.look { transaction throws(StorageError) in
      (
        try transaction.people.all().map(\.email),
        try transaction.audit.entries(.account(.standard), before: nil, limit: 1).map(\.entry)
      )
    }
    #expect(people == ["kim@example.com", "zoe@example.com"])
    #expect(log.first?.target == "kim@example.com (sender)" && log.first?.who == "Kim <kim@example.com>")
  }

  @Test func `Who joins under another address is noted with both`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let account = try await world.account("some")
    let other = try await world.member(.owner, of: account, name: "ida")
    let path = try await invite(other, "kim@example.com", as: .viewer, to: account)
    _ = await owner.open("/console/")
    #expect(await owner.submit(path).text.contains("some"))
    let audit = await other.open("/console/accounts/\(account.rawValue)/audit").text
    #expect(audit.contains("kim@example.com → zoe@example.com (viewer)"))
  }

  /// What happens to the owner who made an invitation, before it is used.
  enum Fate: CaseIterable, Sendable {
    case stays, demoted, removed, accountOff, disabled
  }

  @Test(arguments: Fate.allCases)
  func `An invitation holds only as long as who made it may invite`(fate: Fate) async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let account = try await world.account("some")
    let ida = try await world.member(.owner, of: account, name: "ida")
    let eve = try await world.member(.owner, of: account, name: "eve")
    let path = try await invite(eve, "eve2@example.com", as: .owner, to: account)
    let id = try await world.store.change { transaction throws(StorageError) in
      let id = try transaction.people.find(email: "eve@example.com")?.id ?? PersonID(0)
      switch fate {
      case .accountOff: _ = try transaction.accounts.setDisabled(account: account, true)
      case .disabled:
        try transaction.database.run("UPDATE person SET disabled = 1 WHERE id = ?", .integer(id.rawValue))
      case .stays, .demoted, .removed: break
      }
      return id
    }
    let people = "/console/accounts/\(account.rawValue)/people"
    _ = await ida.open(people)
    if fate == .demoted || fate == .removed {
      let role = fate == .demoted ? "admin" : "none"
      let page = await ida.submit("\(people)/\(id.rawValue)/role", ["role-\(id.rawValue)": role])
      #expect(page.status == 200 && !page.text.contains("eve2@example.com"))
    }
    let fields = ["name": "Eve", "password": "another horse battery"]
    let isIn = fate == .stays
    #expect(await eve.open(path).status == (isIn ? 200 : 404))
    #expect(await Browser(world).submit(path, fields).status == (isIn ? 200 : 404))
  }

  @Test(arguments: [
    ("Zoe", true), ("佐伊", true), ("Zoë O’Neil-Smith", true), ("", false), ("Zoe\u{7}", false),
    ("Zoe\nsays", false), ("Zoe\u{2028}says", false), ("Zoe <zoe@example.com>", false),
    ("\u{202e}eoZ", false),
    (String(repeating: "x", count: 80), true), (String(repeating: "x", count: 81), false),
  ])
  func `A name is a name, in one line`(name: String, isFine: Bool) {
    #expect(PersonName.isFine(name) == isFine)
  }

  @Test func `A new name changes nothing of what was done, and is noted`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let account = try await world.account("some")
    let eve = try await world.member(.owner, of: account, name: "eve")
    _ = await eve.open("/console/me")
    #expect(await eve.submit("/console/me/profile", ["name": "Zoe\nZoe"]).status == 422)
    #expect(await eve.submit("/console/me/profile", ["name": "Zoe Owner", "language": "en"]).status == 200)
    _ = await eve.submit("/console/accounts/\(account.rawValue)/apps/new", ["name": "Fake"])
    let audit = await eve.open("/console/accounts/\(account.rawValue)/audit").text
    let made = audit.split(separator: "<li>").first { $0.contains("title=\"app.create\"") } ?? ""
    #expect(made.contains("<strong>Zoe Owner</strong>") && made.contains("eve@example.com"))
    #expect(audit.contains("eve → Zoe Owner"))
  }

  /// Earlier versions took names of up to 100 bytes.
  @Test func `Who has a longer name may keep it`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let eve = try await world.member(.owner, of: account, name: "eve")
    let long = String(repeating: "x", count: 81)
    try await world.store.change { transaction throws(StorageError) in
      let person = try transaction.people.find(email: "eve@example.com")?.id ?? PersonID(0)
      try transaction.people.setProfile(of: person, name: long, language: "en")
    }
    _ = await eve.open("/console/me")
    #expect(await eve.submit("/console/me/profile", ["name": long, "language": "zh"]).status == 200)
    #expect(await eve.submit("/console/me/profile", ["name": "\(long)x", "language": "zh"]).status == 422)
  }
}
