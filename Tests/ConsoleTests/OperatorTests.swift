import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

@Suite struct OperatorTests {
  @Test func `Pages of the installation are there for operators alone`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let other = try await world.member(.owner, of: .standard, name: "olga")
    #expect(await boss.open("/console/").text.contains("/console/operator"))
    #expect(await !other.open("/console/").text.contains("/console/operator"))
    var seen = 0
    for page in ConsoleRegistry.pages where page.access == .operators {
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
      for number in 1...OperatorPages.accountsOnPage {
        _ = try transaction.accounts.create(
          key: .random(), name: "Tenant \(number).", secretHash: SHA256.digest([1]), plan: PlanRow.unlimited,
          at: Timestamp(milliseconds: 0))
      }
    }
    let last = "Tenant \(OperatorPages.accountsOnPage)."
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
      try transaction.accounts.all()
    }.last
    let id = try #require(account).id
    let path = "/console/operator/accounts/\(id.rawValue)"
    #expect(await boss.submit("\(path)/plan", ["plan-\(id.rawValue)": "paid"]).status == 200)
    let app = try await world.app(of: id)
    #expect(app.plan.name == "paid")
    // The operator sees that there is an app, but not into it.
    #expect(await boss.open("/console/apps/\(app.key.text)").status == 404)
    #expect(await boss.submit("\(path)/off").text.contains("off</span>"))
    let suspended = await tina.open("/console/").text
    #expect(
      suspended.contains("The account Tenant is suspended") && suspended.contains("mailto:zoe@example.com"))
    #expect(!suspended.contains("You belong to no account."))
    for path in ["/console/apps/\(app.key.text)", "/console/accounts/\(id.rawValue)/people"] {
      let page = await tina.open(path)
      #expect(page.status == 403 && page.text.contains("The account Tenant is suspended"), "\(path)")
    }
    let outsider = try await world.member(.owner, of: .standard, name: "olga")
    #expect(await outsider.open("/console/apps/\(app.key.text)").status == 404)
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

  @Test func `A plan goes to the account's apps at once, but for those with a plan of their own`()
    async throws
  {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let account = try await world.account("Tenant")
    let (one, two, own) = (
      try await world.app(of: account), try await world.app(of: account), try await world.app(of: account)
    )
    let path = "/console/operator/accounts/\(account.rawValue)/plan"
    let fields = ["plan-\(account.rawValue)": "free"]
    _ = try await world.store.change { t throws(StorageError) in try t.apps.setPlan(app: own.id, "paid") }
    _ = await boss.open("/console/operator")
    let saved = await boss.submit(path, fields).text
    #expect([one, two].allSatisfy { $0.plan.name == "free" && $0.plan.broadcasts != nil })
    #expect(
      saved.contains("except those below that have their own plan")
        && saved.contains("Apps with their own plan: 1 (app \(account.rawValue): paid)"))
    let entries = try await world.store.look { t throws(StorageError) in
      try t.audit.entries(.account(account), before: nil, limit: 9).map(\.entry)
    }
    #expect(entries.filter { $0.action == "app.plan" }.compactMap(\.app).count == 2)
    #expect(entries.contains { $0.action == "account.plan" && $0.target == "Tenant: unlimited → free" })
    // With the box the others go along, also when the account's plan stays.
    let all = await boss.submit(path, fields.merging(["all-\(account.rawValue)": "1"]) { $1 }).text
    #expect(
      own.plan.name == "free" && !all.contains("with their own plan: 1")
        && all.contains("The plan was saved."))
    #expect(await boss.submit(path, ["plan-\(account.rawValue)": "nonsense"]).status == 404)
    #expect(await boss.open("/console/operator").text.contains("<summary>Turn off</summary>"))
    _ = await boss.submit("/console/operator/accounts/\(account.rawValue)/off")
    #expect(await boss.open("/console/operator").text.contains("<button class=\"small\">Turn on"))
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
