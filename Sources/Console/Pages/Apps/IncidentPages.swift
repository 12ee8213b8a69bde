import BorealisBase
import Core
import HTTP
import Storage

/// What needed somebody in an app, with begin and end.
struct IncidentPages: Controller {
  let router: Router

  static let routes: [Route<IncidentPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/incidents") { await $0.showIncidents($1) }
  ]

  /// Rows on a page.
  private static let listed = 50

  private func showIncidents(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let before = call.target["before"].flatMap { Int64($0) } ?? .max
    // One more than is shown says whether there are more.
    let result = await router.incidents.list(of: app, before: before, limit: Self.listed + 1)
    guard case .success(let found) = result else { return call.unavailable }
    let incidents = Array(found.prefix(Self.listed))
    let path = "/console/apps/\(app.key.text)/incidents"
    let last = found.count > incidents.count ? incidents.last : nil
    let rest = call.paging(
      newest: before == .max ? nil : path, older: last.map { "\(path)?before=\($0.row.id)" })
    return call.show(
      Layout(
        call(Words.incidents), tab: .overview,
        """
        <h1>\(call(Words.incidents))</h1>
        <p class="lead quiet">\(call(Words.incidentsText))</p>
        <section class="card">\(table(call, app, incidents))\(rest)</section>
        """))
  }

  private func table(_ call: PageCall, _ app: App, _ incidents: [Incident]) -> HTML {
    guard !incidents.isEmpty else { return "<p class=\"quiet\">\(call(Words.noIncidents))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.incidentBegan))</th><th>\(call(Words.incidentEnded))</th>
      <th>\(call(Words.incidentWhat))</th><th class="number">\(call(Words.pushesMeanwhile))</th></tr></thead><tbody>
      \(incidents, { row(call, app, $0) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ app: App, _ incident: Incident) -> HTML {
    let row = incident.row
    let end: HTML =
      row.endedAt.map { "\(call.moment($0))" } ?? "\(call.state(.failed, Words.incidentLasts))"
    let count =
      Counted.grouped(incident.pushes) + (incident.pushes == Incidents.mostPushes ? "+" : "")
    let (from, to) = (call.zone.local(row.beganAt), call.zone.local(row.endedAt ?? call.now))
    let query = AddressText.query([("from", from.date.text), ("to", to.date.text)])
    return """
      <tr><td class="when">\(call.moment(row.beganAt))</td>
      <td class="when" data-label="\(call(Words.incidentEnded))">\(end)</td><td>\(call(row.phrase))</td>
      <td class="number" data-label="\(call(Words.pushesMeanwhile))"><a href="/console/apps/\(app.key.text)/pushes\(query)">\(count)</a></td></tr>

      """
  }
}
