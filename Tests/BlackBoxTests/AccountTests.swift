import BorealisBase
import PushTesting
import Testing

/// What the operator changes about accounts, plans and apps beside a running server.
@Suite struct AccountTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  private func run(_ arguments: String...) throws -> JSONValue {
    let ending = try RunningProgram.run(arguments + ["--data", data])
    guard ending.status == 0, let document = ending.documents.first ?? nil else {
      throw RunningProgram.Failure(description: ending.errors)
    }
    return document
  }

  private func failure(_ arguments: String...) throws -> String {
    try RunningProgram.run(arguments + ["--data", data]).errors
  }

  @Test func `A server follows changes of plans, networks, secrets and accounts`() throws {
    let server = try TestServer(data: data)
    let account = try run("account", "create", "team", "--plan", "free")
    let developer = try #require(account["dev_key"]?.string)
    let made = try run("app", "create", "blue", "--account", developer)
    let key = try #require(made["app_key"]?.string)
    let app = (key: key, secret: try #require(made["master_secret"]?.string))
    let first = try server.call("GET", "/v3/push/cid", as: app)
    let quota = "x-rate-limit-quota: 600"
    #expect(first.head.lowercased().contains(quota) && !first.head.contains(quota + "0"))

    _ = try run("plan", "set", "tiny", "--push-calls", "1000000", "--broadcasts", "0")
    _ = try run("app", "plan", key, "tiny")
    func answers(_ text: String, as app: TestServer.App = app) throws -> Bool {
      try RunningProgram.eventually {
        let call = try server.call("GET", "/v3/push/cid", as: app)
        return "\(call.head)\(call.body)".lowercased().contains(text)
      }
    }
    #expect(try answers("x-rate-limit-quota: 1000000"))
    let rotated = try run("app", "rotate", key)
    let newer = (key: key, secret: try #require(rotated["master_secret"]?.string))
    #expect(try answers("cidlist", as: newer))
    #expect(try server.call("GET", "/v3/push/cid", as: app).status == 200)
    _ = try run("app", "retire", key)
    #expect(try answers("1004"))
    _ = try run("app", "allow", key, "192.0.2.0/24,2001:db8::/32")
    #expect(try answers("2004", as: newer))
    _ = try run("app", "allow", key, "127.0.0.0/8")
    #expect(try answers("cidlist", as: newer))
    _ = try run("account", "disable", developer)
    #expect(try answers("2003", as: newer))
    _ = try run("account", "enable", developer)
    #expect(try answers("cidlist", as: newer))
    _ = try run("app", "delete", key)
    #expect(try answers("1004", as: newer))
    server.program.signal(15)
    #expect(try server.program.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
  }

  @Test func `Lists tell everything but secrets`() throws {
    try TestServer.initialize(data: data)
    let account = try run("account", "create", "team", "--plan", "free")
    let developer = try #require(account["dev_key"]?.string)
    let secret = try #require(account["dev_secret"]?.string)
    let app = try run("app", "create", "blue", "--account", developer)
    let key = try #require(app["app_key"]?.string)
    _ = try run("app", "allow", key, "10.0.0.0/8")
    let apps = try run("app", "list")
    #expect(
      apps["account"]?.string == developer && apps["plan"] == "free" && apps["allowed"] == ["10.0.0.0/8"])
    let accounts = try RunningProgram.run(["account", "list", "--data", data])
    #expect(accounts.documents.map { $0?["name"]?.string } == ["default", "team"])
    #expect(accounts.documents.map { $0?["apps"] } == [0, 1])
    let plans = try RunningProgram.run(["plan", "list", "--data", data])
    #expect(plans.documents.map { $0?["name"]?.string } == ["free", "paid", "unlimited"])
    #expect(plans.documents.first??["broadcasts"] == 10)
    #expect(
      !accounts.output.contains(secret) && !TemporaryFolder.read(data + "/borealis.sqlite").contains(secret))
    let rotated = try run("account", "rotate", developer)
    #expect(rotated["dev_secret"]?.string.map { $0 != secret } == true)
  }

  @Test func `What is not there is named`() throws {
    try TestServer.initialize(data: data)
    let developer = try #require(try run("account", "create", "team")["dev_key"]?.string)
    let key = try #require(try run("app", "create", "a")["app_key"]?.string)
    let other = String(developer.reversed())
    #expect(try failure("account", "create", "b", "--plan", "none").hasSuffix("there is no plan \"none\"\n"))
    #expect(
      try failure("app", "create", "b", "--account", other).hasSuffix(
        "no account has the developer key \(other)\n"))
    #expect(try failure("app", "plan", key, "none").hasSuffix("there is no plan \"none\"\n"))
    #expect(try failure("account", "disable", other).hasSuffix("no account has the developer key \(other)\n"))
    #expect(try failure("app", "delete", String(key.reversed())).contains("no app has the key"))
    #expect(try run("plan", "set", "free", "--broadcasts", "none")["broadcasts"] == .null)
    #expect(try run("plan", "set", "free", "--speed", "5")["broadcasts"] == .null)
  }
}
