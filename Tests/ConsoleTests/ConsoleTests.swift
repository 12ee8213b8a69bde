import BorealisBase
import BorealisCrypto
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

@Suite struct ConsoleTests {
  // MARK: Login

  @Test func `The setup link makes the first person, once`() async throws {
    let world = try ConsoleWorld()
    let path = try #require(await world.setupPath())
    let browser = Browser(world)
    #expect(await browser.open(path).text.contains("Set up Borealis"))
    #expect(await browser.open("\(path)?lang=zh").text.contains("初始化"))
    let weak = await browser.submit(path, ["name": "Zoe", "email": "zoe@example.com", "password": "short"])
    #expect(weak.status == 422 && weak.text.contains("10 to 200 characters"))
    let fields = ["name": "Zoe", "email": "zoe@example.com", "password": ConsoleWorld.password]
    let home = await browser.submit(path, fields)
    #expect(home.status == 200 && home.text.contains("<h1>Apps</h1>") && home.text.contains("Zoe"))
    #expect(await browser.open(path).status == 404)
    #expect(await Browser(world).submit(path, fields).status == 404)
    #expect(await world.setupPath() == nil)
  }

  @Test func `Only the right password lets in, and logging out ends the session`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let browser = Browser(world)
    #expect(await browser.call("GET", "/console/").headers["location"] == "/console/login")
    for (email, password) in [
      ("zoe@example.com", "wrong"), ("nobody@example.com", ConsoleWorld.password), ("", ""),
    ] {
      let answer = await browser.submit("/console/login", ["email": email, "password": password])
      #expect(answer.status == 403 && answer.text.contains("The email address or the password is incorrect."))
    }
    let fields = ["email": "ZOE@example.com", "password": ConsoleWorld.password]
    #expect(await browser.submit("/console/login", fields).text.contains("<h1>Apps</h1>"))
    #expect(await browser.submit("/console/logout").status == 200)
    #expect(await browser.call("GET", "/console/").status == 303)
    #expect(await owner.open("/console/").status == 200)
  }

  @Test func `Guessing ends soon, but not for the browser of the owner`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let thief = Browser(world)
    var statuses: [Int] = []
    for _ in 0..<11 {
      statuses.append(
        await thief.submit("/console/login", ["email": "zoe@example.com", "password": "guess"]).status)
    }
    #expect(statuses == Array(repeating: 403, count: 10) + [429])
    #expect(await owner.submit("/console/logout").status == 200)
    let fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(await owner.submit("/console/login", fields).text.contains("<h1>Apps</h1>"))
  }

  /// What every answer must carry, `Browser` looks at.
  @Test func `Files are kept under their own version alone, and cookies are for the console`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let text = await owner.open("/console/").text
    let path = try #require(
      text.firstRange(of: "/console/assets/").map { text[$0.lowerBound...].prefix { $0 != "\"" } })
    let asset = await Browser(world).call("GET", String(path))
    #expect(asset.status == 200 && asset.headers["cache-control"]?.contains("immutable") == true)
    let other = await Browser(world).call("GET", "/console/assets/000000000000/console.css")
    #expect(other.status == 200 && other.headers["cache-control"] == "no-cache")
    let login = await Browser(world).call(
      "POST", "/console/login", body: "email=zoe%40example.com&password=correct+horse+battery")
    let cookies = login.headers.fields.filter { $0.name == "set-cookie" }.map(\.value)
    #expect(cookies.count == 2 && cookies.allSatisfy { $0.contains("HttpOnly; SameSite=Lax") })
  }

  @Test(arguments: [
    ("GET", "/", 303), ("GET", "/console/%zz", 400), ("GET", "/console/../x", 400),
    ("GET", "/console/x", 404),
    ("PUT", "/console/login", 405), ("GET", "/console/", 303), ("POST", "/console/logout", 303),
  ])
  func `Answers without a page are as safe`(method: String, target: String, status: Int) async throws {
    #expect(await Browser(try ConsoleWorld()).call(method, target).status == status)
  }

  // MARK: Pushing

  /// Sends a push by the form, twice, as an impatient finger does.
  static func push(_ browser: Browser, _ app: App, to device: RegistrationID) async throws -> String {
    let base = "/console/apps/\(app.key.text)"
    let fields = [
      "kind": "notification", "android": "1", "audience": "registration", "names": device.text,
      "title": "T<1>",
      "text": "Hello", "hours": "1",
    ]
    let page = await browser.submit("\(base)/push/confirm", fields)
    #expect(page.status == 200 && page.text.contains("Target devices: 1"))
    func hidden(_ name: String) throws -> String {
      let start = try #require(page.text.firstRange(of: "name=\"\(name)\" value=\""))
      return String(page.text[start.upperBound...].prefix { $0 != "\"" })
    }
    let body = try hidden("body").replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing(
      "&gt;", with: ">")
    let (cid, path) = (try hidden("cid"), "\(base)/push")
    let sent = await browser.post(path, ["body": body, "cid": cid])
    let location = try #require(sent.headers["location"])
    // The same form once more is the same push.
    #expect(await browser.post(path, ["body": body, "cid": cid]).headers["location"] == location)
    return String(try #require(location.split(separator: "/").last))
  }

  @Test func `A push goes from the form to the device, is listed and recalled`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    let id = try await Self.push(owner, app, to: device)
    let base = "/console/apps/\(app.key.text)"
    let number = try #require(app.directory.find(device))
    #expect(app.directory.pendingCount(for: number) == 1)
    let page = await owner.open("\(base)/pushes/\(id)").text
    #expect(page.contains("T&lt;1&gt; · Hello") && !page.contains("T<1>"))
    #expect(await owner.open("\(base)/pushes").text.contains(id))
    #expect(await owner.open("\(base)/devices?q=\(device.text)").text.contains("<dd>1</dd>"))
    #expect(await owner.submit("\(base)/pushes/\(id)/recall").status == 200)
    #expect(app.directory.pendingCount(for: number) == 0)
    let audit = await owner.open("/console/accounts/1/audit").text
    #expect(
      audit.contains("title=\"push.send\"") && audit.contains("title=\"push.recall\"")
        && audit.contains("title=\"person.setup\""))
    // The form came twice, and one push left.
    #expect(audit.split(separator: "title=\"push.send\"").count == 2 && audit.contains("\(id) (1)"))
  }

  @Test func `What cannot be sent says why`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    _ = await owner.open("/console/")
    let base = "/console/apps/\(app.key.text)"
    let fields = ["kind": "notification", "android": "1", "audience": "alias", "names": "zoe", "text": "x"]
    let nobody = await owner.submit("\(base)/push/confirm", fields)
    #expect(nobody.status == 422 && nobody.text.contains("This audience matches no device."))
    let bad = await owner.submit("\(base)/push/confirm", fields.merging(["names": "a/b"]) { $1 })
    #expect(bad.status == 422 && bad.text.contains("Enter at most 1000 aliases"))
    let foreign = await owner.submit("\(base)/push", ["body": "{}", "cid": "x"])
    #expect(foreign.status == 422)
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "2562047788015216", "241", "-1", "x"])
  func `A time that is no number of hours is refused`(hours: String) async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    _ = await owner.open("/console/")
    let fields = [
      "kind": "notification", "android": "1", "audience": "registration", "names": device.text, "text": "x",
      "hours": hours,
    ]
    for page in ["confirm", "audience"] {
      let answer = await owner.submit("/console/apps/\(app.key.text)/push/\(page)", fields)
      #expect(answer.text.contains("Enter 0 to 240 hours"), "\(page)")
    }
    let longest = fields.merging(["hours": "240"]) { $1 }
    #expect(await owner.submit("/console/apps/\(app.key.text)/push/confirm", longest).status == 200)
  }

  // MARK: People

  @Test func `An invitation is good once, and the last owner stays`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.open("/console/")
    let page = await owner.submit(
      "/console/accounts/1/people/invite", ["email": "kim@example.com", "role": "sender"])
    let start = try #require(page.text.firstRange(of: "http://console.example/console/invitations/"))
    let link = "/console/invitations/" + page.text[start.upperBound...].prefix { $0 != "<" }
    let guest = Browser(world)
    #expect(
      await guest.open(link).text.contains("You are invited to the account default. Your role: Sender."))
    let fields = ["name": "Kim", "email": "kim@example.com", "password": "another horse battery"]
    #expect(await guest.submit(link, fields).text.contains("<h1>Apps</h1>"))
    #expect(await Browser(world).submit(link, fields).status == 404)
    let used = await Browser(world).open(link)
    #expect(used.status == 404 && used.text.contains("This invitation is no longer valid"))
    #expect(await guest.open("/console/accounts/1/people").status == 403)
    let left = await owner.submit("/console/accounts/1/people/1/role", ["role-1": "none"])
    #expect(left.status == 422 && left.text.contains("An account needs an owner"))
    let changed = await owner.submit("/console/accounts/1/people/2/role", ["role-2": "owner"])
    #expect(changed.status == 200)
    #expect(await guest.open("/console/accounts/1/people").status == 200)
  }

  @Test func `An invitation takes nothing from somebody who is there already`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.open("/console/")
    let page = await owner.submit(
      "/console/accounts/1/people/invite", ["email": "zoe@example.com", "role": "viewer"])
    let start = try #require(page.text.firstRange(of: "http://console.example/console/invitations/"))
    let link = "/console/invitations/" + page.text[start.upperBound...].prefix { $0 != "<" }
    #expect(await owner.submit(link).status == 200)
    let members = try await world.store.change { transaction throws(StorageError) in
      try transaction.members.all(of: .standard)
    }
    #expect(members.map(\.role) == [.owner])
  }

  @Test func `A login ends the session that the browser had`() async throws {
    let world = try ConsoleWorld()
    let browser = try await world.owner()
    let cookie = try #require(browser.cookie("borealis_session"))
    let earlier = Browser(world, cookies: ["borealis_session": cookie])
    #expect(await earlier.call("GET", "/console/me").status == 200)
    let login = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(await browser.submit("/console/login", login).status == 200)
    #expect(browser.cookie("borealis_session") != cookie)
    #expect(await earlier.call("GET", "/console/me").status == 303)
  }

  @Test func `A page whose address is not valid says so`() async throws {
    let world = try ConsoleWorld()
    for target in ["/console/login?q=%ff", "/console/%zz"] {
      let page = await Browser(world).open(target)
      #expect(page.status == 400 && page.text.contains("The address of the page is not valid."), "\(target)")
    }
  }

  @Test func `A new password logs other browsers out`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let other = Browser(world)
    let login = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(await other.submit("/console/login", login).status == 200)
    _ = await owner.open("/console/me")
    let wrong = await owner.submit(
      "/console/me/password", ["old": "wrong", "password": "yet another phrase"])
    #expect(wrong.status == 422 && wrong.text.contains("The current password is incorrect."))
    let done = await owner.submit(
      "/console/me/password", ["old": ConsoleWorld.password, "password": "yet another phrase"])
    #expect(done.text.contains("The password was changed"))
    #expect(await other.call("GET", "/console/").status == 303)
    #expect(await Browser(world).submit("/console/login", login).status == 403)
  }

  @Test func `With an authenticator app the password is not enough, and a code is good once`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let page = await owner.submit("/console/me/totp/new").text
    let start = try #require(page.firstRange(of: "name=\"secret\" value=\""))
    let text = String(page[start.upperBound...].prefix { $0 != "\"" })
    let secret = try #require(Hex.decode(text))
    func code(_ offset: Int64) -> String {
      OneTimePassword.code(secret: secret, step: OneTimePassword.step(at: ManualClock().now()) + offset)
    }
    let wrong = await owner.submit("/console/me/totp", ["secret": text, "code": "x"])
    #expect(wrong.status == 422)
    let stolen = await owner.submit(
      "/console/me/totp", ["secret": text, "code": code(-1), "password": "guess"])
    #expect(stolen.status == 422 && stolen.text.contains("The current password is incorrect."))
    let done = await owner.submit(
      "/console/me/totp", ["secret": text, "code": code(-1), "password": ConsoleWorld.password])
    #expect(done.text.contains("You need a code from your authenticator app"))
    let browser = Browser(world)
    var fields = ["email": "zoe@example.com", "password": ConsoleWorld.password]
    let step = await browser.submit("/console/login", fields)
    #expect(step.status == 200 && step.text.contains("Enter the code from your authenticator app."))
    #expect(step.text.contains("inputmode=\"numeric\"") && !step.text.contains("type=\"password\""))
    // The password is typed once: a ticket stands for it.
    let mark = try #require(step.text.firstRange(of: "name=\"ticket\" value=\""))
    let ticket = String(step.text[mark.upperBound...].prefix { $0 != "\"" })
    fields["password"] = nil
    fields["ticket"] = ticket
    fields["code"] = "000000x"
    #expect(await browser.submit("/console/login", fields).text.contains("The code is incorrect"))
    fields["code"] = code(1)
    #expect(await browser.submit("/console/login", fields).text.contains("<h1>Apps</h1>"))
    #expect(await Browser(world).submit("/console/login", fields).text.contains("The code is incorrect"))
    fields["code"] = code(2)
    for bad in ["\(ticket)0", "9999999999" + ticket.dropFirst(10), "", "x"] {
      fields["ticket"] = bad
      let late = await Browser(world).submit("/console/login", fields)
      #expect(late.status == 403 && late.text.contains("more than five minutes after"), "\(bad)")
    }
    let off = await browser.submit("/console/me/totp/off", ["password": ConsoleWorld.password])
    #expect(off.text.contains("The authenticator app is turned off. You log in with your password only."))
  }

  @Test func `A person's language is the console's`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.open("/console/me")
    let page = await owner.submit("/console/me/profile", ["name": "佐伊", "language": "zh"])
    #expect(
      page.text.contains("<html lang=\"zh-CN\">") && page.text.contains("我的账号") && page.text.contains("佐伊"))
  }
}
