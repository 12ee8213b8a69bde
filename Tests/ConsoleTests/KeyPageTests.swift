import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// API keys and the log of requests in the console.
@Suite struct KeyPageTests {
  private static func find(_ pattern: Regex<(Substring, Substring)>, in text: String) throws -> String {
    String(try #require(text.firstMatch(of: pattern)).output.1)
  }

  @Test func `A key is created, shown once, listed and revoked`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let sender = try await world.member(.sender, of: account, name: "sam")
    let path = "/console/apps/\(app.key.text)/settings/keys"
    #expect(await admin.open(path).text.contains("No keys yet."))
    _ = await sender.open("/console/")
    #expect(await sender.open(path).status == 403)
    let fields = ["name": "<shop>", "right-push": "1", "right-reports": "1", "networks": "10.0.0.0/8 ::1"]
    #expect(await sender.submit(path, fields).status == 403)

    let made = await admin.submit(path, fields).text
    let secret = try Self.find(/<code>(brlk[0-9A-Za-z]{20})<\/code>/, in: made)
    #expect(made.contains("&lt;shop&gt;") && made.contains(app.key.text))
    let key = try #require(app.credential(Array(secret.utf8))?.key)
    #expect(key.grant.rights == [APIRights(.push), APIRights(.reports)])
    #expect(key.grant.networks?.map(\.text) == ["10.0.0.0/8", "::1/128"])
    #expect(key.grant.expiresAt == ManualClock().now().adding(seconds: 365 * 86_400))
    var list = await admin.open(path).text
    #expect(list.contains("&lt;shop&gt;") && list.contains("…\(secret.suffix(4))") && !list.contains(secret))
    #expect(list.contains(">never</span>") && list.contains("::1/128"))
    _ = app.credential(Array(secret.utf8), at: ManualClock().now())
    list = await admin.open(path).text
    #expect(!list.contains(">never</span>"))

    #expect(await sender.submit("\(path)/\(key.id)/revoke").status == 403)
    #expect(await admin.submit("\(path)/\(key.id)/revoke").text.contains("The key is revoked."))
    #expect(app.credential(Array(secret.utf8)) == nil)
    #expect(await admin.open(path).text.contains("No keys yet."))
    #expect(await admin.submit("\(path)/\(key.id)/revoke").status == 404)
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    #expect(audit.contains("created an API key") && audit.contains("revoked an API key"))
    #expect(audit.contains("&lt;shop&gt;: push, reports") && !audit.contains(secret))
  }

  @Test(
    arguments: [
      (["name": "", "right-push": "1"], "1 to 100 bytes"), (["name": "x"], "Select at least one right."),
      (["name": "x", "right-push": "1", "networks": "10.0.0.1/8"], "10.0.0.1/8"),
    ] as [([String: String], String)])
  func `A form with a mistake keeps what was typed`(fields: [String: String], problem: String) async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings/keys"
    _ = await admin.open(path)
    let answer = await admin.submit(path, fields)
    #expect(answer.status == 422 && answer.text.contains(problem), "\(answer.text)")
    #expect(answer.text.contains("value=\"\(fields["name"] ?? "")\""))
    #expect(answer.text.contains("name=\"right-push\" value=\"1\"") == true)
    #expect(app.keys.isEmpty)
  }

  @Test func `Keys of other apps are out of reach`() async throws {
    let world = try ConsoleWorld()
    let (one, two) = (try await Estate.make(world, "one"), try await Estate.make(world, "two"))
    let path = "/console/apps/\(one.app.key.text)/settings/keys/\(two.key)/revoke"
    _ = await one.owner.open("/console/")
    #expect(await one.owner.submit(path).status == 404)
    let app = two.app.id
    let keys = try await world.store.look { t throws(StorageError) in try t.apiKeys.all(app: app) }
    #expect(keys.map(\.revokedAt) == [nil])
  }

  // MARK: The log of requests

  private static func note(
    _ kind: APIRequestKind, _ status: Int, _ code: Int, from address: String, in world: ConsoleWorld,
    _ app: App, key: Int64? = nil, times: Int = 1
  ) {
    for _ in 0..<times {
      world.router.requestLog.note(
        APICall(
          kind: kind, method: "POST", route: "/v3/push", status: status, code: code,
          message: code == 0 ? "" : "<\(code)> happened", address: IPAddress(address), key: key), of: app)
    }
  }

  @Test func `Requests are filtered, and pages lead on`() async throws {
    let world = try ConsoleWorld()
    let estate = try await Estate.make(world, "one")
    let (app, owner) = (estate.app, estate.owner)
    let path = "/console/apps/\(app.key.text)/settings/requests"
    #expect(await owner.open(path).text.contains("No calls in the last seven days."))
    Self.note(.successful, 200, 0, from: "192.0.2.1", in: world, app, key: estate.key, times: 1234)
    Self.note(.refused, 400, 1003, from: "192.0.2.2", in: world, app)
    Self.note(.unauthenticated, 401, 1004, from: "2001:db8::1", in: world, app)
    Self.note(.refused, 503, 1030, from: "192.0.2.2", in: world, app)
    let all = await owner.open(path).text
    for part in [
      "1,234", "400 · 1003", "&lt;1003&gt; happened", "192.0.2.2", "2001:db8::1", "401 · 1004",
      "no valid secret",
      "503 · 1030", "POST /v3/push", ">estate key<",
    ] { #expect(all.contains(part), "\(part)") }
    for (query, seen, hidden) in [
      ("result=successful", "1,234", "1003"), ("result=refused", "1003", "1,234"),
      ("result=failed", "1030", "1003"), ("result=unauthenticated", "1004", "1003"),
      ("code=1003", "1003", "1004"),
      ("address=2001:", "1004", "1003"), ("key=\(estate.key)", "1,234", "1003"), ("key=0", "1003", "1004"),
      ("code=nonsense", "No call matches.", "happened"),
      ("code=1003&result=successful", "No call matches.", "1003&gt;"),
    ] {
      let text = await owner.open("\(path)?\(query)").text
      let list = text[(text.firstRange(of: "<section class=\"card\">")?.lowerBound ?? text.startIndex)...]
      #expect(list.contains(seen) && !list.contains(hidden), "\(query)")
    }
    for index in 0..<60 { Self.note(.refused, 400, 2000 + index, from: "192.0.2.3", in: world, app) }
    let first = await owner.open("\(path)?address=192.0.2.3").text
    let next = try Self.find(/href="([^"]*before=[^"]*)" rel="next"/, in: first).replacing("&amp;", with: "&")
    let second = await owner.open(next).text
    let codes = (first + second).matches(of: /400 · (2\d\d\d)/).compactMap { Int($0.output.1) }
    #expect(Set(codes).count == 60 && codes.count == 60)
    #expect(!second.contains("rel=\"next\"") && second.contains("address=192.0.2.3\">Newest"))
    let sender = try await world.member(.sender, of: estate.account, name: "sam")
    #expect(await sender.open(path).status == 403)
  }
}
