import PushAPNs
import PushBase
import PushRouter
import PushStorage

/// When the credentials of all of a visitor's apps end.
extension WebConsole {
  func showExpiries(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    let accounts = visitor.memberships.map(\.account)
    router.store.read { transaction throws(StorageError) -> [(app: AppRow, row: APNsCredentialRow)] in
      var known: [(app: AppRow, row: APNsCredentialRow)] = []
      for account in accounts {
        for app in try transaction.apps(of: account) {
          for row in try transaction.apnsCredentials(app: app.id) { known.append((app: app, row: row)) }
        }
      }
      return known
    } completion: { [self] result in
      guard case .success(let all) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      call.show(Layout(call(Words.expiriesTitle), expiries(call, visitor, all)))
    }
  }

  private func expiries(
    _ call: PageCall, _ visitor: Visitor, _ all: [(app: AppRow, row: APNsCredentialRow)]
  ) -> HTML {
    // What was replaced does not count any more.
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
      <td>\(call(Self.name(of: row)))<br><span class="quiet">\(row.topic)</span></td>
      <td>\(call(CredentialWords.service(row.environment)))</td><td>\(endText(call, row.expiresAt))</td>
      <td>\(statePill(call, row))</td></tr>

      """
  }

  /// A word above the list of apps if some of them need a look.
  func homeAlerts(_ call: PageCall, _ apps: [AppRow]) -> HTML {
    guard let apns else { return .none }
    let count = apps.count { router.app($0.key).map { !apns.alerts(of: $0).isEmpty } ?? false }
    guard count > 0 else { return .none }
    let text = count == 1 ? Words.alertHomeOne : Words.alertHome.with(String(count))
    return """
      <div class="notice warn" role="status"><p>\(call(text))</p>
      <a href="/console/credentials">\(call(Words.alertLook))</a></div>
      """
  }
}
