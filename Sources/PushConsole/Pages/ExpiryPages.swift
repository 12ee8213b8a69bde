import PushAPNs
import PushBase
import PushHTTP
import PushRouter
import PushStorage

/// When the credentials of all of a visitor's apps end.
struct ExpiryPages: Controller {
  let router: Router
  let credentials: CredentialRecords
  let mail: ConsoleMail

  static let routes: [Route<ExpiryPages>] = [
    Route(.person, "GET", "/console/credentials") { await $0.showExpiries($1) }
  ]

  private func showExpiries(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let result = await credentials.all(of: visitor.memberships.map(\.account))
    guard case .success(let all) = result else { return call.unavailable }
    return call.show(Layout(call(Words.expiriesTitle), expiries(call, visitor, all)))
  }

  private func expiries(
    _ call: PageCall, _ visitor: Visitor, _ all: [(app: AppRow, row: APNsCredentialRow)]
  ) -> HTML {
    // Replaced credentials do not count.
    let used = all.filter { $0.row.replacedBy == nil }
    let ending = used.filter { $0.row.expiresAt != nil }.sorted {
      ($0.row.expiresAt ?? call.now, $0.row.id) < ($1.row.expiresAt ?? call.now, $1.row.id)
    }
    let lasting = used.filter { $0.row.expiresAt == nil }
    var months: [(name: String, entries: [(app: AppRow, row: APNsCredentialRow)])] = []
    for entry in ending {
      let name = entry.row.expiresAt.map { String(router.zone.local($0).date.text.prefix(7)) } ?? ""
      if months.last?.name == name {
        months[months.count - 1].entries.append(entry)
      } else {
        months.append((name, [entry]))
      }
    }
    let text = call(mail.isSetUp ? Words.expiriesText : Words.expiriesTextNoMail)
    let empty: HTML = used.isEmpty ? "<p class=\"card\">\(call(Words.noCredentials))</p>" : .none
    let rest: HTML =
      lasting.isEmpty ? .none : expiryTable(call, visitor, title: call(Words.neverEnds), lasting)
    return """
      <h1>\(call(Words.expiriesTitle))</h1><p class="quiet">\(text)</p>
      \(empty)
      \(months, { expiryTable(call, visitor, title: $0.name, $0.entries) })
      \(rest)
      """
  }

  private func expiryTable(
    _ call: PageCall, _ visitor: Visitor, title: String,
    _ entries: [(app: AppRow, row: APNsCredentialRow)]
  ) -> HTML {
    """
    <section class="card"><h2>\(title)</h2><table><thead><tr><th>\(call(Words.app))</th>
    <th>\(call(Words.credential))</th><th>\(call(Words.service))</th><th>\(call(Words.ends))</th>
    <th>\(call(Words.state))</th></tr></thead><tbody>
    \(entries, { expiryRow(call, visitor, $0.app, $0.row) })
    </tbody></table></section>
    """
  }

  private func expiryRow(
    _ call: PageCall, _ visitor: Visitor, _ app: AppRow, _ row: APNsCredentialRow
  ) -> HTML {
    let mayChange = visitor.role(in: app.account) ?? .viewer >= .admin
    let path = "/console/apps/\(app.key.text)\(mayChange ? "/settings/apple" : "")"
    return """
      <tr><td><a href="\(path)">\(app.name)</a></td>
      <td>\(call(CredentialPages.name(of: row)))<br><span class="quiet">\(row.topic)</span></td>
      <td>\(call(CredentialWords.service(row.environment)))</td><td>\(CredentialPages.endText(call, row.expiresAt))</td>
      <td>\(CredentialPages.statePill(call, row))</td></tr>

      """
  }
}
