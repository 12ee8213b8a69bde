import BorealisBase
import Core
import HTTP
import Storage

/// What was done: in an account, to the installation, by oneself.
struct AuditPages: Controller {
  let log: AuditLog

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
    let older = hasMore ? found.entries.last?.id : nil
    return call.show(
      Layout(
        call(title),
        """
        <div class="row"><h1>\(call(title))</h1>
        \(back, { "<span class=\"end\"><a href=\"\($0.path)\">\(call($0.name))</a></span>" })</div>
        \(text, { "<p class=\"quiet\">\(call($0))</p>" })
        <section class="card">\(Self.table(call, found))
        \(older, { "<p><a class=\"button plain\" href=\"?before=\($0)\">\(call(Words.older))</a></p>" })</section>
        """))
  }

  /// Entries as a table; a word about it if there are none.
  static func table(_ call: PageCall, _ list: AuditList) -> HTML {
    guard !list.entries.isEmpty else { return "<p class=\"quiet\">\(call(Words.nothingDone))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.when))</th><th>\(call(Words.who))</th><th>\(call(Words.action))</th>
      <th>\(call(Words.what))</th><th>\(call(Words.app))</th><th>\(call(Words.from))</th></tr></thead><tbody>
      \(list.entries, { auditRow(call, $0.entry, $0.entry.app.flatMap { list.apps[$0] }) })
      </tbody></table>
      """
  }

  private static func auditRow(_ call: PageCall, _ entry: AuditRow, _ app: AppName?) -> HTML {
    """
    <tr><td class="short">\(call.moment(entry.at))</td><td>\(signature(entry.who))</td>
    <td title="\(entry.action)">\(call(AuditWords.phrase(entry.action)))</td><td>\(entry.target)</td>
    <td data-label="\(call(Words.app))">\(app, { "\($0.name) \($0.key.mark)" })</td><td class="short">\(entry.address)</td></tr>

    """
  }

  /// A name above its address.
  private static func signature(_ who: String) -> HTML {
    guard let address = who.lastIndex(of: "<"), who.hasSuffix(">") else { return "\(who)" }
    return """
      \(String(who[..<address]))<span class="quiet">\(addressText(String(who[address...].dropFirst().dropLast())))</span>
      """
  }
}
