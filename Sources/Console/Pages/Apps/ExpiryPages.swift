import BorealisBase
import Core
import HTTP
import Model
import Storage

/// When the credentials of all of a visitor's apps end.
struct ExpiryPages: Controller {
  let router: Router
  let mail: ConsoleMail

  static let routes: [Route<ExpiryPages>] = [
    Route(.person, "GET", "/console/credentials") { await $0.showExpiries($1) }
  ]

  /// A credential with its app and its channel.
  private struct Entry: Sendable {
    let app: AppRow
    let channel: ChannelInfo
    let credential: StoredCredential
  }

  private func showExpiries(_ call: PageCall) async -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let result = await router.apps.rows(of: visitor.memberships.map(\.account))
    guard case .success(let rows) = result else { return call.unavailable }
    let apps = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    var all: [Entry] = []
    for channel in router.channels.credentials {
      guard case .success(let stored) = await channel.stored(of: rows.map(\.id)) else {
        return call.unavailable
      }
      // What was replaced ends for nobody.
      for credential in stored where !credential.isReplaced {
        guard let app = apps[credential.app] else { continue }
        all.append(Entry(app: app, channel: channel.info, credential: credential))
      }
    }
    return call.show(Layout(call(Words.expiriesTitle), expiries(call, visitor, all)))
  }

  private func expiries(_ call: PageCall, _ visitor: Visitor, _ all: [Entry]) -> HTML {
    let ending = all.compactMap { entry in entry.credential.expiresAt.map { (end: $0, entry: entry) } }
      .sorted { $0.end < $1.end }
    let lasting = all.filter { $0.credential.expiresAt == nil }
    var months: [(name: String, entries: [Entry])] = []
    for (end, entry) in ending {
      let name = String(router.zone.local(end).date.text.prefix(7))
      if months.last?.name == name {
        months[months.count - 1].entries.append(entry)
      } else {
        months.append((name, [entry]))
      }
    }
    let text = call(mail.isSetUp ? Words.expiriesText : Words.expiriesTextNoMail)
    let empty: HTML = all.isEmpty ? "<p class=\"card\">\(call(Words.noCredentials))</p>" : .none
    let rest: HTML =
      lasting.isEmpty ? .none : expiryTable(call, visitor, title: call(Words.neverEnds), lasting)
    return """
      <h1>\(call(Words.expiriesTitle))</h1><p class="quiet">\(text)</p>
      \(empty)
      \(months, { expiryTable(call, visitor, title: $0.name, $0.entries) })
      \(rest)
      """
  }

  private func expiryTable(_ call: PageCall, _ visitor: Visitor, title: String, _ entries: [Entry]) -> HTML {
    """
    <section class="card"><h2>\(title)</h2><table><thead><tr><th>\(call(Words.app))</th>
    <th>\(call(Words.credential))</th><th>\(call(Words.way))</th><th>\(call(Words.ends))</th>
    <th>\(call(Words.state))</th></tr></thead><tbody>
    \(entries, { expiryRow(call, visitor, $0) })
    </tbody></table></section>
    """
  }

  private func expiryRow(_ call: PageCall, _ visitor: Visitor, _ entry: Entry) -> HTML {
    let (app, credential) = (entry.app, entry.credential)
    let mayChange = visitor.role(in: app.account) ?? .viewer >= .admin
    let page = mayChange ? "/settings/credentials/\(entry.channel.name)" : ""
    let service = entry.channel.services.first { $0.name == credential.service }
    return """
      <tr><td><a href="/console/apps/\(app.key.text)\(page)">\(app.name)</a></td>
      <td>\(call(credential.name))<br><span class="quiet">\(credential.subject.value)</span></td>
      <td>\(call(Words.by(entry.channel)))\(
        service, { "<br><span class=\"quiet\">\(call(Phrase($0.english, $0.chinese)))</span>" })</td>
      <td>\(CredentialWords.end(call, credential.expiresAt))</td>
      <td>\(CredentialWords.state(call, credential))</td></tr>

      """
  }
}
