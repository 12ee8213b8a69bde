import BorealisBase
import HTTP
import Synchronization

/// The documentation as pages, for everybody.
struct DocsPages: Controller {
  /// The version of the program.
  let version: String
  private let rendered = RenderedPages()
  private let searches = SearchTurns()

  init(version: String) { self.version = version }

  static let routes: [Route<DocsPages>] = [
    Route(.open, "GET", "/docs") { $0.show($1) },
    Route(.open, "GET", "/docs/search") { $0.search($1) },
    Route(.open, "GET", "/docs/api/reference") { $0.showReference($1) },
    Route(.open, "GET", "/docs/api/reference/{operation}") { $0.showOperation($1) },
    Route(.open, "GET", "/docs/{page}") { $0.show($1) },
    Route(.open, "GET", "/docs/{folder}/{page}") { $0.show($1) },
  ]

  /// The page for a path, or a file that pages show. Only what the program holds can be asked for.
  private func show(_ call: PageCall) -> HTTPResponse {
    let path = "/" + call.target.path.joined(separator: "/")
    if let page = DocsLibrary.pages[path] { return show(page, call) }
    if let file = DocsLibrary.file(path) { return answer(call, file, isStatic: true) }
    // As the pages link to each other in the repository.
    if let page = DocsLibrary.page(ofFileAt: path) { return call.redirect(to: DocsLinks(call).address(page)) }
    return missing(call)
  }

  private func show(_ page: DocsPage, _ call: PageCall) -> HTTPResponse {
    let frame = frame(call, page.path)
    let file = page.file(in: call.language)
    let content = rendered.page(file, frame.links) {
      MarkdownPage(
        DocsLibrary.text(file) ?? "", address: { DocsLibrary.address($0, from: file, frame.links) },
        size: { DocsLibrary.size($0) })
    }
    let language = page.language(for: call.language)
    return answer(call, frame, title(of: page, call), article(call, frame, content, in: language))
  }

  /// What a browser's tab calls a page: in English its heading, in Chinese its name in the list.
  private func title(of page: DocsPage, _ call: PageCall) -> String {
    let entry = DocsContents.list(in: .chinese).entries.first { $0.path == page.path }
    return call.language == .chinese ? entry?.title ?? page.title : page.title
  }

  private func article(
    _ call: PageCall, _ frame: DocsFrame, _ content: MarkdownPage, in language: Language
  ) -> HTML {
    let isOther = language != call.language
    return """
      <div class="manual-page">
      \(DocsHeadings(content.headings, language: language).html(call))
      <div class="text">\(if: isOther, "<p class=\"quiet other-language\">\(call(Words.docsInEnglish))</p>")
      <article\(if: isOther, " lang=\"\(language.tag)\"")>
      \(content.html)</article>
      \(frame.neighbors(call))</div>
      </div>
      """
  }

  private func missing(_ call: PageCall) -> HTTPResponse {
    let frame = frame(call, "/docs")
    let page = Layout(
      call(Words.docsMissing), docs: frame,
      """
      <h1>\(call(Words.docsMissing))</h1>
      <p>\(call(Words.docsMissingText))</p>
      \(Self.searchForm(call, frame))
      """)
    return call.show(page, status: 404)
  }

  // MARK: The reference of the API

  private func showReference(_ call: PageCall) -> HTTPResponse {
    let frame = frame(call, APIReference.path)
    return answer(call, frame, call(Words.apiReference), ReferenceView(call: call, frame: frame).list())
  }

  private func showOperation(_ call: PageCall) -> HTTPResponse {
    guard let operation = APIReference.operations[call.capture("operation") ?? ""] else {
      return missing(call)
    }
    let frame = frame(call, operation.page)
    return answer(
      call, frame, operation.title, ReferenceView(call: call, frame: frame).page(operation))
  }

  // MARK: Searching

  private func search(_ call: PageCall) -> HTTPResponse {
    let query = String((call.target["q"] ?? "").prefix(DocsIndex.mostCharacters)).withoutOuterWhitespace
    let frame = frame(call, "/docs/search", query: query)
    var hits: [DocsIndex.Hit]?
    if !query.isEmpty {
      guard let found = searches.run({ DocsIndex.whole.search(query) }) else { return busy(call, frame) }
      hits = found
    }
    return answer(
      call, frame, call(Words.docsSearchTitle),
      """
      <h1>\(call(Words.docsSearchTitle))</h1>
      \(Self.searchForm(call, frame))
      \(hits, { Self.results(call, frame, $0) })
      \(if: hits == nil, "<p class=\"quiet\">\(call(Words.docsSearchText))</p>")
      """)
  }

  private func busy(_ call: PageCall, _ frame: DocsFrame) -> HTTPResponse {
    let page = Layout(
      call(Words.docsSearchTitle), docs: frame,
      """
      <h1>\(call(Words.docsSearchTitle))</h1>
      <p role="status">\(call(Words.docsSearchBusy))</p>
      \(Self.searchForm(call, frame))
      """)
    var response = call.show(page, status: 503)
    response.headers.append("Retry-After", "1")
    return response
  }

  private static func searchForm(_ call: PageCall, _ frame: DocsFrame) -> HTML {
    """
    <form class="card row" role="search" method="get" action="/docs/search" aria-label="\(call(Words.docsSearch))">
    <label for="q">\(call(Words.docsSearchHint))</label>
    <input id="q" name="q" type="search" maxlength="\(DocsIndex.mostCharacters)" value="\(frame.query)">\(frame.languageField)
    <button>\(call(Words.docsSearchTitle))</button>
    </form>
    """
  }

  private static func results(_ call: PageCall, _ frame: DocsFrame, _ hits: [DocsIndex.Hit]) -> HTML {
    guard !hits.isEmpty else {
      return """
        <p role="status">\(call(Words.nothingFound.with(frame.query)))</p>
        <p class="quiet">\(call(Words.docsSearchText))</p>
        """
    }
    let word =
      hits.count == 1
      ? Words.docsFoundOne : hits.count < DocsIndex.mostHits ? Words.docsFound : Words.docsFoundMost
    return """
      <p role="status" class="quiet">\(call(word.with(String(hits.count))))</p>
      <ol class="results">
      \(hits, { result(call, frame, $0) })</ol>
      """
  }

  private static func result(_ call: PageCall, _ frame: DocsFrame, _ hit: DocsIndex.Hit) -> HTML {
    let section = hit.section
    let address = frame.links.address(section.path, anchor: section.anchor)
    return """
      <li><a href="\(address)"><strong>\(section.heading ?? call(section.page))</strong>\
      \(if: section.heading != nil, " <span class=\"quiet\">\(call(section.page))</span>")</a>
      \(if: !hit.excerpt.isEmpty, """
        <p lang="en">\(hit.excerpt, { $0.isMatch ? "<mark>\($0.text)</mark>" : "\($0.text)" })</p>
        """)\(if: hit.excerpt.isEmpty, "<p>\(call(section.remark))</p>")</li>

      """
  }

  // MARK: Answers

  private func frame(_ call: PageCall, _ path: String, query: String = "") -> DocsFrame {
    DocsFrame(path: path, links: DocsLinks(call), query: query, version: version)
  }

  private func answer(
    _ call: PageCall, _ frame: DocsFrame, _ title: String, _ content: HTML
  ) -> HTTPResponse {
    let page = Layout(title, docs: frame, content)
    return answer(call, Assets.Asset("text/html; charset=utf-8", page.html(for: call).text))
  }

  /// An answer that differs by the language of the browser.
  private func answer(_ call: PageCall, _ content: Assets.Asset, isStatic: Bool = false) -> HTTPResponse {
    var response = content.revalidated(call)
    response.headers.append("Vary", "Accept-Language")
    response.isStatic = isStatic
    return call.respond(response)
  }
}

/// Pages that were rendered, so that asking again costs little. There are never more than a number of them.
private final class RenderedPages: Sendable {
  private struct Key: Hashable {
    let file: String
    let links: DocsLinks
  }

  private static let most = 64

  private let pages = Mutex<[Key: MarkdownPage]>([:])

  /// The page of a file with the links of a reader.
  func page(_ file: String, _ links: DocsLinks, render: () -> MarkdownPage) -> MarkdownPage {
    let key = Key(file: file, links: links)
    if let page = pages.withLock({ $0[key] }) { return page }
    let page = render()
    pages.withLock { pages in
      if pages.count >= Self.most { pages.removeAll() }
      pages[key] = page
    }
    return page
  }
}

/// Searches that run at the same time: nobody is asked who searches, and each takes some milliseconds of a
/// processor.
final class SearchTurns: Sendable {
  private static let most = 2

  private let running = Mutex(0)

  /// The result of a search; nil if too many others run.
  func run<Result>(_ search: () -> Result) -> Result? {
    let isFree = running.withLock { running in
      guard running < Self.most else { return false }
      running += 1
      return true
    }
    guard isFree else { return nil }
    defer { running.withLock { $0 -= 1 } }
    return search()
  }
}

/// The list of a page's headings, beside its text or above it. It stands before the text, so that this does
/// not move when the list arrives.
struct DocsHeadings {
  private let headings: [MarkdownPage.Heading]
  private let language: Language

  init(_ headings: [MarkdownPage.Heading], language: Language) {
    (self.headings, self.language) = (headings.filter { 2...3 ~= $0.level }, language)
  }

  /// Nothing for a page with one section.
  func html(_ call: PageCall) -> HTML {
    guard headings.count > 1 else { return .none }
    let isOther = language != call.language
    return """
      <nav class="toc" aria-label="\(call(Words.docsOnThisPage))"><details><summary>\(call(Words.docsOnThisPage))</summary>
      <ul\(if: isOther, " lang=\"\(language.tag)\"")>\(headings, { Self.entry($0) })</ul></details></nav>
      """
  }

  private static func entry(_ heading: MarkdownPage.Heading) -> HTML {
    """
    <li\(if: heading.level == 3, " class=\"below\"")><a href="#\(heading.anchor)">\(heading.text)</a></li>

    """
  }
}
