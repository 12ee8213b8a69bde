import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// What forms say of their fields, and what stands on every page.
@Suite struct FormTests {
  @Test func `What is wrong stands at its field`() async throws {
    let world = try ConsoleWorld()
    let browser = Browser(world)
    let path = await world.setupPath() ?? ""
    for (fields, name, words) in [
      (["name": "", "email": "a@b.example", "password": "x"], "name", "Enter a name of 1 to 80 bytes"),
      (["name": "Zoe", "email": "nonsense", "password": "x"], "email", "Enter a valid email address."),
      (
        ["name": "Zoe", "email": "a@b.example", "password": "short"], "password",
        "Too short: 5 of at least 10"
      ),
      (
        ["name": "Zoe", "email": "a@b.example", "password": String(repeating: "ab c", count: 51)], "password",
        "Too long"
      ),
    ] {
      let page = await browser.submit(path, fields)
      #expect(page.status == 422)
      let start = try #require(page.text.firstRange(of: "<p class=\"problem\" id=\"\(name)-problem\">"))
      #expect(page.text[start.upperBound...].hasPrefix(words), "\(name)")
      let field = try #require(
        page.text.split(separator: "\n").first { $0.contains("<input id=\"\(name)\"") })
      #expect(
        field.contains("aria-invalid=\"true\" autofocus") && field.contains("\(name)-problem\""), "\(field)")
      #expect(page.text.split(separator: "aria-invalid").count == 2)
    }
  }

  @Test func `Before the first person the login page says where the link is`() async throws {
    let world = try ConsoleWorld()
    let path = await world.setupPath() ?? ""
    #expect(await Browser(world).open("/console/login").text.contains("The console is not set up yet."))
    let first = ["name": "Zoe", "email": "zoe@example.com", "password": ConsoleWorld.password]
    #expect(await Browser(world).submit(path, first).status == 200)
    #expect(await !Browser(world).open("/console/login").text.contains("The console is not set up yet."))
  }

  @Test func `Every page changes the language, and comes back to where it was`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let page = await owner.open("/console/credentials?x=1").text
    #expect(page.contains("name=\"back\" value=\"/console/credentials?x=1\""))
    for (back, place) in [
      ("/console/credentials?x=1", "/console/credentials?x=1"), ("https://evil.example/", "/console/"),
      ("//evil.example/console/", "/console/"), ("/console/\r\nx: y", "/console/"), ("", "/console/"),
    ] {
      let answer = await owner.post("/console/me/language", ["language": "zh", "back": back])
      #expect(answer.status == 303 && answer.headers["location"] == place, "\(back)")
    }
    #expect(await owner.open("/console/").text.contains("<html lang=\"zh-CN\">"))
    #expect(await owner.submit("/console/me/language", ["language": "xx"]).status == 404)
  }

  @Test func `What is not there is said in the reader's language`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    _ = await owner.post("/console/me/language", ["language": "zh", "back": ""])
    let page = await owner.open("/console/nowhere")
    #expect(page.status == 404 && page.text.contains("<h1>页面不存在</h1>") && page.text.contains("/console/me"))
    #expect(await Browser(world).open("/console/nowhere").text.contains("<h1>Page not found</h1>"))
  }

  @Test func `All times are those of one clock, which every page names`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let page = await owner.open("/console/me").text
    let now = world.router.zone.local(ManualClock().now()).text
    #expect(page.contains(">\(now)</time>") && page.contains("Times are in the server’s time zone, UTC+"))
  }

  @Test func `Whoever may not see a page still sees the app's others`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: .standard)
    let sender = try await world.member(.sender, of: .standard, name: "sam")
    let page = await sender.open("/console/apps/\(app.key.text)/settings")
    #expect(page.status == 403 && page.text.contains("/console/apps/\(app.key.text)/push\""))
    #expect(!page.text.contains("href=\"/console/apps/\(app.key.text)/settings\""))
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (6_000_000, "6,000,000"), (-1234, "-1,234"),
    (100_000, "100,000"),
  ])
  func grouping(number: Int, text: String) { #expect(Counted.grouped(number) == text) }
}
