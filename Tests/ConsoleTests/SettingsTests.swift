import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

@Suite struct SettingsTests {
  @Test func `An app is renamed, limited to networks, and deleted by its owner`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let (owner, admin) = (
      try await world.member(.owner, of: account, name: "olga"),
      try await world.member(.admin, of: account, name: "ada")
    )
    let path = "/console/apps/\(app.key.text)/settings"
    _ = await admin.open(path)
    _ = await owner.open(path)
    #expect(await admin.submit("\(path)/rename", ["name": ""]).status == 422)
    #expect(await admin.submit("\(path)/rename", ["name": "Aurora"]).text.contains("Saved."))
    #expect(app.name == "Aurora")
    for (text, status) in [("10.0.0.0/8\n2001:db8::/32", 200), ("10.0.0.0/33", 422), ("nonsense", 422)] {
      #expect(await admin.submit("\(path)/limits/networks", ["networks": text]).status == status, "\(text)")
    }
    #expect(app.allows(IPAddress("10.1.2.3")) && !app.allows(IPAddress("192.0.2.1")))
    #expect(await admin.open("\(path)/limits").text.contains("2001:db8::/32"))
    #expect(await admin.submit("\(path)/limits/networks", ["networks": " "]).status == 200)
    #expect(app.allows(IPAddress("192.0.2.1")))
    #expect(await admin.submit("\(path)/delete", ["confirmation": "Aurora"]).status == 403)
    #expect(await owner.submit("\(path)/delete", ["confirmation": "aurora"]).status == 422)
    #expect(
      await owner.submit("\(path)/delete", ["confirmation": "Aurora"]).text.contains("Create your first app"))
    #expect(await owner.open(path).status == 404)
    let audit = await owner.open("/console/accounts/\(account.rawValue)/audit").text
    for action in ["app.rename", "app.networks", "app.delete"] { #expect(audit.contains(action)) }
  }

  @Test func `Contents are not said to be sealed without a key to seal with`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let sender = try await world.member(.sender, of: account, name: "sam")
    let path = "/console/apps/\(app.key.text)/settings"
    let page = await admin.open(path).text
    #expect(page.contains("Turn on encryption at rest") && !page.contains("Turn off encryption at rest"))
    _ = await sender.open("/console/")
    #expect(await sender.submit("\(path)/seal", ["seal": "on"]).status == 403)
    #expect(await admin.submit("\(path)/seal", ["seal": "perhaps"]).status == 404)
    // The world has no secret key.
    let refused = await admin.submit("\(path)/seal", ["seal": "on"])
    #expect(refused.status == 500 && refused.text.contains("cannot read the key"))
    #expect(await admin.open(path).text.contains("Turn on encryption at rest"))
    #expect(await admin.submit("\(path)/seal", ["seal": "off"]).text.contains("Saved."))
    #expect(try await world.store.look { t throws(StorageError) in try t.sealing.apps() }.isEmpty)
  }

  @Test func `Only an operator changes a plan`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let app = try await world.app(of: .standard)
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings/limits"
    #expect(await !admin.open(path).text.contains("<select id=\"plan\""))
    #expect(await boss.open(path).text.contains("<select id=\"plan\""))
    #expect(await admin.submit("\(path)/plan", ["plan": "free"]).status == 404)
    #expect(await boss.submit("\(path)/plan", ["plan": "gold"]).status == 404)
    #expect(app.plan.name == PlanRow.unlimited)
    let changed = await boss.submit("\(path)/plan", ["plan": "free"]).text
    #expect(app.plan.name == "free" && changed.contains("600"))
  }

  @Test func `Notifications of a day are limited by class`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings/limits"
    _ = await admin.open(path)
    for (normal, marketing) in [("", "1"), ("-1", "1"), ("3", "101"), ("3", "x")] {
      let answer = await admin.submit("\(path)/caps", ["normal": normal, "marketing": marketing])
      #expect(answer.status == 422 && answer.text.contains("from 0 to 100"), "\(normal) \(marketing)")
    }
    #expect(app.caps == CapsRow())
    let saved = await admin.submit("\(path)/caps", ["normal": "3", "marketing": "1"])
    #expect(saved.status == 200 && app.caps == CapsRow(normal: 3, marketing: 1))
    #expect(saved.text.contains(/name="normal" type="number" value="3"/))
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    #expect(audit.contains("changed how many notifications a device gets in a day"))
  }

  @Test func `Quiet hours are set, changed and removed`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings/limits"
    _ = await admin.open(path)
    for (from, until) in [("22:00", ""), ("", "08:00"), ("22:00", "22:00"), ("24:00", "08:00"), ("10", "11")]
    {
      let answer = await admin.submit(
        "\(path)/quiet-hours", ["from": from, "until": until, "action": "hold"])
      #expect(answer.status == 422 && answer.text.contains("two different times"), "\(from) \(until)")
    }
    #expect(app.quietHours == nil)
    let saved = await admin.submit(
      "\(path)/quiet-hours", ["from": "22:00", "until": "08:30", "action": "drop"])
    #expect(saved.status == 200 && app.quietHours == QuietHours(from: 1320, until: 510, .drop))
    #expect(saved.text.contains(/name="until" type="time" value="08:30"/))
    let none = await admin.submit("\(path)/quiet-hours", ["from": "", "until": "", "action": "hold"])
    #expect(none.status == 200 && app.quietHours == nil)
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    #expect(audit.contains("changed the quiet hours") && audit.contains("22:00 to 08:30, drop"))
  }

  @Test func `Callbacks are set up, the secret is shown once, and they are turned off`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings/callbacks"
    _ = await admin.open(path)
    #expect(await admin.submit(path, ["url": "ftp://x"]).status == 422)
    let set = await admin.submit(path, ["url": "https://a.example/hook", "type-1": "1", "type-32": "1"]).text
    #expect(set.contains("whsec_"))
    let shown = await admin.open(path).text
    #expect(!shown.contains("whsec_") && shown.contains("https://a.example/hook"))
    #expect(shown.contains("name=\"type-1\" value=\"1\" checked"))
    #expect(!shown.contains("name=\"type-2\" value=\"1\" checked"))
    #expect(await admin.submit("\(path)/secret").text.contains("whsec_"))
    #expect(await admin.submit("\(path)/99/resend").status == 404)
    #expect(await admin.submit("\(path)/off").text.contains("Callbacks are off."))
    #expect(await !admin.open(path).text.contains("https://a.example/hook"))
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    for action in ["callback.set", "callback.rotate", "callback.remove"] { #expect(audit.contains(action)) }
  }

  @Test func `Getui's API gets a master secret, which receipts in its format need`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings"
    let form = ["url": "https://a.example/hook", "type-1": "1", "type-8": "1", "format": "getui"]
    _ = await admin.open(path)
    let early = await admin.submit("\(path)/callbacks", form)
    #expect(early.status == 422 && early.text.contains("its master secret signs the receipts"))
    let made = await admin.submit("\(path)/getui").text
    #expect(made.contains("<dt>masterSecret</dt>") && made.contains(app.key.text))
    let shown = await admin.open(path).text
    let secret = try #require(made.split(separator: "<code>").last?.prefix(24))
    #expect(!shown.contains(secret) && shown.contains("Shown only when it was created"))
    #expect(shown.contains("/v2</code>") && shown.contains("Any address"))
    _ = await admin.open("\(path)/limits")
    _ = await admin.submit("\(path)/limits/networks", ["networks": "192.0.2.0/24"])
    #expect(await admin.open(path).text.contains("<code>192.0.2.0/24</code>"))
    _ = await admin.open("\(path)/callbacks")
    #expect(await admin.submit("\(path)/callbacks", form).status == 200)
    let callbacks = await admin.open("\(path)/callbacks").text
    #expect(callbacks.contains("value=\"getui\" checked"))
    #expect(callbacks.contains("name=\"type-1\" value=\"1\" checked"))
    #expect(!callbacks.contains("name=\"type-8\" value=\"1\" checked"))
    #expect(await admin.submit("\(path)/getui/off").text.contains("Saved."))
    #expect(await admin.open(path).text.contains("Create a master secret"))
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    for action in ["getui.secret", "getui.remove"] { #expect(audit.contains(action)) }
  }

  @Test func `A group has only its account's apps`() async throws {
    let world = try ConsoleWorld()
    let (mine, theirs) = (try await world.account("mine"), try await world.account("theirs"))
    let (one, two) = (try await world.app(of: mine), try await world.app(of: mine))
    let foreign = try await world.app(of: theirs)
    let admin = try await world.member(.admin, of: mine, name: "ada")
    let path = "/console/accounts/\(mine.rawValue)/groups"
    _ = await admin.open(path)
    let made = await admin.submit(
      "\(path)/new", all: [("name", "All"), ("app", one.key.text), ("app", foreign.key.text)])
    #expect(made.text.contains("Group master secret"))
    func group() async throws -> AppGroupRow {
      try #require(
        try await world.store.change { transaction throws(StorageError) in try transaction.appGroups.all()
        }
        .first)
    }
    var row = try await group()
    #expect(row.apps == [one.key] && row.account == mine)
    let own = "\(path)/\(row.key.text)"
    #expect(await admin.submit("\(own)/apps", ["app": two.key.text]).text.contains("Saved."))
    #expect(try await group().apps == [two.key])
    #expect(await admin.submit("\(own)/rotate").text.contains("Group master secret"))
    let hash = row.secretHash
    row = try await group()
    #expect(row.secretHash != hash)
    #expect(await admin.submit("\(own)/delete").text.contains("No groups yet."))
  }

  @Test func `The page of all groups has no box for each app of each group`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("mine")
    let apps = (try await world.app(of: account), try await world.app(of: account))
    let admin = try await world.member(.admin, of: account, name: "ada")
    let keys = (0..<100).map { _ in AppKey.random() }
    _ = try await world.store.change { transaction throws(StorageError) in
      for (number, key) in keys.enumerated() {
        let id = try transaction.appGroups.create(
          key: key, name: "group \(number)", secretHash: SHA256.digest([1]), account: account,
          at: Timestamp(milliseconds: 0))
        _ = try transaction.appGroups.addApp(apps.0.key, toGroup: id)
      }
    }
    let path = "/console/accounts/\(account.rawValue)/groups"
    let page = await admin.open(path).text
    #expect(keys.allSatisfy { page.contains("\(path)/\($0.text)\"") })
    #expect(page.split(separator: "name=\"app\"").count == 3)
    let group = await admin.open("\(path)/\(keys[7].text)").text
    #expect(group.split(separator: "name=\"app\"").count == 3)
    #expect(group.contains("value=\"\(apps.0.key.text)\" checked"))
    #expect(!group.contains("value=\"\(apps.1.key.text)\" checked"))
    // A page lists them all, so there are not more.
    let refused = await admin.submit("\(path)/new", ["name": "One more"])
    #expect(refused.status == 422 && refused.text.contains("The account already has 100 groups."))
    #expect(await admin.post("\(path)/\(keys[0].text)/delete").status == 303)
    #expect(await admin.submit("\(path)/new", ["name": "One more"]).text.contains("Group master secret"))
  }

  /// As many as an account may have; more fields than that are no form of ours.
  @Test func `A group takes hundreds of apps`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("mine")
    let keys = (0..<300).map { _ in AppKey.random() }
    _ = try await world.store.change { transaction throws(StorageError) in
      for key in keys {
        _ = try transaction.apps.create(
          NewApp(key: key, name: "an app", secretHash: SHA256.digest([1]), account: account),
          at: Timestamp(milliseconds: 0))
      }
    }
    let admin = try await world.member(.admin, of: account, name: "ada")
    let path = "/console/accounts/\(account.rawValue)/groups"
    _ = await admin.open(path)
    let fields = [("name", "All")] + keys.map { ("app", $0.text) }
    #expect(await admin.submit("\(path)/new", all: fields).text.contains("Group master secret"))
    let groups = try await world.store.change { transaction throws(StorageError) in
      try transaction.appGroups.all(of: account)
    }
    #expect(groups.map { Set($0.apps) } == [Set(keys)])
    let none = try await world.store.change { transaction throws(StorageError) in
      try transaction.appGroups.all(of: .standard)
    }
    #expect(none.isEmpty)
    let tooMany = Array(repeating: ("app", "x"), count: Apps.appsInAccount + 101)
    let refused = await admin.submit("\(path)/new", all: tooMany)
    #expect(refused.status == 400 && refused.text.contains("The server could not read the form."))
  }

  @Test func `An app with blanks in its name can be deleted`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.apps.rename(app: app.id, " Northern  Lights ")
    }
    while app.name != " Northern  Lights " { world.router.tick() }
    let path = "/console/apps/\(app.key.text)/settings"
    _ = await owner.open(path)
    #expect(await owner.submit("\(path)/delete", ["confirmation": "Northern"]).status == 422)
    #expect(await owner.post("\(path)/delete", ["confirmation": "Northern Lights"]).status == 303)
  }

  /// The operator's own groups may hold apps of others.
  @Test func `Groups of the operator are nobody's in the console`() async throws {
    let world = try ConsoleWorld()
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    let key = AppKey.random()
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.appGroups.create(
        key: key, name: "secretly", secretHash: SHA256.digest([1]), at: Timestamp(milliseconds: 0))
    }
    #expect(await !admin.open("/console/accounts/1/groups").text.contains("secretly"))
    #expect(await admin.submit("/console/accounts/1/groups/\(key.text)/delete").status == 404)
  }
}
