import BorealisBase
import Core
import Foundation
import HTTP
import Testing

@testable import Console

/// The documentation as a server shows it.
@Suite struct DocsPageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A page's text, its links and the names that links may lead to.
  private struct Seen {
    let text: String
    let links: [String]
    let anchors: Set<String>

    init(_ response: HTTPResponse) {
      text = String(decoding: response.body, as: UTF8.self)
      links = text.matches(of: /(?:href|src|action)="([^"]*)"/).map {
        String($0.output.1).replacing("&amp;", with: "&")
      }
      let ids = text.matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) }
      anchors = Set(ids)
      #expect(anchors.count == ids.count, "an id comes twice")
    }
  }

  /// All addresses of the documentation, those of the pages first.
  private static let addresses =
    DocsLibrary.pages.keys.sorted() + [APIReference.path, "/docs/search"]
    + APIReference.operations.values.map(\.page).sorted()

  @Test(arguments: ["", "?lang=zh"]) func `Every link leads somewhere`(query: String) async throws {
    let browser = Browser(try ConsoleWorld())
    var seen: [String: Seen] = [:]
    for path in Self.addresses {
      let response = await browser.call("GET", path + query)
      #expect(response.status == 200, "\(path)")
      #expect(response.body.count <= 200_000, "\(path) has \(response.body.count) bytes")
      seen[path] = Seen(response)
    }
    var (count, anchored) = (0, 0)
    for (path, page) in seen {
      for link in page.links where !link.contains("://") && !link.hasPrefix("mailto:") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = String(parts[0].prefix { $0 != "?" })
        if parts.count > 1 {
          anchored += 1
          let name = parts[1].removingPercentEncoding ?? ""
          let place = target.isEmpty ? page : seen[target]
          #expect(place?.anchors.contains(name) == true, "\(path) links to \(link)")
        } else if target.hasPrefix("/docs") {
          #expect(seen[target] != nil || DocsLibrary.file(target) != nil, "\(path) links to \(link)")
          let keepsLanguage = query.isEmpty || link.contains("lang=") || DocsLibrary.file(target) != nil
          #expect(keepsLanguage || target == "/docs/search", "\(path) loses the language at \(link)")
        } else {
          #expect(SiteMap.hasPage(target) || target == "/openapi.json", "\(path) links to \(link)")
        }
      }
    }
    #expect(seen.count > 250 && count > 10_000 && anchored > 300)
  }

  @Test func `The pages are those of the repository`() throws {
    let folder = Self.root.appending(path: "Docs")
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { "Docs/\($0)" }
    let kinds = ["md", "png", "txt", "json"]
    let wanted = files.filter { file in
      kinds.contains { file.hasSuffix(".\($0)") } && !file.hasSuffix("/openapi.json")
    }
    #expect(embeddedDocs.keys.sorted() == (wanted + ["README.md", "CHANGELOG.md"]).sorted())
    for (file, text) in embeddedDocs {
      let contents = try Data(contentsOf: Self.root.appending(path: file))
      let held = file.hasSuffix(".png") ? Base64.decodeAny(text.utf8) ?? [] : Array(text.utf8)
      #expect(contents.elementsEqual(held), "\(file)")
    }
  }

  @Test func `The first page lists every page, in both languages in the same order`() {
    let (english, chinese) = (DocsContents.list(in: .english), DocsContents.list(in: .chinese))
    #expect(english.entries.map(\.path) == chinese.entries.map(\.path))
    #expect(english.groups.map(\.entries.count) == chinese.groups.map(\.entries.count))
    let listed = english.entries.map(\.path)
    #expect(Set(listed).count == listed.count)
    let decisions = "\(DocsContents.decisionsPath)/"
    let pages = DocsLibrary.pages.keys.filter { !$0.hasPrefix(decisions) && $0 != "/docs" }
    #expect(Set(listed) == Set(pages + [APIReference.path]))
    for entry in english.entries + chinese.entries { #expect(!entry.title.isEmpty && !entry.text.isEmpty) }
  }

  @Test func `A page leads to the one before and the one behind it`() {
    let list = DocsContents.list(in: .english)
    #expect(list.neighbors(of: "/docs/readme").before == nil)
    #expect(list.neighbors(of: "/docs/readme").after?.path == "/docs/console")
    #expect(list.neighbors(of: "/docs/decisions").before?.path == "/docs/development")
    let first = "/docs/decisions/0001-memory-shows-what-the-disk-holds"
    #expect(list.neighbors(of: first).before?.path == "/docs/decisions")
    #expect(list.neighbors(of: first).after?.path == "/docs/decisions/0002-message-ids-in-commit-order")
    #expect(list.neighbors(of: "/docs/nothing").after == nil)
  }

  // MARK: Answers

  @Test func `Only what the program holds is found`() async throws {
    let browser = Browser(try ConsoleWorld())
    for path in [
      "/docs/nothing", "/docs/README", "/docs/Docs/console", "/docs/api/openapi.json",
      "/docs/api/reference/x",
      "/docs/api", "/docs/images", "/docs/images/x.png", "/docs/etc%2Fpasswd",
      "/docs/..%2f..%2fPackage.swift",
      "/docs/README.zh", "/docs/Sources/x", "/docs/a/b/c/d",
    ] {
      let response = await browser.call("GET", path)
      #expect(response.status == 404, "\(path)")
    }
    for path in ["/docs/../Package.swift", "/docs/%2e%2e/Package.swift", "/docs/%00", "/docs/%zz"] {
      #expect(await browser.call("GET", path).status == 400, "\(path)")
    }
    let missing = await browser.call("GET", "/docs/%3Cscript%3E?lang=zh")
    let text = String(decoding: missing.body, as: UTF8.self)
    #expect(missing.status == 404 && text.contains("页面不存在") && text.contains("action=\"/docs/search\""))
    #expect(!text.contains("<script>"))
    #expect(await browser.call("POST", "/docs").status == 405)
    for (file, page) in [
      ("api/jpush.md", "/docs/api/jpush"), ("README.md", "/docs"), ("README.zh.md", "/docs"),
      ("operations/README.md", "/docs/operations"),
    ] {
      let moved = await browser.call("GET", "/docs/\(file)?lang=zh")
      #expect(moved.status == 303 && moved.headers["location"] == "\(page)?lang=zh", "\(file)")
    }
  }

  @Test func `Files that pages show are served with their types`() async throws {
    let browser = Browser(try ConsoleWorld())
    for (path, type) in [
      ("/docs/images/console-push.png", "image/png"),
      ("/docs/protocol-vectors.txt", "text/plain; charset=utf-8"),
      ("/docs/device-scenarios.json", "application/json"),
    ] {
      let response = await browser.call("GET", path)
      #expect(response.status == 200 && response.headers["content-type"] == type, "\(path)")
    }
    let (width, height) = try #require(DocsLibrary.size("/docs/images/console-push.png"))
    #expect(width > 300 && height > 300)
    #expect(DocsLibrary.size("/docs/protocol-vectors.txt") == nil)
  }

  @Test func `Browsers keep a page until it changes`() async throws {
    let browser = Browser(try ConsoleWorld())
    for path in ["/docs", "/docs/console", "/docs/api/reference/push", "/docs/images/console-push.png"] {
      let first = await browser.call("GET", path)
      let tag = try #require(first.headers["etag"])
      #expect(first.headers["cache-control"] == "no-cache" && first.headers["vary"] == "Accept-Language")
      let again = await browser.call("GET", path, headers: [("if-none-match", tag)])
      #expect(again.status == 304 && again.body.isEmpty, "\(path)")
      let weak = await browser.call("GET", path, headers: [("if-none-match", "\"0\", W/\(tag)")])
      #expect(weak.status == 304, "\(path)")
      let other = await browser.call("GET", path, headers: [("if-none-match", "\"0123456789abcdef\"")])
      #expect(other.status == 200, "\(path)")
    }
  }

  @Test func `The language is that of the address, then that of the browser`() async throws {
    let browser = Browser(try ConsoleWorld())
    func text(_ target: String, _ accepted: String) async -> String {
      String(
        decoding: await browser.call("GET", target, headers: [("accept-language", accepted)]).body,
        as: UTF8.self)
    }
    let chinese = await text("/docs", "zh-CN,en")
    #expect(chinese.contains("<html lang=\"zh-CN\">") && chinese.contains("从这里开始"))
    #expect(!chinese.contains("<article lang=") && chinese.contains("href=\"/docs?lang=en\""))
    #expect(await text("/docs?lang=en", "zh-CN").contains("Start here"))
    let console = await text("/docs/console?lang=zh", "en")
    #expect(console.contains("<article lang=\"en\">") && console.contains(Words.docsInEnglish.chinese))
    #expect(console.contains("href=\"/docs/operations/apps?lang=zh#mail\""))
    #expect(await text("/docs/console", "en").contains("href=\"/docs/operations/apps#mail\""))
  }

  @Test func `A server can leave the documentation out`() async throws {
    let world = try ConsoleWorld(servesDocs: false)
    let browser = Browser(world)
    for path in [
      "/docs", "/docs/console", "/docs/search?q=a", "/docs/api/reference", "/docs/images/console-push.png",
    ] {
      #expect(await browser.call("GET", path).status == 404, "\(path)")
    }
    #expect(await !browser.open("/console/login").text.contains("/docs"))
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    for path in [
      "/console/", "/console/apps/\(app.key.text)/settings", "/console/apps/\(app.key.text)/settings/keys",
    ] {
      #expect(await !owner.open(path).text.contains("href=\"/docs"), "\(path)")
    }
    let shown = try ConsoleWorld()
    #expect(await Browser(shown).open("/console/login").text.contains("href=\"/docs?lang=en\""))
  }

  @Test func `Links of the console lead to pages and headings`() async throws {
    let world = try ConsoleWorld()
    let estate = try await Estate.make(world, "some")
    var links: Set<String> = []
    for page in ConsoleRegistry.pages where page.method == "GET" && page.pattern.hasPrefix("/console") {
      let text = await estate.owner.open(estate.path(of: page)).text
      links.formUnion(text.matches(of: /href="(\/docs[^"]*)"/).map { String($0.output.1) })
    }
    #expect(links.count > 6)
    for link in links {
      let seen = Seen(await estate.owner.call("GET", String(link.prefix { $0 != "#" })))
      let anchor = link.split(separator: "#").dropFirst().first.map(String.init)
      #expect(!seen.text.contains(Words.docsMissing.english), "\(link)")
      if let anchor { #expect(seen.anchors.contains(anchor), "\(link)") }
    }
  }

  @Test func `The search page shows what it found, with the words marked and all else escaped`() async throws
  {
    let browser = Browser(try ConsoleWorld())
    let found = await browser.open("/docs/search?q=request-log&lang=zh").text
    #expect(
      found.contains("<mark>request-log</mark>")
        && found.contains("href=\"/docs/operations/settings?lang=zh\""))
    #expect(found.contains("value=\"request-log\"") && found.contains("name=\"lang\" value=\"zh\""))
    let evil = await browser.open("/docs/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22onload%3D").text
    #expect(
      !evil.contains("<script>alert") && evil.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;onload="))
    let nothing = await browser.open("/docs/search?q=xyzzyq").text
    #expect(nothing.contains(Words.nothingFound.with("xyzzyq").english))
    let long = await browser.open("/docs/search?q=\(String(repeating: "push%20", count: 500))")
    #expect(long.status == 200)
    #expect(await browser.open("/docs/search").text.contains(Words.docsSearchText.english))
  }
}
