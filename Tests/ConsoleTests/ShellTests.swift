import BorealisBase
import Core
import PushTesting
import Storage
import Testing

@testable import Console

/// What surrounds every page: the bar with its menus, and the sidebar.
@Suite struct ShellTests {
  @Test func `The sidebar has the pages that a role may see, and marks the present one`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    let path = "/console/apps/\(app.key.text)"
    for (role, others) in [
      (Role.viewer, [""]), (.sender, ["/push"]), (.admin, ["/push", "/settings"]),
    ] {
      let browser = try await world.member(role, of: .standard, name: role.word)
      let page = await browser.open("\(path)/pushes").text
      let side = page.part(from: "<nav class=\"side\"", to: "</nav>")
      for other in ["", "/devices", "/charts"] + others {
        #expect(side.contains("href=\"\(path)\(other)\""), "\(other) for a \(role)")
      }
      for other in ["/push", "/settings"] where !others.contains(other) {
        #expect(!side.contains("href=\"\(path)\(other)\""), "\(other) for a \(role)")
      }
      #expect(side.count(of: "aria-current") == 1)
      #expect(side.contains("href=\"\(path)/pushes\" aria-current=\"page\""))
    }
  }

  @Test func `Pages of no app have a sidebar of their own, with the page above marked`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let account = AccountID.standard.rawValue
    for (path, above) in [
      ("/console/", "/console/"), ("/console/me", "/console/me"), ("/console/me/audit", "/console/me"),
      ("/console/accounts/\(account)/people", "/console/accounts/\(account)/people"),
      ("/console/operator/audit", "/console/operator"), ("/console/credentials", "/console/credentials"),
    ] {
      let side = await owner.open(path).text.part(from: "<nav class=\"side\"", to: "</nav>")
      #expect(side.count(of: "aria-current") == 1, "\(path)")
      #expect(side.contains("href=\"\(above)\" aria-current=\"page\""), "\(path)")
    }
    let viewer = try await world.member(.viewer, of: .standard, name: "kim")
    let side = await viewer.open("/console/").text.part(from: "<nav class=\"side\"", to: "</nav>")
    #expect(side.contains("/console/me"))
    #expect(!side.contains("/console/operator") && !side.contains("/people"))
  }

  @Test func `The list of apps has those of the account, told apart by their keys`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.router.makeApp(in: world.store, name: "<Aurora>", account: .standard)
    let twin = try await world.router.makeApp(in: world.store, name: "<Aurora>", account: .standard)
    let only = try await world.router.makeApp(in: world.store, name: "Borealis App", account: .standard)
    let foreign = try await world.app(of: try await world.account("another"))
    let page = await owner.open("/console/apps/\(app.key.text)").text
    let list = page.part(from: "<details class=\"pop apps-menu\"", to: "</details>")
    #expect(list.contains("href=\"/console/apps/\(app.key.text)\" aria-current=\"true\">&lt;Aurora&gt; "))
    for twin in [app, twin] {
      #expect(list.contains("<code class=\"quiet\">\(twin.key.text.prefix(8))</code>"))
    }
    #expect(list.contains("href=\"/console/apps/\(only.key.text)\">Borealis App</a>"))
    #expect(!list.contains(foreign.key.text))
    #expect(page.contains("<title>&lt;Aurora&gt; · Borealis</title>"))
    let settings = await owner.open("/console/apps/\(app.key.text)/settings").text
    #expect(settings.contains("<title>Settings · &lt;Aurora&gt; · Borealis</title>"))
  }

  @Test func `The list of apps ends, and leads to all of them`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    for number in (0..<AppEntry.most + 3).reversed() {
      _ = try await world.router.makeApp(in: world.store, name: "app \(number + 10)", account: .standard)
    }
    let key = try #require(world.router.apps.all.first).key.text
    let page = await owner.open("/console/apps/\(key)").text
    let list = page.part(from: "<details class=\"pop apps-menu\"", to: "</details>")
    for number in 0..<AppEntry.most { #expect(list.contains(">app \(number + 10)</a>")) }
    #expect(!list.contains(">app \(AppEntry.most + 10)</a>"))
    #expect(list.contains("href=\"/console/\""))
  }

  @Test(arguments: [("Zoe", "Z"), ("Zoe van Zhang", "ZV"), ("李雷", "李"), ("", ""), ("  ñandú x", "ÑX")])
  func `Initials are those of the first two words`(name: String, initials: String) {
    #expect(Layout.initials(name) == initials)
  }
}

extension String {
  /// From the first place of a text to the next of another; empty without the first.
  func part(from start: String, to end: String) -> String {
    guard let found = firstRange(of: start) else { return "" }
    let rest = self[found.lowerBound...]
    return String(rest.firstRange(of: end).map { rest[..<$0.lowerBound] } ?? rest)
  }

  fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
