import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import Console

/// Tags and aliases that are listed and suggested.
@Suite struct NamePageTests {
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

    func device(alias: String? = nil, tags: Set<String> = []) async throws {
      let number = try #require(app.directory.find(try await world.device(in: app)))
      var change = DeviceChange(tags: .set(Array(tags)))
      change.alias = alias.map { .set($0) }
      let asked = change
      _ = try await awaitCallback {
        world.router.registrations.change(asked, of: number, in: app, reply: $0)
      }.get()
    }

    func names(_ kind: String, _ text: String) async throws -> [String] {
      let query = "kind=\(kind)&q=\(AddressText.encode(text))"
      let answer = await browser.call("GET", "\(base)/names?\(query)")
      return try #require(try parseJSON(answer.body)["names"]?.array).map {
        "\($0["name"]?.string ?? "") \($0["devices"]?.string ?? "")"
      }
    }
  }

  @Test func `Names are suggested by their beginning, with how many devices have them`() async throws {
    let scene = try await Scene()
    try await scene.device(alias: "anna", tags: ["shanghai", "shenzhen", "上海"])
    try await scene.device(alias: "andrew", tags: ["shanghai", "Shanghai", "sports"])
    try await scene.device(alias: "bob", tags: ["sz"])
    for (kind, text, wanted) in [
      ("tag", "sh", ["shanghai 2", "shenzhen 1"]), ("tag", "sha", ["shanghai 2"]), ("tag", "上", ["上海 1"]),
      ("tag", "shanghai", ["shanghai 2"]), ("tag", "x", []), ("tag", "%", []),
      ("alias", "an", ["andrew 1", "anna 1"]), ("alias", "anna", ["anna 1"]), ("alias", "c", []),
    ] as [(String, String, [String])] {
      #expect(try await scene.names(kind, text) == wanted, "\(kind) \(text)")
    }
  }

  @Test func `Only some names are suggested, and none of another app`() async throws {
    let scene = try await Scene()
    try await scene.device(tags: Set((0..<30).map { "t\($0 + 10)" }))
    #expect(try await scene.names("tag", "t") == (10..<20).map { "t\($0) 1" })
    let other = try await Scene()
    #expect(try await other.names("tag", "t").isEmpty)
  }

  @Test func `All tags are listed, a page at a time`() async throws {
    let scene = try await Scene()
    #expect(await scene.browser.open("\(scene.base)/tags").text.contains("No device has had a tag yet."))
    for part in 0..<3 { try await scene.device(tags: Set((0..<50).map { "t\(part * 50 + $0 + 100)" })) }
    let first = await scene.browser.open("\(scene.base)/tags").text
    #expect(first.contains(">t100</a>") && first.contains(">t199</a>") && !first.contains(">t200</a>"))
    #expect(first.contains("?after=t199"))
    let second = await scene.browser.open("\(scene.base)/tags?after=t199").text
    #expect(second.contains(">t200</a>") && second.contains(">t249</a>") && !second.contains("rel=\"next\""))
    #expect(!second.contains(">t199</a>"))
  }
}
