import BorealisBase
import Core
import HTTP
import Storage

/// What surrounds the content of every page: the bar above it, and the links to other pages at its left.
extension Layout {
  /// The pages of an app, in the order of the sidebar.
  enum Tab: CaseIterable, Sendable {
    case overview, push, schedules, waiting, history, templates, abTests, devices, segments, virtual, charts
    case settings

    fileprivate var link: Link {
      switch self {
      case .overview: Link(Words.overview, "", .overview)
      case .push: Link(Words.send, "/push", .send, for: .sender)
      case .schedules: Link(Words.scheduled, "/planned", .schedules)
      case .waiting: Link(Words.waitingPushes, "/waiting", .waiting)
      case .history: Link(Words.history, "/pushes", .history)
      case .templates: Link(Words.templates, "/templates", .templates)
      case .abTests: Link(Words.abTests, "/abtests", .abTests)
      case .devices: Link(Words.devices, "/devices", .devices, beginsGroup: true)
      case .segments: Link(Words.segments, "/segments", .segments)
      case .virtual: Link(Words.virtualDevice, "/virtual", .screen)
      case .charts: Link(Words.charts, "/charts", .charts, beginsGroup: true)
      case .settings: Link(Words.settings, "/settings", .settings, for: .admin)
      }
    }
  }

  /// A page in the sidebar.
  fileprivate struct Link {
    let name: Phrase
    /// Behind the address of the app, or the whole address of a page of no app.
    let path: String
    let icon: Icon
    /// Who sees it.
    let role: Role
    let beginsGroup: Bool

    init(_ name: Phrase, _ path: String, _ icon: Icon, for role: Role = .viewer, beginsGroup: Bool = false) {
      (self.name, self.path, self.icon) = (name, path, icon)
      (self.role, self.beginsGroup) = (role, beginsGroup)
    }

    func html(_ call: PageCall, below place: String = "", isCurrent: Bool) -> HTML {
      """
      <li\(if: beginsGroup, " class=\"first\"")><a href="\(place)\(path)"\(
        if: isCurrent, " aria-current=\"page\"")>\(icon.html)\(call(name))</a></li>

      """
    }
  }

  /// The whole of a page's body but for the link that skips to the content.
  func body(_ call: PageCall, _ main: HTML) -> HTML {
    if let docs { return docs.body(call, main) }
    guard let visitor = call.visitor else {
      return "<header class=\"bar\">\(Self.brand)</header>\n\(main)"
    }
    return """
      <header class="bar">
      <button type="button" class="burger" popovertarget="side" aria-label="\(call(Words.menu))">\(Icon.menu.html)</button>
      \(Self.brand)
      \(call.app, { Self.switcher($0, call) })
      \(SearchForm.bar(call))
      \(Self.account(visitor, call))
      </header>
      <div class="shell">
      <nav class="side" id="side" popover aria-label="\(call.app?.name ?? call(Words.pages))"><ul>
      \(call.app.map { places($0, call) } ?? Self.places(visitor, call))</ul></nav>
      <div class="page">
      \(main)
      \(foot(call))
      </div></div>
      """
  }

  private static let brand: HTML = """
    <a class="brand" href="/console/">\(Icon.logo)<span>Borealis</span></a>
    """

  // MARK: The sidebar

  private func places(_ app: App, _ call: PageCall) -> HTML {
    let hasApproval = app.brakes.approvalAbove > 0
    let tabs = Tab.allCases.filter {
      $0.link.role <= call.role ?? .viewer && ($0 != .waiting || hasApproval || tab == .waiting)
    }
    let place = "/console/apps/\(app.key.text)"
    return "\(tabs, { $0.link.html(call, below: place, isCurrent: $0 == tab) })"
  }

  /// The pages that belong to no app.
  private static func places(_ visitor: Visitor, _ call: PageCall) -> HTML {
    var links = [
      Link(Words.apps, "/console/", .overview), Link(Words.expiriesTitle, "/console/credentials", .key),
    ]
    let only = visitor.memberships.count == 1 ? visitor.memberships.first?.account : nil
    if let account = call.account ?? only, visitor.role(in: account) ?? .viewer >= .admin {
      let place = "/console/accounts/\(account.rawValue)"
      links += [
        Link(Words.groups, "\(place)/groups", .groups, beginsGroup: true),
        Link(Words.people, "\(place)/people", .people), Link(Words.audit, "\(place)/audit", .audit),
      ]
    }
    if visitor.person.isOperator {
      links.append(Link(Words.operatorTitle, "/console/operator", .installation, beginsGroup: true))
    }
    links.append(
      Link(Words.yourAccount, "/console/me", .person, beginsGroup: !visitor.person.isOperator))
    let here = call.path
    func isCurrent(_ path: String) -> Bool {
      here == path || "\(here)/" == path || here.hasPrefix("\(path)/")
    }
    return "\(links, { $0.html(call, isCurrent: isCurrent($0.path)) })"
  }

  // MARK: The bar

  /// The app, and a list of the account's other apps.
  private static func switcher(_ app: App, _ call: PageCall) -> HTML {
    """
    <details class="pop apps-menu" name="bar"><summary title="\(app.name)"><span>\(app.name)</span>\(Icon.more.html)</summary>
    <nav class="sheet" aria-label="\(call(Words.apps))"><ul>\(call.siblings, { $0.html(isCurrent: $0.key == app.key) })
    <li class="first"><a href="/console/">\(call(Words.allApps))</a></li></ul></nav></details>
    """
  }

  /// The visitor: the own account, the other language, and the way out.
  private static func account(_ visitor: Visitor, _ call: PageCall) -> HTML {
    let other: Language = call.language == .chinese ? .english : .chinese
    let place = call.request.method == "GET" ? call.request.target : ""
    let name = visitor.person.name
    return """
      <details class="pop me" name="bar"><summary title="\(name)"><span class="avatar" aria-hidden="true">\(initials(name))</span>\
      <span class="visually-hidden">\(call(Words.yourAccount))</span></summary>
      <nav class="sheet" aria-label="\(call(Words.yourAccount))">
      <p><strong>\(name)</strong><span class="quiet">\(visitor.person.email)</span></p>
      <a href="/console/me">\(call(Words.yourAccount))</a>
      \(call.docsLink(Words.docs, ""))
      <form method="post" action="/console/me/language">\(Forms.token(call))
      <input type="hidden" name="back" value="\(place)">
      <button name="language" value="\(other.rawValue)" lang="\(other.tag)">\(other.name)</button></form>
      <form method="post" action="/console/logout">\(Forms.token(call))<button>\(call(Words.logOut))</button></form>
      </nav></details>
      """
  }

  /// The first letters of the first two words.
  static func initials(_ name: String) -> String {
    name.split(separator: " ").prefix(2).compactMap(\.first).map { $0.uppercased() }.joined()
  }
}

/// An app in the list of those of its account.
struct AppEntry: Sendable {
  /// How many the list has; the page of all apps has the others.
  static let most = 30

  let name: String
  let key: AppKey
  /// Whether another app of the list has the same name.
  let isAmbiguous: Bool

  /// The first apps by name.
  static func list(_ rows: [AppRow]) -> [AppEntry] {
    let first = rows.sorted { ($0.name, $0.key.text) < ($1.name, $1.key.text) }.prefix(most)
    let counts = first.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    return first.map { AppEntry(name: $0.name, key: $0.key, isAmbiguous: counts[$0.name] ?? 0 > 1) }
  }

  fileprivate func html(isCurrent: Bool) -> HTML {
    """
    <li><a href="/console/apps/\(key.text)"\(if: isCurrent, " aria-current=\"true\"")>\(name)\(if: isAmbiguous, " \(key.mark)")</a></li>

    """
  }
}
