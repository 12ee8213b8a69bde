import Testing

@testable import Console

/// Markdown as pages of the documentation have it.
@Suite struct MarkdownTests {
  private static func html(_ text: String, _ address: (String) -> String? = { $0 }) -> String {
    MarkdownPage(text, address: address).html.text
  }

  @Test func `HTML within a text and addresses that run a script are left out`() {
    let text = """
      # A <b>page</b>

      <script>alert(1)</script>

      An <img src=x onerror=alert(2)> [link](javascript:alert(3)) and ![picture](data:text/html;base64,PHM+).

      `<script>` in code, and &lt;script&gt;

          <script>alert(4)</script>
      """
    let html = Self.html(text)
    for part in ["<script", "<b>", "onerror", "javascript:", "data:text", "alert(1)", "alert(2)", "alert(3)"]
    {
      #expect(!html.contains(part), "\(part)")
    }
    #expect(html.contains("<code>&lt;script&gt;</code> in code, and &lt;script&gt;"))
    #expect(html.contains("&lt;script&gt;alert(4)&lt;/script&gt;"))
    #expect(html.contains("<h1 id=\"a-page\">"))
  }

  @Test(arguments: [
    ("Settings of `borealis serve`", "settings-of-borealis-serve"),
    ("Why didn't it arrive?", "why-didnt-it-arrive"),
    ("The log: `--request-log`", "the-log---request-log"), ("A/B tests", "ab-tests"), ("推送 Push", "推送-push"),
    ("snake_case & more", "snake_case--more"), ("8. WebSocket", "8-websocket"),
  ])
  func `Headings have the names that GitHub gives them`(heading: String, name: String) {
    #expect(MarkdownPage("## \(heading)", address: { $0 }).headings.map(\.anchor) == [name])
    #expect(Self.html("## \(heading)").contains("<h2 id=\"\(name)\">"))
  }

  @Test func `Headings of the same name are told apart`() {
    let page = MarkdownPage("# A\n\n## Costs\n\n## Costs\n\n### Costs\n", address: { $0 })
    #expect(page.headings.map(\.anchor) == ["a", "costs", "costs-1", "costs-2"])
    #expect(page.headings.map(\.level) == [1, 2, 2, 3])
  }

  @Test func `A link to what the server does not have becomes its text`() {
    let html = Self.html("See [the *source*](../Sources/a.swift) and ![a phone](x.png) and [b](b.md).") {
      $0 == "b.md" ? "/docs/b?lang=zh&x=1" : nil
    }
    #expect(
      html == "<p>See the <em>source</em> and a phone and <a href=\"/docs/b?lang=zh&amp;x=1\">b</a>.</p>\n")
  }

  @Test func `Tables begin with the widths of their columns`() {
    func widths(_ rows: String) -> [Substring] {
      let html = Self.html("| a | b |\n|---|---|\n\(rows)\n")
      #expect(html.hasPrefix("<table>\n<colgroup><col "), "\(html.prefix(60))")
      return html.matches(of: /<col width="([0-9]+)%">/).map(\.output.1)
    }
    #expect(widths("| x | y |") == ["50", "50"])
    #expect(widths("| x | \(String(repeating: "word ", count: 40)) |") == ["14", "85"])
    #expect(widths("| `\(String(repeating: "w", count: 40))` | y |") == ["75", "25"])
    #expect(widths("| | |") == ["50", "50"])
  }

  @Test func `Cells carry the heads of their columns if there are more than two`() {
    let three = Self.html("| flag | default | meaning |\n|---|:-:|---|\n| `--a` | 1 | one \"day\" |\n")
    #expect(three.contains("<td><code>--a</code></td>"))
    #expect(three.contains(" data-label=\"default\">1</td>") && three.contains("<td data-label=\"meaning\">"))
    #expect(!Self.html("| a | b |\n|---|---|\n| 1 | 2 |\n").contains("data-label"))
    let named = Self.html("| | a \"b\" `<c>` | d |\n|---|---|---|\n| 1 | 2 | 3 |\n")
    #expect(named.contains("<td></td>") && !named.contains("<th></th>"))
    #expect(named.contains("data-label=\"a &quot;b&quot; &lt;c&gt;\""))
  }

  @Test func `Code has its language as a class, and scrolls with the keyboard`() {
    #expect(
      Self.html("```json\n{\"a\": 1}\n```\n")
        == "<pre tabindex=\"0\"><code class=\"language-json\">{&quot;a&quot;: 1}\n</code></pre>\n")
  }

  @Test func `Pictures have their size`() {
    let page = MarkdownPage(
      "![A](p.png)", address: { "/docs/\($0)" }, size: { $0 == "/docs/p.png" ? (8, 6) : nil })
    #expect(page.html.text.contains("<img width=\"8\" height=\"6\" src=\"/docs/p.png\" alt=\"A\" />"))
  }

  @Test func `Sections hold the text under their headings, without marks`() {
    let sections = MarkdownPage.sections(
      of: "Before\n\n# *A* `b`\n\none\n[two](x)\n\n## C\n\n| d | e |\n|---|---|\n| f | g |\n")
    #expect(sections.map { $0.heading?.text ?? "" } == ["", "A b", "C"])
    #expect(sections[0].text == "Before\n" && sections[1].text == "one two\n")
    #expect(sections[2].text.split(separator: " ") == ["d", "e", "f", "g"])
  }

  @Test(arguments: ["", "#", "| a", "[", "```", "\u{0}", "<", "<h1", "[a](<b>)", "![", "\r\n\r", "&#0;"])
  func `Nothing in a text stops a page`(text: String) {
    _ = MarkdownPage(text, address: { $0 })
    _ = MarkdownPage.sections(of: text)
  }

  @Test(arguments: [
    ("android.md", "Docs/ios.md", "/docs/android"),
    ("../README.md#a-tour", "Docs/ios.md", "/docs/readme#a-tour"),
    ("operations/README.md", "Docs/console.md", "/docs/operations"),
    ("#security", "Docs/console.md", "#security"),
    ("../api/openapi.json", "Docs/operations/apps.md", "/docs/api/reference"),
    ("images/console-push.png", "Docs/console.md", "/docs/images/console-push.png"),
    ("./protocol-vectors.txt", "Docs/web.md", "/docs/protocol-vectors.txt"),
    ("https://example.com/a.md", "Docs/web.md", "https://example.com/a.md"),
    ("../Package.swift", "Docs/web.md", nil), ("../../../etc/passwd", "Docs/web.md", nil),
    ("nothing.md", "Docs/web.md", nil), ("javascript:alert(1)", "Docs/web.md", nil),
  ])
  func `Links of the repository lead to pages`(link: String, file: String, address: String?) {
    #expect(DocsLibrary.address(link, from: file, DocsLinks(language: nil)) == address)
  }
}
