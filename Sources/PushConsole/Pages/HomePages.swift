import PushBase
import PushDomain
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// All apps of a visitor, and making one.
  static let homePages: [Page] = [
    Page(.person, "GET", "/console") { $0.showHome($1) },
    Page(.account(.admin), "GET", "/console/accounts/{account}/apps/new") { $0.showNewApp($1) },
    Page(.account(.admin), "POST", "/console/accounts/{account}/apps/new", again: .showsPageAbove) {
      $0.makeApp($1)
    },
  ]

  private func showHome(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    // Apps that another process made are found by their rows.
    router.store.read { transaction throws(StorageError) in
      var rows: [AppRow] = []
      for membership in visitor.memberships { rows += try transaction.apps(of: membership.account) }
      return rows
    } completion: { [self] result in
      guard case .success(let rows) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let sections = visitor.memberships.map { membership in
        homeSection(call, membership, rows.filter { $0.account == membership.account })
      }
      let own = Set(visitor.memberships.map(\.account))
      let alerts = homeAlerts(call, rows.filter { own.contains($0.account) })
      let text = sections.isEmpty ? "<p class=\"card\">\(call(Words.noAccounts))</p>" : HTML.none
      call.show(
        Layout(call(Words.apps), "\(alerts)\(homeHead(call, visitor))\(text)\(sections, { $0 })"))
    }
  }

  private func homeHead(_ call: PageCall, _ visitor: Visitor) -> HTML {
    let operators: HTML =
      visitor.person.isOperator ? "<a href=\"/console/operator\">\(call(Words.operatorTitle))</a>" : .none
    return """
      <div class="row titled"><h1>\(call(Words.apps))</h1><span class="end">
      <a href="/console/credentials">\(call(Words.expiriesTitle))</a> \(operators)</span></div>
      """
  }

  private func homeSection(_ call: PageCall, _ membership: MembershipRow, _ apps: [AppRow]) -> HTML {
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
      <ul class="apps">\(apps, { homeEntry(call, $0) })</ul>
      </section>
      """
  }

  private func homeEntry(_ call: PageCall, _ row: AppRow) -> HTML {
    let directory = router.app(row.key)?.directory
    return """
      <li><a href="/console/apps/\(row.key.text)"><strong>\(row.name) \(keyMark(row.key))</strong>
      <span class="quiet">\(call(Words.devicesOnline.with(
        String(directory?.registrationCount ?? 0), String(directory?.onlineCount ?? 0))))</span></a></li>

      """
  }

  // MARK: A new app

  private func showNewApp(_ call: PageCall) { call.show(newAppPage(call, nil)) }

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

  private func makeApp(_ call: PageCall) {
    guard let account = call.account, let visitor = call.visitor else { return }
    let name = call.field("name")
    guard AppRequest.isName(name) else {
      return call.show(newAppPage(call, Words.appNameRule), status: 422)
    }
    let key = AppKey.random()
    let entry = entry("app.create", "\(name) (\(key.text))", by: visitor, call)
    router.createApp(name, key: key, for: account, noting: entry) { [self] result in
      switch result {
      case .success(let app):
        call.show(keysPage(call, name: name, key: app.key, secret: app.masterSecret ?? ""))
      case .failure(.tooMany):
        let problem = Words.tooManyApps.with(String(Router.appsInAccount))
        call.show(newAppPage(call, problem), status: 422)
      case .failure: call.show(Failures.unavailable(call), status: 503)
      }
    }
  }

  /// The one page that ever shows a secret.
  func keysPage(_ call: PageCall, name: String, key: AppKey, secret: String) -> Layout {
    Layout(
      call(Words.keysTitle),
      """
      <section class="card narrow">
      <h1>\(name)</h1>
      <p>\(call(Words.keysText))</p>
      <dl class="keys">
      <dt>\(call(Words.appKey))</dt><dd><code>\(key.text)</code> \(copyButton(call, key.text))</dd>
      <dt>\(call(Words.masterSecret))</dt><dd><code>\(secret)</code> \(copyButton(call, secret))</dd>
      </dl>
      <p><a class="button" href="/console/apps/\(key.text)">\(call(Words.toApp))</a>
      <a class="button plain" href="/console/apps/\(key.text)/virtual">\(call(Words.tryWithVirtualDevice))</a></p>
      </section>
      """)
  }

  /// Enough of an app's key to tell it from others of the same name.
  func keyMark(_ key: AppKey) -> HTML { "<code class=\"quiet\">\(String(key.text.prefix(8)))</code>" }

  func copyButton(_ call: PageCall, _ text: String) -> HTML {
    """
    <button type="button" class="small" hidden data-copy="\(text)" data-done="\(call(Words.copied))"
      data-manual="\(call(Words.pressCopy))">\(call(Words.copy))</button>
    """
  }
}
