import BorealisBase
import Core
import HTTP
import Model
import Storage

/// All apps of a visitor, and making one.
struct HomePages: Controller {
  let router: Router
  let accounts: Accounts

  static let routes: [Route<HomePages>] = [
    Route(.person, "GET", "/console") { await $0.showHome($1) },
    Route(.account(.admin), "GET", "/console/accounts/{account}/apps/new") { $0.showNewApp($1) },
    Route(.account(.admin), "POST", "/console/accounts/{account}/apps/new", again: .showsPageAbove) {
      await $0.makeApp($1)
    },
  ]

  private func showHome(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    // Apps that another process made are found by their rows.
    let result = await router.apps.rows(of: visitor.memberships.map(\.account))
    guard case .success(let rows) = result,
      case .success(let figures) = await router.figures.find(rows)
    else { return call.unavailable }
    var operators: [PersonRow] = []
    if !visitor.suspended.isEmpty {
      guard case .success(let found) = await accounts.operators() else { return call.unavailable }
      operators = found
    }
    var sections = visitor.memberships.map { membership in
      homeSection(call, membership, rows.filter { $0.account == membership.account }, figures)
    }
    sections += visitor.suspended.values.sorted().map { Failures.suspension(call, $0, operators) }
    let own = Set(visitor.memberships.map(\.account))
    let alerts = homeAlerts(call, rows.filter { own.contains($0.account) }, figures)
    let text = sections.isEmpty ? "<p class=\"card\">\(call(Words.noAccounts))</p>" : HTML.none
    return call.show(
      Layout(call(Words.apps), "<h1>\(call(Words.apps))</h1>\(alerts)\(text)\(sections, { $0 })"))
  }

  private func homeSection(
    _ call: PageCall, _ membership: MembershipRow, _ apps: [AppRow], _ figures: [AppID: AppFigures]
  ) -> HTML {
    let account = membership.account.rawValue
    let new: HTML =
      membership.role >= .admin
      ? "<a class=\"button\" href=\"/console/accounts/\(account)/apps/new\">\(call(Words.newApp))</a>" : .none
    let people: HTML =
      membership.role >= .admin
      ? """
      <a href="/console/accounts/\(account)/groups">\(call(Words.groups))</a>
      <a href="/console/accounts/\(account)/people">\(call(Words.people))</a>
      """ : .none
    let empty: HTML = apps.isEmpty ? welcome(call, membership) : .none
    return """
      <section class="card">
      <div class="row"><h2>\(membership.accountName)</h2><span class="pill">\(call(membership.role.name))</span>
      <span class="end">\(people) \(new)</span></div>
      \(empty)
      <ul class="apps">\(apps, { homeEntry(call, $0, figures[$0.id]) })</ul>
      </section>
      """
  }

  /// Without figures if the app's home has said nothing of it lately.
  private func homeEntry(_ call: PageCall, _ row: AppRow, _ figures: AppFigures?) -> HTML {
    let devices = figures.map { figures in
      call(
        Words.devicesOnline.with(
          Counted.grouped(figures.registrations), Counted.grouped(figures.connected)))
    }
    return """
      <li><a href="/console/apps/\(row.key.text)"><strong>\(row.name) \(row.key.mark)</strong>
      <span class="quiet">\(devices ?? "–")</span></a></li>

      """
  }

  // MARK: A new app

  private func showNewApp(_ call: PageCall) -> HTTPResponse { call.show(newAppPage(call, nil)) }

  private func newAppPage(_ call: PageCall, _ problem: Phrase?) -> Layout {
    Layout(
      call(Words.newApp),
      """
      <section class="card narrow">
      <h1>\(call(Words.newApp))</h1>
      <form method="post">
      \(Forms.token(call))
      \(Forms.field(call(Words.appName), "name", value: call.field("name"), problem: problem.map { call($0) }))
      <button>\(call(Words.make))</button>
      </form>
      </section>
      """)
  }

  private func makeApp(_ call: PageCall) async -> HTTPResponse {
    guard let account = call.account, let visitor = call.visitor else { return call.missing }
    let name = call.field("name")
    guard AppRequest.isName(name) else {
      return call.show(newAppPage(call, Words.appNameRule), status: 422)
    }
    let key = AppKey.random()
    let entry = call.entry("app.create", "\(name) (\(key.text))", by: visitor)
    let result = await awaitCallback {
      router.apps.create(name, key: key, for: account, noting: entry, reply: $0)
    }
    switch result {
    case .success(let app):
      return call.show(Layout.keys(call, name: name, key: app.key, secret: app.masterSecret ?? ""))
    case .failure(.tooMany):
      let problem = Words.tooManyApps.with(Counted.grouped(Apps.appsInAccount))
      return call.show(newAppPage(call, problem), status: 422)
    case .failure: return call.unavailable
    }
  }

  /// For an account without apps.
  func welcome(_ call: PageCall, _ membership: MembershipRow) -> HTML {
    guard membership.role >= .admin else { return "<p class=\"quiet\">\(call(Words.noApps))</p>" }
    return """
      <div class="welcome"><p class="big">\(call(Words.welcome))</p>
      <p>\(call(Words.welcomeText))</p>
      <p><a class="button" href="/console/accounts/\(membership.account.rawValue)/apps/new">\(call(Words.makeFirstApp))</a></p></div>
      """
  }

  /// A word above the list of apps if some of them need a look.
  func homeAlerts(_ call: PageCall, _ apps: [AppRow], _ figures: [AppID: AppFigures]) -> HTML {
    var counts: [ChannelID: Int] = [:]
    for app in apps {
      for channel in figures[app.id]?.alerts ?? [] { counts[channel, default: 0] += 1 }
    }
    guard !counts.isEmpty else { return .none }
    let texts = counts.sorted { $0.key < $1.key }.map { channel, count in
      call(Words.alertHome(router.channels.info(channel), count))
    }
    return """
      <div class="notice warn" role="status"><ul class="plain">\(texts, { "<li>\($0)</li>" })</ul>
      <a href="/console/credentials">\(call(Words.alertLook))</a></div>
      """
  }
}
