import BorealisBase

/// What surrounds a page of the documentation: a bar with the search, and the list of pages at the left.
struct DocsFrame: Sendable {
  /// The page that is shown, by its address.
  let path: String
  let links: DocsLinks
  /// What is searched for.
  var query = ""
  /// The version of the program.
  let version: String

  /// The whole of a page's body but for the link that skips to the content.
  func body(_ call: PageCall, _ main: HTML) -> HTML {
    """
    <header class="bar">
    <button type="button" class="burger" popovertarget="side" aria-label="\(call(Words.menu))">\(Icon.menu.html)</button>
    <a class="brand" href="\(links.address("/docs"))">\(Icon.logo)<span>Borealis <span class="quiet">\(call(Words.docs))</span></span></a>
    \(finder(call))
    <nav class="ways" aria-label="\(call(Words.pages))">\(languageLink(call))<a href="/console/">\(call(Words.docsConsole))</a></nav>
    </header>
    <div class="shell manual">
    <nav class="side" id="side" popover aria-label="\(call(Words.docs))">
    \(contents(call))</nav>
    <div class="page">
    \(main)
    <footer class="foot">\(call(Words.docsVersion.with(version)))</footer>
    </div></div>
    """
  }

  private func finder(_ call: PageCall) -> HTML {
    """
    <form class="finder" role="search" method="get" action="/docs/search">\(Icon.search.html)\
    <input name="q" type="search" maxlength="\(DocsIndex.mostCharacters)" value="\(query)" aria-label="\(call(Words.docsSearch))" \
    placeholder="\(call(Words.docsSearch))" aria-keyshortcuts="Control+K">\(languageField)<kbd aria-hidden="true">Ctrl K</kbd></form>
    <a class="finder-link" href="\(links.address("/docs/search"))" aria-label="\(call(Words.docsSearch))">\(Icon.search.html)</a>
    """
  }

  /// Keeps the language that the address names through a search.
  var languageField: HTML {
    "\(links.language, { "<input type=\"hidden\" name=\"lang\" value=\"\($0.rawValue)\">" })"
  }

  private func languageLink(_ call: PageCall) -> HTML {
    let other: Language = call.language == .chinese ? .english : .chinese
    let address = path + AddressText.query([("q", query), ("lang", other.rawValue)])
    return """
      <a href="\(address)" lang="\(other.tag)" hreflang="\(other.tag)">\(other.name)</a>
      """
  }

  // MARK: The list

  private func contents(_ call: PageCall) -> HTML {
    "\(DocsContents.list(in: call.language).groups, { group($0) })"
  }

  private func group(_ group: DocsContents.Group) -> HTML {
    """
    <p class="group">\(group.title)</p>
    <ul aria-label="\(group.title)">
    \(group.entries, { entry($0) })</ul>

    """
  }

  private func entry(_ entry: DocsContents.Entry) -> HTML {
    """
    <li><a href="\(links.address(entry.path))"\(if: isCurrent(entry.path), " aria-current=\"page\"")>\(entry.title)</a></li>

    """
  }

  /// A decision is below the list of decisions, and a call below the reference.
  private func isCurrent(_ other: String) -> Bool {
    let hasPages = other == DocsContents.decisionsPath || other == APIReference.path
    return path == other || (hasPages && path.hasPrefix("\(other)/"))
  }

  /// The ways to the pages before and after the present one.
  func neighbors(_ call: PageCall) -> HTML {
    let (before, after) = DocsContents.list(in: call.language).neighbors(of: path)
    guard before != nil || after != nil else { return .none }
    return """
      <nav class="neighbors" aria-label="\(call(Words.docsBefore))\(call(Words.comma))\(call(Words.docsAfter))">
      \(before, { neighbor(call(Words.docsBefore), $0, "prev") })\(after, { neighbor(call(Words.docsAfter), $0, "next") })</nav>
      """
  }

  private func neighbor(_ word: String, _ entry: DocsContents.Entry, _ relation: String) -> HTML {
    """
    <a href="\(links.address(entry.path))" rel="\(relation)"><span class="quiet">\(word)</span>\(entry.title)</a>
    """
  }
}
