import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// Every page, asked for by those who may not.
@Suite struct RouteWalkTests {
  private func call(_ browser: Browser, _ page: Page, _ path: String, _ estate: Estate) async -> HTTPResponse
  {
    page.method == "GET" ? await browser.call("GET", path) : await browser.post(path, estate.fields)
  }

  /// Each is a controller's, and is in the table under its own address.
  @Test func `Every page is served`() throws {
    let world = try ConsoleWorld()
    #expect(ConsoleRegistry.pages.count > 80)
    for page in ConsoleRegistry.pages {
      let path = page.pattern.split(separator: "/").map { $0.hasPrefix("{") ? "x" : String($0) }
      let target = path.reduce("") { "\($0)/\($1)" }
      #expect(world.console.route(page.method, target) == page.pattern, "\(page.method) \(page.pattern)")
    }
  }

  // MARK: Whose is what

  /// With the ids of another account.
  @Test func `Nobody sees another account's pages`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let mine = try await Estate.make(world, "mine")
    let outsider = try await Estate.make(world, "theirs").owner
    let before = try await mine.facts()
    var seen = 0
    for page in ConsoleRegistry.pages {
      switch page.access {
      case .open, .person, .operators: continue
      case .account, .app: seen += 1
      }
      let path = mine.path(of: page)
      #expect(await call(outsider, page, path, mine).status == 404, "\(page.method) \(path)")
    }
    #expect(seen > 40)
    #expect(try await mine.facts() == before)
    #expect(await !outsider.open("/console/").text.contains(mine.app.key.text))
  }

  /// In one's own account and app, where one is let in: what else the path names is another's.
  @Test func `Nobody reaches another's things from an account of their own`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let (mine, theirs) = (try await Estate.make(world, "mine"), try await Estate.make(world, "theirs"))
    let before = try await mine.facts()
    var seen = 0
    for page in ConsoleRegistry.pages where page.access != .open && page.access != .operators {
      let names = page.pattern.split(separator: "/").filter { $0.hasPrefix("{") }
      // Channels and their forms are nobody's.
      guard names.contains(where: { !["{app}", "{account}", "{channel}", "{form}"].contains($0) }) else {
        continue
      }
      let path = mine.path(of: page, in: theirs)
      #expect(await call(theirs.owner, page, path, mine).status == 404, "\(page.method) \(path)")
      seen += 1
    }
    #expect(seen > 16)
    #expect(try await mine.facts() == before)
    #expect(await mine.owner.call("GET", "/console/").status == 200)
  }

  @Test func `What is asked for behind the path is one's own, too`() async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let (mine, theirs) = (try await Estate.make(world, "mine"), try await Estate.make(world, "theirs"))
    let (base, before) = ("/console/apps/\(theirs.app.key.text)", try await mine.facts())
    // Pushes of the other app are younger and older than these numbers.
    for query in ["pushes?before=\(UInt64.max >> 1)", "pushes?q=\(mine.push)", "pushes.csv?q=\(mine.push)"] {
      let page = await theirs.owner.open("\(base)/\(query)")
      #expect(page.status == 200 && !page.text.contains("/pushes/\(mine.push)"), "\(query)")
    }
    #expect(
      await theirs.owner.open("\(base)/pushes?q=\(theirs.push)").text.contains("/pushes/\(theirs.push)"))
    // Another's device is as unknown as one that never was.
    let unknown = RegistrationID(high: 1, low: 1)
    for place in [
      "devices?q=", "persons?name=", "persons/data?name=", "pushes/\(theirs.push)/why?registration_id=",
    ] {
      let foreign = await theirs.owner.open("\(base)/\(place)\(mine.device.text)")
      let nobody = await theirs.owner.open("\(base)/\(place)\(unknown.text)")
      #expect(foreign.status == nobody.status, "\(place)")
      #expect(
        Self.plain(foreign.text, without: mine.device) == Self.plain(nobody.text, without: unknown),
        "\(place)")
    }
    let body =
      "{\"platform\":\"all\",\"audience\":{\"registration_id\":[\"\(mine.device.text)\"]},"
      + "\"notification\":{\"alert\":\"x\"}}"
    let sent = await theirs.owner.post(
      "\(base)/push", ["body": body, "cid": "\(theirs.app.key.text)-walk"])
    #expect(sent.status == 422)
    #expect(try await mine.facts() == before)
  }

  /// A page without the name that was asked for, and without what is another in each page.
  private static func plain(_ text: String, without id: RegistrationID) -> String {
    text.replacing(id.text, with: "").replacing(/name="once" value="[^"]*"/, with: "")
  }

  // MARK: Roles

  @Test(arguments: Role.allCases)
  func `A role may do what it is for, and no more`(role: Role) async throws {
    let world = try ConsoleWorld()
    _ = try await world.owner()
    let estate = try await Estate.make(world, "some")
    let browser = try await world.member(role, of: estate.account, name: "pat")
    _ = await browser.open("/console/")
    let before = try await estate.facts()
    for page in ConsoleRegistry.pages {
      let needed: Role
      switch page.access {
      case .open, .person, .operators: continue
      case .account(let role), .app(let role): needed = role
      }
      // Those that would find something to change are other tests'.
      guard page.method == "GET" || needed > role else { continue }
      let path = estate.path(of: page)
      let answer = await call(browser, page, path, estate)
      guard needed > role else {
        // Forms for a push have a number in their address.
        let isDraft = answer.status == 303 && answer.headers["location"]?.contains("/push") == true
        // Older addresses, and the list of channels if there is only one, lead to the page of the channel.
        let isMoved = answer.headers["location"]?.hasSuffix("/settings/credentials/apns") == true
        #expect(
          answer.status == 200 || (isDraft && (path.contains("/push") || path.hasSuffix("/edit"))) || isMoved,
          "\(page.method) \(path)")
        continue
      }
      let text = String(decoding: answer.body, as: UTF8.self)
      let forbidden = Words.forbidden.with(needed.name.english).english
      #expect(answer.status == 403 && text.contains(forbidden), "\(page.method) \(path)")
    }
    #expect(try await estate.facts() == before)
  }

  // MARK: Forms of others

  /// As somebody who may do everything.
  @Test func `A form of another site, or without the token, changes nothing`() async throws {
    let world = try ConsoleWorld()
    let boss = try await world.owner()
    let estate = try await Estate(world, account: .standard, owner: boss, email: "zoe@example.com")
    _ = await boss.open("/console/")
    let before = try await estate.facts()
    let fields = estate.fields.map { "\($0.key)=\($0.value.replacing("@", with: "%40"))" }.joined(
      separator: "&")
    let right = "\(fields)&form_token=\(boss.formToken)"
    var seen = 0
    for page in ConsoleRegistry.pages where page.method == "POST" {
      seen += 1
      let path = estate.path(of: page)
      var forms = [
        (right, [("sec-fetch-site", "cross-site")]), (right, [("sec-fetch-site", "same-site")]),
        (right, [("origin", "https://evil.example")]), (right, [("origin", "null")]),
      ]
      // Who is not logged in has no token; an invitation asks for one of those who are.
      if page.access != .open || page.pattern.contains("/invitations/") {
        forms += [(fields, []), ("\(fields)&form_token=0123", [("sec-fetch-site", "same-origin")])]
      }
      for (body, headers) in forms {
        let answer = await boss.call("POST", path, body: body, headers: headers)
        let text = String(decoding: answer.body, as: UTF8.self)
        let isRefused = answer.status == 403 && text.contains(Words.foreignForm.english)
        #expect(isRefused, "\(path) \(headers)")
      }
    }
    #expect(seen > 35)
    #expect(try await estate.facts() == before)
    _ = await boss.open("/console/")
    let made = await boss.submit("/console/accounts/1/apps/new", ["name": "Good"])
    #expect(made.text.contains("Master secret"))
  }
}
