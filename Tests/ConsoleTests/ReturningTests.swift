import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting
import Testing

@testable import Console
@testable import Storage

/// Coming back: to where one wanted to go, to what one has written.
@Suite struct ReturningTests {
  private static let login = ["email": "zoe@example.com", "password": ConsoleWorld.password]

  @Test func `Whoever logs in comes to where they wanted to go`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    _ = await owner.submit("/console/logout")
    let place = "/console/apps/\(app.key.text)/pushes?q=a%20b&state=open"
    let asked = await owner.call("GET", place)
    let address = try #require(asked.headers["location"])
    #expect(asked.status == 303 && address.hasPrefix("/console/login?next="))
    let page = await owner.open(address).text
    #expect(page.contains("Log in to continue."))
    #expect(page.contains("name=\"next\" value=\"\(HTML.escape(place))\""))
    // A wrong password and another language change nothing about it.
    #expect(page.contains("?lang=zh&amp;next=%2f") || page.contains("?lang=zh&next=%2f"))
    var fields = Self.login.merging(["next": place, "password": "wrong"]) { $1 }
    #expect(
      await owner.submit("/console/login", fields).text.contains(
        "name=\"next\" value=\"\(HTML.escape(place))\""))
    fields["password"] = ConsoleWorld.password
    #expect(await owner.post("/console/login", fields).headers["location"] == place)
  }

  @Test(arguments: [
    "https://evil.example/", "//evil.example/console/", "/console/../../evil", "/console.evil.example/",
    "/consolex",
    "/console/login", "/console/login?next=/console/me", "/console/nowhere", "\\\\evil.example",
    "/console/me\r\nx: y",
    "javascript:alert(1)", "", "/console/assets/0/console.css", "/v3/push",
  ])
  func `Nobody is sent anywhere else`(place: String) async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.submit("/console/logout")
    let fields = Self.login.merging(["next": place]) { $1 }
    #expect(await owner.post("/console/login", fields).headers["location"] == "/console/")
    #expect(
      await owner.call("GET", "/console/login?next=\(AddressText.encode(place))").headers["location"]
        == "/console/")
  }

  @Test func `A script is told, and the way out is no way in`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let browser = Browser(world)
    #expect(await browser.call("GET", "/console/me", headers: [("accept", "application/json")]).status == 401)
    #expect(await browser.call("POST", "/console/logout").headers["location"] == "/console/login")
    #expect(await browser.call("GET", "/console/").headers["location"] == "/console/login")
    let form = await browser.call(
      "POST", "/console/me/profile", body: "name=x",
      headers: [("referer", "http://console.example/console/me?x=1")])
    #expect(form.headers["location"] == "/console/login?next=%2fconsole%2fme%3fx%3d1%26notice%3dunsent")
    let foreign = await browser.call(
      "POST", "/console/me/profile", body: "name=x",
      headers: [("referer", "http://evil.example/console/me?x=1")])
    #expect(foreign.headers["location"] == "/console/login?next=%2fconsole%2fme%3fnotice%3dunsent")
  }

  // MARK: A push that is being written

  private struct Scene {
    let world: ConsoleWorld
    let owner: Browser
    let app: App
    let device: RegistrationID
    var path: String { "/console/apps/\(app.key.text)/push" }

    init() async throws {
      world = try ConsoleWorld()
      owner = try await world.owner()
      app = try await world.app(of: .standard)
      device = try await world.device(in: app)
      _ = await owner.open("/console/")
    }

    func fields(_ more: [String: String] = [:]) -> [String: String] {
      [
        "kind": "message", "android": "1", "audience": "registration", "names": device.text,
        "title": "A \"title\"",
        "text": "Two\nlines", "hours": "7", "extra_name_0": "page", "extra_value_0": "/cart",
      ].merging(more) { $1 }
    }

    func isWhole(_ form: String) -> Bool {
      [
        "value=\"A &quot;title&quot;\"", ">Two\nlines</textarea>", "value=\"7\"", "value=\"message\" checked",
        "value=\"\(device.text)\"", "value=\"/cart\"", "name=\"android\" value=\"1\" checked",
      ].allSatisfy { form.contains($0) } && !form.contains("name=\"ios\" value=\"1\" checked")
    }
  }

  private func field(_ name: String, in page: String) throws -> String {
    let start = try #require(page.firstRange(of: "name=\"\(name)\" value=\""))
    return String(page[start.upperBound...].prefix { $0 != "\"" })
      .replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
  }

  @Test func `Back finds the form as it was, and no page asks to send anything again`() async throws {
    let scene = try await Scene()
    let start = await scene.owner.call("GET", "\(scene.path)?registration_id=\(scene.device.text)")
    let form = try #require(start.headers["location"])
    #expect(await scene.owner.open(form).text.contains("value=\"\(scene.device.text)\""))
    let draft = try field("draft", in: await scene.owner.open(form).text)
    // Every step is a redirect to a page that a browser can come back to.
    let asked = await scene.owner.post("\(scene.path)/confirm", scene.fields(["draft": draft]))
    #expect(asked.status == 303 && asked.headers["location"] == "\(scene.path)/confirm?draft=\(draft)")
    let question = try #require(asked.headers["location"])
    let page = await scene.owner.open(question).text
    #expect(scene.isWhole(await scene.owner.open("\(scene.path)?draft=\(draft)").text))
    #expect(scene.isWhole(await scene.owner.open(form).text))
    let sent = await scene.owner.post(
      scene.path, ["body": try field("body", in: page), "cid": try field("cid", in: page), "draft": draft])
    let push = try #require(sent.headers["location"])
    #expect(sent.status == 303 && push.contains("/pushes/"))
    let back = await scene.owner.open(question)
    #expect(back.status == 200 && back.text.contains("Already sent") && back.text.contains(push))
    #expect(!back.text.contains("Send now"))
    #expect(scene.isWhole(await scene.owner.open(form).text))
  }

  @Test func `What is wrong is shown by a page of its own`() async throws {
    let scene = try await Scene()
    let draft = PushDrafts.newID()
    let answer = await scene.owner.post(
      "\(scene.path)/confirm", scene.fields(["names": "?", "draft": draft]))
    #expect(answer.status == 303 && answer.headers["location"] == "\(scene.path)?draft=\(draft)")
    let page = await scene.owner.open("\(scene.path)?draft=\(draft)")
    #expect(page.status == 422 && page.text.contains("Enter valid registration IDs"))
    // There is nothing to be asked about yet.
    #expect(
      await scene.owner.call("GET", "\(scene.path)/confirm?draft=\(draft)").headers["location"]
        == "\(scene.path)?draft=\(draft)")
  }

  @Test(arguments: ["x%0d%0aset-cookie:%20a=b", "%22", "", "zz"])
  func `What is no draft's number goes nowhere`(number: String) async throws {
    let scene = try await Scene()
    let answer = await scene.owner.call("GET", "\(scene.path)/confirm?draft=\(number)")
    #expect(answer.status == 303 && answer.headers["location"] == scene.path)
  }

  @Test func `A draft is its writer's, in its app`() async throws {
    let scene = try await Scene()
    let draft = PushDrafts.newID()
    _ = await scene.owner.post("\(scene.path)/confirm", scene.fields(["draft": draft]))
    let other = try await scene.world.member(.sender, of: .standard, name: "sam")
    #expect(await !other.open("\(scene.path)?draft=\(draft)").text.contains("Two\nlines"))
    #expect(await !other.open("\(scene.path)/confirm?draft=\(draft)").text.contains("Two\nlines"))
    _ = await other.post("\(scene.path)/confirm", scene.fields(["draft": draft, "text": "Other"]))
    #expect(scene.isWhole(await scene.owner.open("\(scene.path)?draft=\(draft)").text))
    let app = try await scene.world.app(of: .standard)
    #expect(
      await !scene.owner.open("/console/apps/\(app.key.text)/push?draft=\(draft)").text.contains("Two\nlines")
    )
  }

  @Test func `What was written when the session ended is there after logging in`() async throws {
    let scene = try await Scene()
    let draft = PushDrafts.newID()
    try await scene.world.store.change { t throws(StorageError) in
      try t.database.run("DELETE FROM console_session")
    }
    let answer = await scene.owner.post("\(scene.path)/confirm", scene.fields(["draft": draft]))
    let address = try #require(answer.headers["location"])
    #expect(address == "/console/login?next=\(AddressText.encode("\(scene.path)?draft=\(draft)"))")
    // Somebody else in front of the same browser does not get it.
    let other = try await scene.world.member(.sender, of: .standard, name: "sam")
    #expect(await !other.open("\(scene.path)?draft=\(draft)").text.contains("Two\nlines"))
    let page = await scene.owner.submit(
      "/console/login", Self.login.merging(["next": "\(scene.path)?draft=\(draft)"]) { $1 })
    #expect(page.text.contains("You were logged out before this push was sent.") && scene.isWhole(page.text))
    let pushes = try await scene.world.store.look { t throws(StorageError) in
      try t.pushes.history(of: scene.app.id, limit: 9, looks: 9).pushes.count
    }
    #expect(pushes == 0)
  }

  @Test func `What comes with an invented cookie is not kept`() async throws {
    let scene = try await Scene()
    let (number, cookie) = (PushDrafts.newID(), try #require(scene.owner.cookie(PageCall.browserCookie)))
    let fields = scene.fields(["draft": number])
    let parts = cookie.split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let name = PushDrafts.newID()
    let invented = [
      "\(name).\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[2]).\(parts[1])", "\(parts[0]).\(parts[1])",
      "\(name).\(parts[1])", name, "", "..",
    ]
    for cookie in invented {
      let browser = Browser(scene.world, cookies: [PageCall.browserCookie: cookie])
      let answer = await browser.post("\(scene.path)/confirm", fields)
      #expect(answer.status == 303 && answer.headers["location"]?.contains("draft") == false, "\(cookie)")
    }
    #expect(scene.world.console.drafts.held.draft(number) == nil)
    let own = Browser(scene.world, cookies: [PageCall.browserCookie: cookie])
    #expect(await own.post("\(scene.path)/confirm", fields).headers["location"]?.contains(number) == true)
  }

  @Test func `A cookie of before there were seals still shows a known browser`() throws {
    let signer = BrowserSigner(key: Array(0..<32))
    let cookie = signer.cookie(for: "zoe@example.com")
    let old = cookie.split(separator: ".").prefix(2).joined(separator: ".")
    #expect(signer.name(in: old, for: "zoe@example.com") == signer.name(in: cookie, for: "zoe@example.com"))
    #expect(signer.name(in: cookie, for: "zoe@example.com") != nil)
    #expect(signer.name(in: cookie, for: "ida@example.com") == nil && !signer.isOurs(old))
    #expect(signer.name(in: cookie + "0", for: "zoe@example.com") == nil && !signer.isOurs(cookie + "0"))
  }

  @Test func `What other sites send is not kept`() async throws {
    let scene = try await Scene()
    try await scene.world.store.change { t throws(StorageError) in
      try t.database.run("DELETE FROM console_session")
    }
    let body = "kind=message&android=1&audience=everybody&text=Evil&hours=1"
    for headers in [[("sec-fetch-site", "cross-site")], [("origin", "https://evil.example")], []] {
      let answer = await scene.owner.call("POST", "\(scene.path)/confirm", body: body, headers: headers)
      #expect(answer.headers["location"]?.contains("draft") != true, "\(headers)")
    }
  }

  @Test func `Nothing is kept for an app that is not there`() async throws {
    let scene = try await Scene()
    try await scene.world.store.change { t throws(StorageError) in
      try t.database.run("DELETE FROM console_session")
    }
    let path = "/console/apps/\(AppKey.random().text)/push/confirm"
    let answer = await scene.owner.post(path, scene.fields(["draft": PushDrafts.newID()]))
    #expect(answer.status == 303 && answer.headers["location"]?.contains("draft") == false)
  }

  @Test func `Drafts are bounded in number and size`() throws {
    let drafts = PushDrafts(mostDrafts: 3, mostBytes: 5000, ownDrafts: 3, ownBytes: 5000)
    func draft(_ text: String) throws -> PushDrafts.Draft {
      var form = PushForm()
      form.text = text
      return PushDrafts.Draft(owner: .person(PersonID(1)), app: .random(), form: form)
    }
    let ids = (0..<5).map { _ in PushDrafts.newID() }
    for id in ids.prefix(4) { drafts.save(try draft("x"), id) }
    #expect(ids.map { drafts.draft($0) != nil } == [false, true, true, true, false])
    // Written anew it is the newest.
    drafts.save(try draft("y"), ids[1])
    drafts.save(try draft(String(repeating: "z", count: 4500)), ids[4])
    #expect(ids.map { drafts.draft($0) != nil } == [false, false, false, false, true])
    drafts.save(try draft(String(repeating: "z", count: 6000)), ids[0])
    #expect(drafts.draft(ids[0]) == nil)
  }

  @Test func `Nobody takes the room of others' drafts`() throws {
    let drafts = PushDrafts(mostDrafts: 9, mostBytes: 50_000, ownDrafts: 2, ownBytes: 5000)
    func save(_ person: Int64, _ text: String) -> String {
      var form = PushForm()
      form.text = text
      let id = PushDrafts.newID()
      drafts.save(PushDrafts.Draft(owner: .person(PersonID(person)), app: .random(), form: form), id)
      return id
    }
    let other = save(2, "x")
    let many = (0..<20).map { _ in save(1, "x") }
    #expect(drafts.draft(other) != nil)
    #expect(many.map { drafts.draft($0) != nil } == Array(repeating: false, count: 18) + [true, true])
    let large = save(1, String(repeating: "z", count: 4500))
    #expect(drafts.draft(large) != nil && drafts.draft(many[19]) == nil && drafts.draft(other) != nil)
  }

  @Test func `A draft that is gone is told`() async throws {
    let scene = try await Scene()
    let page = await scene.owner.open("\(scene.path)/confirm?draft=\(PushDrafts.newID())")
    #expect(page.text.contains("This draft is no longer available. Create it again."))
  }
}
