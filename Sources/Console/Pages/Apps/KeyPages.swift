import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The API keys of an app.
struct KeyPages: Controller {
  let router: Router

  static let routes: [Route<KeyPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/settings/keys") { await $0.showKeys($1, nil) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/keys", again: .showsPage) {
      await $0.createKey($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/keys/{id}/revoke") { await $0.revokeKey($1) },
  ]

  private static func path(_ app: App) -> String { "/console/apps/\(app.key.text)/settings/keys" }

  /// After how many days a key expires; 0 for never.
  private static let lifetimes: [(days: Int64, phrase: Phrase)] = [
    (30, Words.keyDays.with("30")), (90, Words.keyDays.with("90")), (365, Words.keyDays.with("365")),
    (0, Words.keyNever),
  ]

  // MARK: The list

  private func showKeys(
    _ call: PageCall, _ problem: KeyProblem?, notice: Layout.Notice? = nil, status: Int = 200
  ) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    guard case .success(let rows) = await awaitCallback({ router.apps.keys(of: app, found: $0) }) else {
      return call.unavailable
    }
    let live = rows.filter { $0.revokedAt == nil }
    return call.show(
      SettingsPart.keys.layout(
        call, notice,
        """
        \(list(call, app, live.reversed()))
        \(form(call, app, problem))
        """), status: status)
  }

  private func list(_ call: PageCall, _ app: App, _ rows: [APIKeyRow]) -> HTML {
    guard !rows.isEmpty else {
      return "<section class=\"card\"><p class=\"quiet\">\(call(Words.noKeys))</p></section>"
    }
    let uses = app.keyUses
    return """
      <section class="card"><table><thead><tr><th>\(call(Words.keyName))</th><th>\(call(Words.keyRights))</th>
      <th>\(call(Words.keyNetworks))</th><th>\(call(Words.keyUsed))</th><th>\(call(Words.keyExpires))</th><td></td></tr></thead><tbody>
      \(rows, { row(call, app, $0, usedAt: uses[$0.id] ?? $0.lastUsedAt) })
      </tbody></table></section>

      """
  }

  private func row(_ call: PageCall, _ app: App, _ row: APIKeyRow, usedAt: Timestamp?) -> HTML {
    let grant = row.grant
    let networks: HTML =
      grant.networks.map { "\($0, { "<code>\($0.text)</code> " })" } ?? "\(call(Words.anyAddress))"
    let requests = "/console/apps/\(app.key.text)/settings/requests?key=\(row.id)"
    let used: HTML =
      usedAt.map { "<a href=\"\(requests)\">\(call.moment($0))</a>" }
      ?? "<span class=\"quiet\">\(call(Words.keyNeverUsed))</span>"
    let end: HTML = grant.expiresAt.map { call.moment($0) } ?? "\(call(Words.keyNever))"
    let isOver = grant.isExpired(at: call.now)
    let expired: HTML = isOver ? " \(call.state(.failed, Words.keyExpired))" : .none
    return """
      <tr><td><strong>\(grant.name)</strong> <code class="quiet">…\(row.secretEnd)</code></td>
      <td data-label="\(call(Words.keyRights))">\(grant.rights.rights, { "<span class=\"pill\">\(call($0.phrase))</span> " })</td>
      <td data-label="\(call(Words.keyNetworks))">\(networks)</td>
      <td data-label="\(call(Words.keyUsed))">\(used)</td>
      <td data-label="\(call(Words.keyExpires))">\(end)\(expired)</td>
      <td class="number">\(Forms.sure(call, Words.revokeKey, "\(Self.path(app))/\(row.id)/revoke", Words.revokeKeyText))</td></tr>

      """
  }

  // MARK: Creating

  /// What is wrong with the form.
  private struct KeyProblem {
    var name: Phrase?
    var rights: Phrase?
    var networks: Phrase?
  }

  private func form(_ call: PageCall, _ app: App, _ problem: KeyProblem?) -> HTML {
    func box(_ right: APIRight) -> HTML {
      let name = "right-\(right.rawValue)"
      return Forms.box(
        name, call(right.phrase), hint: call(right.explanation), isChosen: call.text(name) != nil)
    }
    let choices = Self.lifetimes.map { (value: String($0.days), text: call($0.phrase)) }
    return Forms.part(
      call(Words.newKey),
      about:
        "<p>\(call(Words.keysAbout)) \(call.docsLink(Words.docsOfKeys, "api/jpush", anchor: "api-keys"))</p>",
      """
      <form method="post" action="\(Self.path(app))">\(Forms.token(call))
      \(Forms.field(call(Words.keyName), "name", value: call.field("name"), hint: call(Words.keyNameHint),
        problem: problem?.name.map { call($0) }))
      <fieldset><legend>\(call(Words.keyRights))</legend>
      \(problem?.rights, { "<p class=\"problem\" role=\"alert\">\(call($0))</p>" })
      \(APIRight.allCases, { box($0) })</fieldset>
      \(Forms.choice(call(Words.keyLifetime), "days", choices, chosen: call.text("days") ?? "365"))
      \(Forms.lines(call(Words.networks), "networks", id: "networks", value: call.text("networks") ?? "",
        isRequired: false, hint: call(Words.keyNetworksHint), problem: problem?.networks.map { call($0) }))
      <button>\(call(Words.createKey))</button></form>
      """)
  }

  private func createKey(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let (grant, problem) = grant(call)
    guard let grant else { return await showKeys(call, problem, status: 422) }
    let entry = call.entry("key.create", "\(grant.name): \(grant.rights.text)", by: visitor, app: app.id)
    let result = await awaitCallback { router.apps.createKey(grant, of: app, noting: entry, done: $0) }
    switch result {
    case .success(let created): return call.show(page(call, app, created))
    case .failure(.tooMany):
      let text = call(Words.tooManyKeys.with(String(Apps.keysInApp)))
      return await showKeys(call, nil, notice: .init(text: text, isBad: true), status: 422)
    case .failure: return call.unavailable
    }
  }

  /// What the form asks for, or what is wrong with it.
  private func grant(_ call: PageCall) -> (APIKeyGrant?, KeyProblem) {
    var problem = KeyProblem()
    let name = call.field("name")
    if !AppRequest.isName(name) { problem.name = Words.appNameRule }
    let rights = APIRights(
      APIRight.allCases.filter { call.text("right-\($0.rawValue)") != nil }.map { APIRights($0) })
    if rights.isEmpty { problem.rights = Words.keyNeedsRight }
    var networks: [IPNetwork] = []
    do throws(FieldProblem) { networks = try call.networks() } catch { problem.networks = error.phrase }
    let days = Self.lifetimes.first { String($0.days) == call.field("days") }?.days ?? 365
    guard problem.name == nil, problem.rights == nil, problem.networks == nil else { return (nil, problem) }
    return (
      APIKeyGrant(
        name: name, rights: rights, networks: networks.isEmpty ? nil : networks,
        expiresAt: days == 0 ? nil : call.now.adding(seconds: days * 86_400)), problem
    )
  }

  /// The one page that ever shows the secret.
  private func page(_ call: PageCall, _ app: App, _ created: Apps.CreatedKey) -> Layout {
    Layout(
      call(Words.keysTitle), tab: .settings,
      """
      <section class="card narrow">
      <h1>\(created.row.grant.name)</h1>
      <p>\(call(Words.keySecretText))</p>
      <dl class="keys">
      <dt>\(call(Words.appKey))</dt><dd><code>\(app.key.text)</code> \(call.copyButton(app.key.text))</dd>
      <dt>\(call(Words.keySecret))</dt><dd><code>\(created.secret)</code> \(call.copyButton(created.secret))</dd>
      <dt>\(call(Words.keyRights))</dt><dd>\(created.row.grant.rights.rights, { "<span class=\"pill\">\(call($0.phrase))</span> " })</dd>
      </dl>
      <p><a class="button" href="\(Self.path(app))">\(call(Words.toKeys))</a></p>
      </section>
      """)
  }

  // MARK: Revoking

  private func revokeKey(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let id = call.capture("id").flatMap({ Int64($0) })
    else { return call.missing }
    let result = await awaitCallback {
      router.apps.revokeKey(
        id, of: app, noting: { call.entry("key.revoke", $0, by: visitor, app: app.id) }, done: $0)
    }
    switch result {
    case .success: return call.redirect(to: Self.path(app), notice: .keyRevoked)
    case .failure(.unknown): return call.missing
    case .failure: return call.unavailable
    }
  }
}

extension APIRight {
  /// What it is called on pages.
  fileprivate var phrase: Phrase {
    switch self {
    case .push: Words.rightPush
    case .devices: Words.rightDevices
    case .reports: Words.rightReports
    case .settings: Words.rightSettings
    }
  }

  fileprivate var explanation: Phrase {
    switch self {
    case .push: Words.rightPushText
    case .devices: Words.rightDevicesText
    case .reports: Words.rightReportsText
    case .settings: Words.rightSettingsText
    }
  }
}
