import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Finds what a person may see by a text: on pages of an app in that app first. What the text names exactly
/// is shown at once, all else as a list.
struct SearchPages: Controller {
  let router: Router
  let members: Members

  static let routes: [Route<SearchPages>] = [
    Route(.person, "GET", "/console/search") { await $0.search($1) },
    Route(.app(.viewer), "GET", "/console/apps/{app}/search") { await $0.search($1) },
  ]

  /// Devices, tags and aliases that are listed, and scheduled pushes that are looked through.
  private static let (most, schedules) = (10, 200)

  /// Something that was found.
  struct Found: Sendable {
    let kind: Phrase
    let name: String
    /// What else tells it from others.
    var detail = ""
    let path: String
    /// Whether the text names it, and is not just a part of its name.
    var isExact = false
  }

  private func search(_ call: PageCall) async -> HTTPResponse {
    let text = String((call.target["q"] ?? "").prefix(300))
    guard !text.isEmpty else { return call.show(page(call, text, nil)) }
    var found: [Found] = []
    if let app = call.app {
      guard let own = await search(text, in: app) else { return call.unavailable }
      found = own
    }
    guard let others = await search(text, elsewhere: call) else { return call.unavailable }
    found += others
    let exact = found.filter(\.isExact)
    if let only = exact.count == 1 ? exact.first : found.count == 1 ? found.first : nil {
      return call.redirect(to: only.path)
    }
    return call.show(page(call, text, exact + found.filter { !$0.isExact }))
  }

  // MARK: In an app

  /// What there is in an app; nil if the database does not answer.
  private func search(_ text: String, in app: App) async -> [Found]? {
    let base = "/console/apps/\(app.key.text)"
    let devices = await awaitCallback {
      router.diagnostics.search(text, in: app, limit: Self.most, found: $0)
    }
    let segments = await awaitCallback { router.segments.list(of: app, reply: $0) }
    let schedules = await awaitCallback {
      router.schedules.list(of: app, page: 0, size: Self.schedules, reply: $0)
    }
    guard case .success(let places) = await router.diagnostics.places(of: text, in: [app.id]),
      case .success(let search) = devices, case .success(let segments) = segments,
      case .success(let schedules) = schedules,
      case .success(let tags) = await router.registrations.tags(
        startingWith: text, in: app, limit: Self.most),
      case .success(let aliases) = await router.registrations.aliases(
        startingWith: text, in: app, limit: Self.most)
    else { return nil }
    var found = places.compactMap { Self.push($0, below: base) }
    found += self.devices(search, in: app, text, below: base)
    for (kind, names) in [(Words.tag, tags), (Words.alias, aliases)] {
      for name in names where kind == Words.tag || !name.name.hasSameBytes(as: text) {
        found.append(
          Found(
            kind: kind, name: name.name, detail: Counted.grouped(name.count),
            path: "\(base)/devices?q=\(AddressText.encode(name.name))",
            isExact: kind == Words.tag && name.name.hasSameBytes(as: text)))
      }
    }
    func add(_ kind: Phrase, _ name: String, _ path: String) {
      guard Self.matches(name, text) else { return }
      found.append(Found(kind: kind, name: name, path: "\(base)/\(path)", isExact: Self.equals(name, text)))
    }
    for segment in segments { add(Words.segment, segment.name, "segments/\(segment.id)") }
    for template in router.templates.list(of: app) {
      add(Words.templateFound, template.name, "templates/\(template.id)")
    }
    for test in router.abTests.list(of: app) { add(Words.abTest, test.name, "abtests/\(test.id)") }
    for schedule in schedules.schedules { add(Words.scheduled, schedule.name, "planned/\(schedule.id)") }
    return found
  }

  private func devices(
    _ search: DeviceSearch, in app: App, _ text: String, below base: String
  ) -> [Found] {
    if let gone = search.gone {
      let id = gone.registrationID.text
      return [Found(kind: Words.whyDevicePage, name: id, path: "\(base)/devices/\(id)", isExact: true)]
    }
    guard search.kind != nil, search.kind != .tag else { return [] }
    return search.numbers.compactMap { number in
      guard let identity = app.directory.identity(number) else { return nil }
      return Found(
        kind: Words.whyDevicePage, name: identity.id.text,
        detail: search.kind == .alias ? "\(identity.platform.label), \(text)" : identity.platform.label,
        path: "\(base)/devices/\(identity.id.text)", isExact: true)
    }
  }

  private static func push(_ place: IdentifierPlace, below base: String) -> Found? {
    guard case .push(let id, _) = place else { return nil }
    return Found(
      kind: Words.pushFound, name: String(id.rawValue), path: "\(base)/pushes/\(id.rawValue)", isExact: true)
  }

  // MARK: Elsewhere

  /// Apps and members by name; and on a page of no app, what all the visitor's apps have.
  private func search(_ text: String, elsewhere call: PageCall) async -> [Found]? {
    guard let visitor = call.visitor,
      case .success(let rows) = await router.apps.rows(of: visitor.memberships.map(\.account))
    else { return nil }
    var found: [Found] = []
    for row in rows where row.id != call.app?.id && Self.matches(row.name, text) || row.key.text == text {
      found.append(
        Found(
          kind: Words.app, name: row.name, detail: row.key.text, path: "/console/apps/\(row.key.text)",
          isExact: row.key.text == text))
    }
    for membership in visitor.memberships where membership.role >= .admin {
      guard case .success(let people) = await members.all(of: membership.account, at: call.now) else {
        return nil
      }
      for member in people.members where Self.matches(member.name, text) || Self.matches(member.email, text) {
        found.append(
          Found(
            kind: Words.memberFound, name: member.name, detail: "\(member.email), \(membership.accountName)",
            path: "/console/accounts/\(membership.account.rawValue)/people"))
      }
    }
    guard call.app == nil else { return found }
    guard case .success(let places) = await router.diagnostics.places(of: text, in: rows.map(\.id)) else {
      return nil
    }
    let apps = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    return found + places.compactMap { place in apps[place.app].flatMap { Self.found(place, text, in: $0) } }
  }

  private static func found(_ place: IdentifierPlace, _ text: String, in app: AppRow) -> Found? {
    let base = "/console/apps/\(app.key.text)"
    switch place {
    case .push:
      var found = push(place, below: base)
      found?.detail = app.name
      return found
    case .registration(let id, _):
      return Found(
        kind: Words.whyDevicePage, name: id.text, detail: app.name, path: "\(base)/devices/\(id.text)",
        isExact: true)
    case .alias:
      return Found(
        kind: Words.alias, name: text, detail: app.name,
        path: "\(base)/devices?q=\(AddressText.encode(text))",
        isExact: true)
    }
  }

  private static func matches(_ name: String, _ text: String) -> Bool {
    name.lowercased().contains(text.lowercased())
  }

  private static func equals(_ name: String, _ text: String) -> Bool {
    name.lowercased() == text.lowercased()
  }

  // MARK: The page

  private func page(_ call: PageCall, _ text: String, _ found: [Found]?) -> Layout {
    let hint = call.app == nil ? Words.searchTextEverywhere : Words.searchText
    return Layout(
      call(Words.searchAnything),
      """
      <h1>\(call(Words.searchAnything))</h1>
      \(SearchForm.page(call, text))
      \(found.map { list(call, text, $0) } ?? "<p class=\"quiet\">\(call(hint))</p>")
      """)
  }

  private func list(_ call: PageCall, _ text: String, _ found: [Found]) -> HTML {
    guard !found.isEmpty else {
      let hint = call.app == nil ? Words.searchTextEverywhere : Words.searchText
      return """
        <p role="status">\(call(Words.nothingFound.with(text)))</p>
        <p class="quiet">\(call(hint))</p>
        """
    }
    return """
      <section class="card"><ul class="apps">\(found.prefix(8 * Self.most), { entry(call, $0) })</ul></section>
      """
  }

  private func entry(_ call: PageCall, _ found: Found) -> HTML {
    """
    <li><a href="\(found.path)"><span><span class="quiet">\(call(found.kind))</span> <strong>\(found.name)</strong></span>
    <span class="quiet">\(found.detail)</span></a></li>

    """
  }
}

/// The fields for a text to search for.
enum SearchForm {
  /// In the bar of every page; on narrow screens a link to the page.
  static func bar(_ call: PageCall) -> HTML {
    """
    <form class="finder" role="search" method="get" action="\(path(call))">\(Icon.search.html)\
    <input name="q" type="search" maxlength="300" aria-label="\(call(Words.searchAnything))" placeholder="\(call(Words.searchAnything))" \
    title="\(call(Words.searchHint))" aria-keyshortcuts="Control+K"><kbd aria-hidden="true">Ctrl K</kbd></form>
    <a class="finder-link" href="\(path(call))" aria-label="\(call(Words.searchAnything))">\(Icon.search.html)</a>
    """
  }

  static func page(_ call: PageCall, _ text: String) -> HTML {
    """
    <form class="card row" role="search" method="get" action="\(path(call))">
    <label for="q">\(call(Words.searchHint))</label>
    <input id="q" name="q" type="search" maxlength="300" value="\(text)" autofocus>
    <button>\(call(Words.find))</button>
    </form>
    """
  }

  private static func path(_ call: PageCall) -> String {
    call.app.map { "/console/apps/\($0.key.text)/search" } ?? "/console/search"
  }
}
