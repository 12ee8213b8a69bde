import BorealisBase
import Core
import HTTP
import Storage

/// What was done: in an account, to the installation, by oneself.
struct AuditPages: Controller {
  let log: AuditLog
  let router: Router

  static let routes: [Route<AuditPages>] = [
    Route(.account(.admin), "GET", "/console/accounts/{account}/audit") { console, call in
      guard let account = call.account else { return call.missing }
      return await console.showAudit(call, .account(account), Words.audit)
    },
    Route(.operators, "GET", "/console/operator/audit") { console, call in
      return await console.showAudit(
        call, .installation, Words.auditOfInstallation, text: Words.auditOfInstallationText,
        back: ("/console/operator", Words.operatorTitle))
    },
    Route(.person, "GET", "/console/me/audit") { console, call in
      guard let visitor = call.visitor else { return call.missing }
      return await console.showAudit(
        call, .person(visitor.person.id), Words.yourAudit, text: Words.yourAuditText,
        back: ("/console/me", Words.yourAccount))
    },
  ]

  /// Entries of a page.
  private static let listed = 100

  private func showAudit(
    _ call: PageCall, _ scope: AuditScope, _ title: Phrase, text: Phrase? = nil,
    back: (path: String, name: Phrase)? = nil
  ) async -> HTTPResponse {
    let before = call.target["before"].flatMap { Int64($0) }
    // One more, to see whether there are older ones.
    let result = await log.list(scope, before: before, limit: Self.listed + 1)
    guard case .success(var found) = result else { return call.unavailable }
    let hasMore = found.entries.count > Self.listed
    if hasMore { found.entries.removeLast() }
    let accounts = call.account.map { [$0] } ?? call.visitor?.memberships.map(\.account) ?? []
    guard case .success(let apps) = await router.apps.rows(of: accounts) else { return call.unavailable }
    let open = Set(apps.map(\.key))
    let older = hasMore ? found.entries.last?.id : nil
    return call.show(
      Layout(
        call(title),
        """
        <div class="row titled"><h1>\(call(title))</h1>
        \(back, { "<span class=\"end\"><a href=\"\($0.path)\">\(call($0.name))</a></span>" })</div>
        \(text, { "<p class=\"quiet\">\(call($0))</p>" })
        <section class="card">\(AuditStory(call: call, apps: found.apps, open: open).html(found.entries))
        \(older, { "<p><a class=\"button plain\" href=\"?before=\($0)\">\(call(Words.older))</a></p>" })</section>
        """))
  }
}
