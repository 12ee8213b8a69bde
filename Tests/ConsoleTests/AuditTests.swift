import BorealisBase
import Core
import HTTP
import PushTesting
import Testing

@testable import Console
@testable import Storage

/// What was done, where it can be read, and that nothing is done without it.
@Suite struct AuditTests {
  @Test func `Operators see what was done to the installation, page by page`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    _ = await boss.open("/console/operator")
    _ = await boss.submit("/console/operator/people", ["operator": "ada@example.com"])
    // What changes nothing is not noted.
    _ = await boss.submit("/console/operator/people", ["operator": "ada@example.com"])
    _ = await boss.submit("/console/operator/people/2/end")
    _ = await boss.submit("/console/operator/people/2/end")
    _ = await boss.submit("/console/operator/accounts/1/plan", ["plan-1": "paid"])
    _ = await admin.open("/console/")
    _ = await admin.submit("/console/accounts/1/apps/new", ["name": "Shop"])
    #expect(await boss.open("/console/operator").text.contains("/console/operator/audit"))
    let page = await boss.open("/console/operator/audit").text
    for action in ["operator.add", "operator.end", "account.plan"] {
      #expect(page.split(separator: "title=\"\(action)\"").count == 2, "\(action)")
    }
    let added = page.split(separator: "<li>").first { $0.contains("title=\"operator.add\"") } ?? ""
    #expect(added.contains("<strong>Zoe</strong>") && added.contains("zoe@example.com"))
    #expect(page.contains("default: unlimited → paid"))
    #expect(page.contains("title=\"session.begin\"") && !page.contains("title=\"app.create\""))
    #expect(!page.contains("?before="))
    #expect(await admin.open("/console/operator/audit").status == 404)
    _ = try await world.store.change { transaction throws(StorageError) in
      for number in 0..<100 {
        try transaction.audit.add(
          AuditRow(
            at: ManualClock().now(), account: nil, person: nil, who: "x", action: "n.\(number)", target: "",
            address: ""))
      }
    }
    let latest = await boss.open("/console/operator/audit").text
    #expect(latest.contains("n.99<") && latest.contains("n.0<") && !latest.contains("title=\"account.plan\""))
    let start = try #require(latest.firstRange(of: "?before="))
    let number = latest[start.upperBound...].prefix { $0.isNumber }
    #expect(
      await boss.open("/console/operator/audit?before=\(number)").text.contains("title=\"account.plan\""))
  }

  @Test func `Everybody sees what was done in their name`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let pat = try await world.member(.viewer, of: .standard, name: "pat")
    let second = Browser(world)
    _ = await second.submit(
      "/console/login", ["email": "pat@example.com", "password": ConsoleWorld.password])
    let session = try await world.store.look { transaction throws(StorageError) in
      let id = try transaction.people.find(email: "pat@example.com")?.id ?? PersonID(0)
      return try transaction.consoleSessions.all(of: id).map(\.id).max() ?? 0
    }
    _ = await pat.open("/console/me")
    #expect(await pat.submit("/console/me/sessions/\(session)/end").status == 200)
    #expect(await pat.submit("/console/me/sessions/\(session)/end").status == 404)
    for path in ["/console/me", "/console/me/audit"] {
      let page = await pat.open(path).text
      #expect(
        page.split(separator: "title=\"session.begin\"").count == 3 && page.contains("title=\"session.end\""),
        "\(path)")
      #expect(!page.contains("zoe@example.com"))
    }
    #expect(await !boss.open("/console/me/audit").text.contains("pat@example.com"))
  }

  @Test func `What is gone is named in words`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let estate = try await Estate(world, account: .standard, owner: boss, email: "zoe@example.com")
    _ = try await world.member(.viewer, of: .standard, name: "pat")
    let base = "/console/apps/\(estate.app.key.text)/settings"
    _ = await boss.open("/console/")
    #expect(await boss.submit("\(base)/apple/\(estate.credential.rawValue)/remove").status == 200)
    _ = await boss.submit("/console/accounts/1/invitations/\(estate.invitation)/withdraw")
    _ = await boss.submit("/console/accounts/1/people/2/role", ["role-2": "none"])
    let secret = "https://hooks.example/in?key=secret"
    #expect(await boss.submit("\(base)/callbacks", ["url": secret, "type-1": "1"]).status == 200)
    let audit = await boss.open("/console/accounts/1/audit").text
    for text in [
      "certificate, com.example, sandbox", "guest@example.com (viewer)",
      "pat &lt;pat@example.com&gt;: viewer → none", "https://hooks.example/in (1)",
    ] {
      #expect(audit.contains(text), "\(text)")
    }
    #expect(!audit.contains("key=secret"))
  }

  @Test func `The log is searched by person, action, app and day, and downloaded`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let (shop, other) = (try await world.app(of: .standard), try await world.app(of: .standard))
    let now = world.console.people.time.now()
    try await world.store.change { transaction throws(StorageError) in
      // Older than what one look reads, and more than it reads at a time.
      for number in 0..<1200 {
        let isShop = number % 2 == 0
        try transaction.audit.add(
          AuditRow(
            at: now.adding(seconds: number < 600 ? -86_400 : 0), account: .standard,
            app: isShop ? shop.id : other.id, person: nil,
            who: number == 3 ? "Ann Lee <ann@example.com>" : "Bo <bo@example.com>",
            action: isShop ? "push.send" : "push.recall", target: "n\(number)", address: "192.0.2.1"))
      }
    }
    let path = "/console/accounts/1/audit"
    func targets(_ query: String) async -> [String] {
      await boss.open("\(path)\(query)").text.matches(of: /: n(\d+)/).map { String($0.1) }
    }
    #expect(await targets("?who=ANN") == ["3"])
    #expect(await targets("?who=ann%40example.com&action=push.recall") == ["3"])
    #expect(await boss.open("\(path)?who=ann&action=push.send").text.contains("No entry matches."))
    let ofShop = await targets("?app=\(shop.key.text)")
    #expect(ofShop.count == 100 && ofShop.first == "1198" && ofShop.last == "1000")
    let day = String(world.router.zone.local(now.adding(seconds: -86_400)).text.prefix(10))
    let yesterday = await boss.open("\(path)?from=\(day)&to=\(day)&action=push.send")
    #expect(yesterday.text.contains("n598") && !yesterday.text.contains("n600"))
    let older = try #require(yesterday.text.firstMatch(of: /href="(\?[^"]*before=\d+)"/)?.1)
    let second = await targets(String(older).replacing("&amp;", with: "&"))
    #expect(second.count == 100 && second.first == "398")
    let file = await boss.call("GET", "\(path).csv?action=push.send")
    let lines = String(decoding: file.body, as: UTF8.self).split(separator: "\r\n")
    #expect(lines.count == 601 && lines[1].contains("push.send,n1198,app 1,\(shop.key.text),192.0.2.1"))
    let own = await boss.call("GET", "/console/me/audit.csv")
    #expect(String(decoding: own.body, as: UTF8.self).contains("person.setup"))
  }

  /// The log and the entry are one commit.
  @Test func `What cannot be noted is not done`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let estate = try await Estate(world, account: .standard, owner: boss, email: "zoe@example.com")
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.database.run(
        "CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    let (before, base) = (try await estate.facts(), "/console/apps/\(estate.app.key.text)")
    func pushes() async throws -> Int64? {
      try await world.store.look { transaction throws(StorageError) in
        try transaction.database.first("SELECT count(*) FROM push") { $0.integer() }
      }
    }
    let body =
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"x\"}}"
    let cid = "\(estate.app.key.text)-audit"
    for (path, fields) in [
      ("\(base)/push", ["body": body, "cid": cid]), ("\(base)/pushes/\(estate.push)/recall", [:]),
      ("\(base)/virtual/push", ["registration_id": estate.device.text, "text": "x"]),
      ("\(base)/settings/callbacks", ["url": "https://a.example/", "type-1": "1"]),
      ("\(base)/settings/callbacks/\(estate.batch)/resend", [:]),
      ("/console/me/profile", ["name": "Other", "language": "en"]),
    ] {
      #expect(await boss.submit(path, fields).status >= 400, "\(path)")
    }
    #expect(try await pushes() == 1)
    #expect(try await estate.facts() == before)
  }
}
