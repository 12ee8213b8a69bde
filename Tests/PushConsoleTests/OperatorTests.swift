import PushBase
import PushCrypto
import PushHTTP
import PushRouter
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

@Suite struct OperatorTests {
  @Test func `Pages of the installation are there for operators alone`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let other = try await world.member(.owner, of: .standard, name: "olga")
    #expect(await boss.open("/console/").text.contains("/console/operator"))
    #expect(await !other.open("/console/").text.contains("/console/operator"))
    var seen = 0
    for page in WebConsole.pages where page.access == .operators {
      let path = page.pattern.replacing("{id}", with: "1")
      let answer = page.method == "GET" ? await other.call("GET", path) : await other.post(path)
      #expect(answer.status == 404, "\(page.method) \(path)")
      seen += 1
    }
    #expect(seen > 5)
  }

  @Test func `Accounts are listed a hundred at a time`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    _ = try await world.store.change { transaction throws(StorageError) in
      for number in 1...WebConsole.accountsOnPage {
        _ = try transaction.createAccount(
          key: .random(), name: "Tenant \(number).", secretHash: SHA256.digest([1]), plan: PlanRow.unlimited,
          at: Timestamp(milliseconds: 0))
      }
    }
    let last = "Tenant \(WebConsole.accountsOnPage)."
    let first = await boss.open("/console/operator").text
    #expect(first.contains("Tenant 1.") && !first.contains(last))
    let link = try #require(first.firstRange(of: "/console/operator?after="))
    let second = await boss.open(String(first[link.lowerBound...].prefix { $0 != "\"" })).text
    #expect(
      second.contains(last) && !second.contains("Tenant 1.")
        && !second.contains("href=\"/console/operator?after="))
  }

  @Test func `An account is made with an invitation for its owner, put on a plan, and turned off`()
    async throws
  {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    _ = await boss.open("/console/operator")
    let made = await boss.submit(
      "/console/operator/accounts", ["name": "Tenant", "email": "tina@example.com", "plan": "free"]
    ).text
    #expect(made.contains("Developer secret"))
    let start = try #require(made.firstRange(of: "/console/invitations/"))
    let link = String(made[start.lowerBound...].prefix { $0 != "<" && $0 != "\"" })
    let tina = Browser(world)
    let home = await tina.submit(
      link, ["name": "Tina", "email": "tina@example.com", "password": ConsoleWorld.password])
    #expect(home.text.contains("Tenant") && home.text.contains("Owner"))
    let account = try await world.store.change { transaction throws(StorageError) in
      try transaction.reading.accounts()
    }.last
    let id = try #require(account).id
    let path = "/console/operator/accounts/\(id.rawValue)"
    #expect(await boss.submit("\(path)/plan", ["plan-\(id.rawValue)": "paid"]).status == 200)
    let app = try await world.app(of: id)
    #expect(app.plan.name == "paid")
    // The operator sees that there is an app, but not into it.
    #expect(await boss.open("/console/apps/\(app.key.text)").status == 404)
    #expect(await boss.submit("\(path)/off").text.contains("off</span>"))
    #expect(await tina.open("/console/").text.contains("You belong to no account."))
    _ = await boss.submit("\(path)/on")
    #expect(await tina.open("/console/").text.contains("Tenant"))
    for (name, email, plan, status) in [
      ("", "a@example.com", "free", 422), ("A", "nonsense", "free", 422), ("A", "a@example.com", "gold", 404),
    ] {
      let answer = await boss.submit(
        "/console/operator/accounts", ["name": name, "email": email, "plan": plan])
      #expect(answer.status == status)
    }
  }

  @Test func `Operators name others, and the last one stays`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let olga = try await world.member(.viewer, of: .standard, name: "olga")
    _ = await boss.open("/console/operator")
    #expect(await boss.submit("/console/operator/people/1/end").status == 422)
    #expect(await boss.submit("/console/operator/people", ["operator": "nobody@example.com"]).status == 422)
    #expect(await boss.submit("/console/operator/people", ["operator": "OLGA@example.com"]).status == 200)
    #expect(await olga.open("/console/operator").status == 200)
    #expect(await olga.submit("/console/operator/people/1/end").status == 200)
    #expect(await boss.open("/console/operator").status == 404)
  }
}
