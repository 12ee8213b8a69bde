import BorealisBase
import Testing

@testable import Console

/// What readers find.
@Suite struct DocsSearchTests {
  private static func paths(_ query: String) -> [String] {
    DocsIndex.whole.search(query).map { hit in
      hit.section.path + (hit.section.anchor.map { "#\($0)" } ?? "")
    }
  }

  @Test(arguments: [
    ("glossary", "/docs/glossary"), ("GLOSSARY", "/docs/glossary"), ("privacy", "/docs/privacy"),
    ("threat model", "/docs/threat-model"), ("--request-log", "/docs/operations/settings"),
    ("android library", "/docs/android"), ("write a channel", "/docs/write-a-channel"),
    ("getuiPushToCID", nil), ("/v3/grouppush", "/docs/api/reference/pushToGroup"),
    ("回调", "/docs/api/callbacks"), ("设置项", "/docs/operations/settings"), ("三机集群", "/docs/cluster"),
    ("单点登录", "/docs/operations/apps"), ("从极光迁移", "/docs/migrating-from-jpush"),
  ])
  func `What is looked for comes among the first`(query: String, path: String?) {
    let found = Self.paths(query).prefix(3)
    if let path { #expect(found.contains(path), "\(query): \(found)") }
  }

  @Test func `At most two searches run at a time`() {
    let turns = SearchTurns()
    #expect(turns.run { turns.run { turns.run { 3 } } == .some(nil) } == true)
    #expect(turns.run { 1 } == 1)
  }

  @Test func `A search is bounded`() {
    let words = (0..<50).map { "word\($0)" }.joined(separator: " ")
    #expect(DocsIndex.terms(of: words).count == DocsIndex.mostTerms)
    #expect(
      DocsIndex.terms(of: String(repeating: "a", count: 10_000)) == [
        Array(String(repeating: "a", count: 100).utf8)
      ])
    let hits = DocsIndex.whole.search("the")
    #expect(hits.count == DocsIndex.mostHits)
    let pages = Dictionary(grouping: hits, by: \.section.path)
    #expect(pages.values.allSatisfy { $0.count <= DocsIndex.mostOfPage })
    #expect(DocsIndex.whole.search("").isEmpty && DocsIndex.whole.search("?!, ()").isEmpty)
    // One page's text is looked through once for each term: there is no other cost.
    #expect(DocsIndex.whole.sections.reduce(0) { $0 + $1.text.count } < 2_000_000)
  }

  @Test(arguments: [
    ("push to a TAG", ["push", "to", "a", "tag"]), ("推送", ["推送"]), ("推送失败", ["推送", "送失", "失败"]),
    ("APNs推送", ["apns", "推送"]), ("a a A", ["a"]), ("/v3/push", ["/v3/push"]), ("\"<x>\"", ["x"]),
  ])
  func `A query has terms`(query: String, terms: [String]) {
    #expect(DocsIndex.terms(of: query).map { String(decoding: $0, as: UTF8.self) } == terms)
  }

  private static func section(
    _ page: String, _ heading: String?, _ text: String, isHistory: Bool = false
  ) -> DocsIndex.Section {
    DocsIndex.Section(
      path: "/docs/\(page)", anchor: heading, page: Phrase(page, page), heading: heading,
      remark: Phrase("", ""),
      text: Array(text.utf8), isHistory: isHistory)
  }

  @Test func `Titles come before headings, and these before texts; the past comes last`() {
    let index = DocsIndex(sections: [
      Self.section("old", "Queues", "queue queue queue", isHistory: true),
      Self.section("text", "Other", "a queue"), Self.section("part", "Other", "enqueued"),
      Self.section("heading", "The queue", "x"), Self.section("queue", nil, "x"),
      Self.section("none", nil, "y"),
    ])
    #expect(index.search("Queue").map(\.section.page.english) == ["queue", "heading", "old", "text"])
    // What has both words comes alone, and the words side by side count more.
    #expect(index.search("queue other").map(\.section.page.english) == ["text"])
    let texts = DocsIndex(sections: [
      Self.section("apart", nil, "time and live, to live, time"), Self.section("side", nil, "`time_to_live`"),
    ])
    #expect(texts.search("time to live").map(\.section.page.english) == ["side", "apart"])
    #expect(texts.search("TIME-TO-LIVE").map(\.section.page.english) == ["side"])
  }

  @Test func `An excerpt is around the match, at borders of words, with all matches marked`() {
    let long =
      String(repeating: "before ", count: 40) + "the Key and the key "
      + String(repeating: "behind ", count: 40)
    let section = Self.section("a", nil, long)
    let excerpt = DocsIndex.excerpt(of: section, [Array("key".utf8)])
    #expect(excerpt.filter(\.isMatch).map(\.text) == ["Key", "key"])
    let text = excerpt.map(\.text).joined()
    #expect(text.hasPrefix("… before ") && text.hasSuffix("behind …") && text.utf8.count < 280)
    let chinese = Self.section(
      "b", nil, String(repeating: "推送送达", count: 100) + "标签" + String(repeating: "应用", count: 100))
    let cut = DocsIndex.excerpt(of: chinese, [Array("标签".utf8)])
    #expect(cut.filter(\.isMatch).map(\.text) == ["标签"])
    #expect(cut.allSatisfy { !$0.text.contains("\u{FFFD}") })
    let beginning = DocsIndex.excerpt(of: Self.section("c", "x", "short"), [Array("x".utf8)])
    #expect(beginning == [.init(text: "short", isMatch: false)])
    #expect(DocsIndex.excerpt(of: Self.section("d", nil, ""), [Array("x".utf8)]).isEmpty)
  }
}
