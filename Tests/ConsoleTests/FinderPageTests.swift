import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// The search for anything, from the bar of every page.
@Suite struct FinderPageTests {
  private struct Scene {
    let world: ConsoleWorld
    let browser: Browser
    let app: App
    var base: String { "/console/apps/\(app.key.text)" }

    init() async throws {
      world = try ConsoleWorld()
      browser = try await world.owner()
      app = try await world.app(of: .standard)
      _ = await browser.open("/console/")
    }

    func device(alias: String? = nil, tags: [String] = []) async throws -> RegistrationID {
      let number = try #require(app.directory.find(try await world.device(in: app)))
      var change = DeviceChange(tags: .set(tags))
      change.alias = alias.map { .set($0) }
      let asked = change
      _ = try await awaitCallback {
        world.router.registrations.change(asked, of: number, in: app, reply: $0)
      }.get()
      return try #require(app.directory.identity(number)).id
    }

    /// Where a search leads, or the names of what it lists.
    func find(_ text: String, inApp: Bool = true, as browser: Browser? = nil) async -> [String] {
      let place = inApp ? base : "/console"
      let answer = await (browser ?? self.browser).call(
        "GET", "\(place)/search?q=\(AddressText.encode(text))")
      if let goal = answer.headers["location"] { return [goal] }
      let text = String(decoding: answer.body, as: UTF8.self)
      let main = text.part(from: "<main", to: "</main>")
      return main.split(separator: "<strong>").dropFirst().compactMap {
        $0.split(separator: "</strong>").first.map { String($0) }
      }.filter { !$0.contains("<") }
    }
  }

  @Test func `What a text names exactly is shown at once`() async throws {
    let scene = try await Scene()
    let anna = try await scene.device(alias: "anna", tags: ["vip"])
    _ = try await scene.device(alias: "annabel", tags: ["vip", "vipers"])
    let page = "\(scene.base)/devices/\(anna.text)"
    for text in ["anna", anna.text] {
      #expect(await scene.find(text) == [page])
    }
    #expect(await scene.find("vip") == ["\(scene.base)/devices?q=vip"])
    #expect(await scene.find("anna", inApp: false) == ["\(scene.base)/devices?q=anna"])
    #expect(await scene.find(anna.text, inApp: false) == [page])
    #expect(await scene.find(scene.app.key.text, inApp: false) == [scene.base])
    #expect(await scene.find("nobody") == [])
  }

  @Test func `Names are found by a part, and tags and aliases by their beginning`() async throws {
    let scene = try await Scene()
    _ = try await scene.device(alias: "annabel", tags: ["anna-fans", "other"])
    let condition = try DeviceCondition.parse(try parseJSON(Array(#"{"alias":true}"#.utf8)))
    _ = try await awaitCallback {
      scene.world.router.segments.add("Friends of Anna", condition, to: scene.app, reply: $0)
    }.get()
    #expect(await scene.find("anna") == ["anna-fans", "annabel", "Friends of Anna"])
    #expect(await scene.find("friends of anna").first?.hasPrefix("\(scene.base)/segments/") == true)
    let empty = await scene.browser.open("\(scene.base)/search?q=%3Cnothing").text
    #expect(empty.contains("Nothing matches “&lt;nothing”."))
  }

  /// A person finds nothing of accounts that are not theirs, and members only where they see them.
  @Test func `Nothing of others is found`() async throws {
    let scene = try await Scene()
    let anna = try await scene.device(alias: "anna")
    let account = try await scene.world.account("other")
    let outsider = try await scene.world.member(.owner, of: account, name: "oscar")
    _ = await outsider.open("/console/")
    for text in ["anna", anna.text, "app 1", scene.app.key.text] {
      #expect(await scene.find(text, inApp: false, as: outsider) == [], "\(text)")
    }
    #expect(await outsider.call("GET", "\(scene.base)/search?q=anna").status == 404)
    #expect(await scene.find("oscar", inApp: false) == [])
    #expect(await scene.find("oscar", inApp: false, as: outsider).first?.hasSuffix("/people") == true)
  }
}
