import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Forms that count once, and addresses that only forms have.
@Suite struct FormNonceTests {
  /// The number of the first form behind a mark.
  private func number(in page: String, behind mark: String) throws -> String {
    let start = try #require(page.firstRange(of: mark)).upperBound
    let field = try #require(page[start...].firstRange(of: "name=\"once\" value=\""))
    return String(page[field.upperBound...].prefix { $0 != "\"" })
  }

  private func secret(in page: String) throws -> [UInt8] {
    let start = try #require(page.firstRange(of: "<dt>Master secret</dt><dd><code>")).upperBound
    return Array(page[start...].prefix { $0 != "<" }.utf8)
  }

  @Test func `A reload of the page that shows a new secret leaves all secrets as they are`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings"
    let original = Array("secret".utf8)
    let form = ["once": try number(in: await admin.open(path).text, behind: "/rotate\"")]
    let first = try secret(in: await admin.submit("\(path)/rotate", form).text)
    let again = await admin.post("\(path)/rotate", form)
    #expect(again.status == 303 && again.headers["location"] == "\(path)?notice=again")
    #expect(await admin.submit("\(path)/rotate", form).text.contains("This form was already submitted"))
    #expect(await !admin.open("\(path)?notice=again").text.contains("This form was already submitted"))
    #expect(app.accepts(masterSecret: original) && app.accepts(masterSecret: first))
    // A script, or a page of before, has no number.
    #expect(await admin.submit("\(path)/rotate").status == 422)
    #expect(app.accepts(masterSecret: original) && app.accepts(masterSecret: first))

    let second = try secret(in: await admin.submit("\(path)/rotate", ["again": "1"]).text)
    #expect(app.accepts(masterSecret: original) && app.accepts(masterSecret: second))
    #expect(!app.accepts(masterSecret: first))
    #expect(await admin.submit("\(path)/retire").text.contains("The old secret no longer works."))
    #expect(!app.accepts(masterSecret: original) && app.accepts(masterSecret: second))
    let none = await admin.submit("\(path)/retire")
    #expect(none.status == 422 && none.text.contains("There is no old secret."))
    #expect(await admin.submit("\(path)/rotate", ["again": "1"]).status == 422)
    let audit = await admin.open("/console/accounts/1/audit").text
    #expect(audit.split(separator: "title=\"app.retire\"").count == 2)
  }

  @Test func `While two secrets are good the page says since when, and whether the old one is used`()
    async throws
  {
    let clock = ManualClock()
    let world = try ConsoleWorld(time: clock)
    let app = try await world.app(of: .standard)
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings"
    #expect(await !admin.open(path).text.contains("/retire"))
    _ = await admin.submit("\(path)/rotate")
    let since = Log.iso8601(clock.now().milliseconds)
    clock.advance(seconds: 60)
    var page = await admin.open(path).text
    #expect(page.contains("/retire") && page.contains(since) && page.contains("not since the server started"))
    _ = app.accepts(masterSecret: Array("secret".utf8), at: clock.now())
    page = await admin.open(path).text
    #expect(page.contains(Log.iso8601(clock.now().milliseconds)))
  }

  @Test func `A second click makes nothing twice`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let base = "/console/accounts/1"
    for (page, mark, target, fields, place) in [
      ("\(base)/apps/new", "<h1>Create app", "\(base)/apps/new", ["name": "Shop"], "/console"),
      ("\(base)/groups", "/groups/new\"", "\(base)/groups/new", ["name": "All"], "\(base)/groups"),
      (
        "\(base)/people", "/people/invite\"", "\(base)/people/invite",
        ["email": "kim@example.com", "role": "viewer"], "\(base)/people"
      ),
    ] {
      var fields = fields
      fields["once"] = try number(in: await owner.open(page).text, behind: mark)
      #expect(await owner.post(target, fields).status == 200, "\(target)")
      let again = await owner.post(target, fields)
      #expect(again.status == 303 && again.headers["location"] == "\(place)?notice=again", "\(target)")
    }
    // Another invitation takes the place of the one that is open.
    let other = ["email": "Kim@example.com", "role": "sender"]
    #expect(await owner.submit("\(base)/people/invite", other).status == 200)
    let (apps, groups, invitations) = try await world.store.look { transaction throws(StorageError) in
      (
        try transaction.apps.all(in: .all).count, try transaction.appGroups.all().count,
        try transaction.invitations.all(to: .standard, at: Timestamp(milliseconds: 0)).count
      )
    }
    #expect((apps, groups, invitations) == (1, 1, 1))
  }

  @Test func `A refused form may be sent again, and one of another session does not count`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let path = "/console/accounts/1/apps/new"
    let number = try number(in: await owner.open(path).text, behind: "<h1>Create app")
    #expect(await owner.post(path, ["name": "", "once": number]).status == 422)
    #expect(await owner.post(path, ["name": "Shop", "once": number]).status == 200)
    let foreign = FormNonces.number(for: 999)
    for number in [foreign, "", "no number", String(repeating: "0", count: 48)] {
      let answer = await owner.post(path, ["name": "Shop", "once": number])
      #expect(answer.headers["location"] == "/console?notice=older", "\(number)")
    }
    #expect(try await world.store.look { t throws(StorageError) in try t.apps.all(in: .all).count } == 1)
  }

  @Test func `The numbers used last are remembered`() {
    let (forms, person) = (FormNonces(), PersonID(1))
    let numbers = (0...FormNonces.ownCapacity).map { _ in FormNonces.number(for: 1) }
    #expect(Set(numbers).count == numbers.count)
    for number in numbers { #expect(forms.use(number, [], of: 1, person) == .first) }
    #expect(forms.use(numbers[1], [], of: 1, person) == .again)
    // What was corrected counts.
    #expect(forms.use(numbers[2], [1], of: 1, person) == .first)
    #expect(forms.use(numbers[2], [1], of: 1, person) == .again)
    forms.release(numbers[2], [1], of: person)
    #expect(forms.use(numbers[2], [1], of: 1, person) == .first)
    // The first one made room for the last.
    #expect(forms.use(numbers[0], [], of: 1, person) == .first)
    #expect(forms.use(numbers[0], [], of: 2, person) == .unknown)
  }

  @Test func `Forms of others do not make a form be forgotten`() {
    let (forms, number) = (FormNonces(), FormNonces.number(for: 1))
    #expect(forms.use(number, [], of: 1, PersonID(1)) == .first)
    for person in 2...20 {
      for _ in 0..<FormNonces.ownCapacity {
        let other = FormNonces.number(for: Int64(person))
        #expect(forms.use(other, [], of: Int64(person), PersonID(Int64(person))) == .first)
      }
    }
    #expect(forms.use(number, [], of: 1, PersonID(1)) == .again)
  }

  /// As a restored tab or a bookmark has it.
  @Test func `An address that only a form has leads to its page`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let shown = Set(ConsoleRegistry.pages.filter { $0.method == "GET" }.map(\.pattern))
    for page in ConsoleRegistry.pages where page.method == "POST" && !shown.contains(page.pattern) {
      let path = page.pattern.split(separator: "/").map { segment in
        segment == "{app}" ? app.key.text : segment.first == "{" ? "1" : String(segment)
      }
      let answer = await owner.call("GET", "/\(path.joined(separator: "/"))?x=1")
      let place = answer.headers["location"] ?? ""
      #expect(answer.status == 303 && SiteMap.hasPage(place), "\(page.pattern): \(place)")
    }
    #expect(await owner.call("DELETE", "/console/logout").status == 405)
  }

  @Test func `Settings are shown by an address of their own after a change`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let path = "/console/apps/\(app.key.text)/settings"
    _ = await owner.open("\(path)/callbacks")
    _ = await owner.submit("\(path)/callbacks", ["url": "https://a.example/hook", "type-1": "1"])
    for (target, fields, place) in [
      ("\(path)/rename", ["name": "Shop"], "\(path)?notice=saved"),
      ("\(path)/limits/networks", ["networks": "10.0.0.0/8"], "\(path)/limits?notice=saved"),
      ("\(path)/limits/plan", ["plan": "free"], "\(path)/limits?notice=saved"),
      ("\(path)/limits/caps", ["normal": "3", "marketing": "1"], "\(path)/limits?notice=saved"),
      (
        "\(path)/limits/quiet-hours", ["from": "22:00", "until": "08:00", "action": "hold"],
        "\(path)/limits?notice=saved"
      ),
      ("\(path)/callbacks", ["url": "https://b.example/hook"], "\(path)/callbacks?notice=saved"),
      (
        "\(path)/callbacks", ["url": "http://169.254.169.254/x"], "\(path)/callbacks?notice=callbacks-private"
      ),
      ("\(path)/callbacks", ["url": "http://[::1]/x"], "\(path)/callbacks?notice=callbacks-private"),
      ("\(path)/callbacks", ["url": "http://localhost:9/x"], "\(path)/callbacks?notice=callbacks-private"),
      ("\(path)/callbacks/off", [:], "\(path)/callbacks?notice=callbacks-off"),
    ] {
      let answer = await owner.post(target, fields)
      #expect(answer.status == 303 && answer.headers["location"] == place, "\(target)")
    }
    #expect(await owner.open("\(path)/callbacks?notice=callbacks-off").text.contains("class=\"notice"))
    for message in FlashMessage.allCases {
      let (target, text) = ("\(path)?notice=\(message.rawValue)", HTML.escape(message.phrase.english))
      // An address that somebody else has made claims nothing that was not done.
      #expect(await owner.open(target).text.contains(text) == (message == .unsent), "\(message)")
      let other = FlashMessage.allCases.first { $0 != message } ?? .saved
      let wrong = await owner.call("GET", target, headers: [("cookie", "borealis_notice=\(other.rawValue)")])
      #expect(String(decoding: wrong.body, as: UTF8.self).contains(text) == (message == .unsent))
    }
    #expect(await !owner.open("\(path)?notice=nonsense").text.contains("class=\"notice"))
    // It is shown once.
    #expect(await owner.submit("\(path)/rename", ["name": "Shop"]).text.contains("class=\"notice"))
    #expect(await !owner.open("\(path)?notice=saved").text.contains("class=\"notice"))
  }

  @Test func `The callbacks' secret is replaced once while two of them sign`() async throws {
    let clock = ManualClock()
    let world = try ConsoleWorld(time: clock)
    let app = try await world.app(of: .standard)
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    let path = "/console/apps/\(app.key.text)/settings/callbacks"
    _ = await admin.open(path)
    _ = await admin.submit(path, ["url": "https://a.example/hook", "type-1": "1"])
    func row() async throws -> CallbackSettingRow {
      let row = try await world.store.look { t throws(StorageError) in try t.callbacks.setting(app: app.id) }
      return try #require(row)
    }
    let first = try await row().secret
    #expect(await admin.submit("\(path)/secret", ["again": "1"]).status == 422)
    #expect(await admin.submit("\(path)/secret").text.contains("whsec_"))
    let second = try await row().secret
    #expect(try await row().old?.secret == first)
    #expect(await admin.submit("\(path)/secret").status == 422)
    let page = await admin.open(path).text
    #expect(page.contains("New secret lost") && !page.contains("Create a new secret"))
    #expect(await admin.submit("\(path)/secret", ["again": "1"]).text.contains("whsec_"))
    #expect(try await row().old?.secret == first)
    #expect(try await row().secret != second)
    clock.advance(seconds: 86_401)
    #expect(await admin.submit("\(path)/secret").text.contains("whsec_"))
    #expect(try await row().old?.secret != first)
  }

  @Test func `An administrator deletes a device`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    let (sender, admin) = (
      try await world.member(.sender, of: .standard, name: "sam"),
      try await world.member(.admin, of: .standard, name: "ada")
    )
    let path = "/console/apps/\(app.key.text)/devices/\(device.text)"
    #expect(await !sender.open(path).text.contains("\(path)/delete"))
    #expect(await sender.submit("\(path)/delete").status == 403)
    #expect(await admin.open(path).text.contains("\(path)/delete"))
    #expect(app.directory.find(device) != nil)
    #expect(await admin.submit("\(path)/delete").text.contains("The device was deleted."))
    #expect(app.directory.find(device) == nil)
    #expect(await admin.submit("\(path)/delete").status == 404)
    #expect(await admin.open(path).text.contains("This registration was deleted"))
    #expect(await admin.open("/console/accounts/1/audit").text.contains("title=\"device.delete\""))
  }

  @Test func `A sender takes a device's alias away`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    let number = try #require(app.directory.find(device))
    try await awaitCallback { done in
      world.router.registrations.setAlias("team", of: number, in: app) {
        done($0.mapError { $0 })
      }
    }.get()
    let (viewer, sender) = (
      try await world.member(.viewer, of: .standard, name: "vic"),
      try await world.member(.sender, of: .standard, name: "sam")
    )
    let path = "/console/apps/\(app.key.text)/devices/\(device.text)"
    #expect(await !viewer.open(path).text.contains("/alias/remove"))
    #expect(await viewer.submit("\(path)/alias/remove").status == 403)
    #expect(await sender.open(path).text.contains("/alias/remove"))
    #expect(app.directory.registrations(alias: "team") == [number])
    #expect(await sender.open(path).text.contains(#"name="alias" value="team""#))
    // The page of another sender may be older.
    for alias in [["alias": "crew"], [:]] {
      #expect(await sender.submit("\(path)/alias/remove", alias).text.contains("no longer has that alias."))
    }
    #expect(app.directory.registrations(alias: "team") == [number])
    let answer = await sender.submit("\(path)/alias/remove", ["alias": "team"])
    #expect(answer.text.contains("alias was removed."))
    #expect(app.directory.registrations(alias: "team").isEmpty)
    #expect(await sender.submit("/console/apps/\(app.key.text)/devices/0/alias/remove").status == 404)
    let admin = try await world.member(.admin, of: .standard, name: "ada")
    #expect(await admin.open("/console/accounts/1/audit").text.contains("title=\"device.alias\""))
  }
}
