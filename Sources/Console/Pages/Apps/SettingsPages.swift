import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The parts of an app's settings.
enum SettingsPart: CaseIterable {
  case general, keys, requests, channels, callbacks, facts, approval, limits

  fileprivate var name: Phrase {
    switch self {
    case .general: Words.partGeneral
    case .keys: Words.partKeys
    case .requests: Words.requests
    case .channels: Words.partChannels
    case .callbacks: Words.partCallbacks
    case .facts: Words.partFacts
    case .approval: Words.partApproval
    case .limits: Words.partLimits
    }
  }

  fileprivate var path: String {
    switch self {
    case .general: ""
    case .keys: "/keys"
    case .requests: "/requests"
    case .channels: "/credentials"
    case .callbacks: "/callbacks"
    case .facts: "/facts"
    case .approval: "/approval"
    case .limits: "/limits"
    }
  }

  /// A page of an app's settings, with the ways to the others.
  func layout(_ call: PageCall, _ notice: Layout.Notice?, _ content: HTML) -> Layout {
    let path = "/console/apps/\(call.app?.key.text ?? "")/settings"
    func link(_ other: SettingsPart) -> HTML {
      let current: HTML = other == self ? #" aria-current="page""# : .none
      return "<a href=\"\(path)\(other.path)\"\(current)>\(call(other.name))</a> "
    }
    return Layout(
      call(Words.settings), tab: .settings, notice: notice,
      """
      <h1>\(call(Words.settings))</h1>
      <nav class="parts" aria-label="\(call(Words.settings))">\(SettingsPart.allCases, { link($0) })</nav>
      \(content)
      """)
  }
}

/// What an app is called, what its servers log in with, and its end.
struct SettingsPages: Controller {
  let router: Router
  let gateway: Gateway
  let devicePorts: DevicePorts

  static let routes: [Route<SettingsPages>] = [
    Route(.app(.admin), "GET", "/console/apps/{app}/settings") { await $0.showSettings($1, nil) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/rename") { await $0.renameApp($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/rotate", again: .showsPageAbove) {
      await $0.rotateSecret($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/retire") { await $0.retireSecret($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/getui", again: .showsPageAbove) {
      await $0.makeGetuiSecret($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/getui/off") { await $0.endGetui($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/seal") { await $0.changeSealing($1) },
    Route(.app(.owner), "POST", "/console/apps/{app}/settings/delete") { await $0.deleteApp($1) },
    Route(.app(.admin), "GET", "/console/apps/{app}/settings/limits") { await $0.showLimits($1, nil) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/limits/networks") {
      await $0.changeNetworks($1)
    },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/limits/plan") { await $0.changePlan($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/limits/caps") { await $0.changeCaps($1) },
    Route(.app(.admin), "POST", "/console/apps/{app}/settings/limits/quiet-hours") {
      await $0.changeQuietHours($1)
    },
  ]

  // MARK: Name, secrets, end

  func showSettings(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let rotated = app.hasOldSecret ? await router.apps.secretRotatedAt(app) : .success(nil)
    let getui = await getuiFacts(call, app)
    let sealed = await awaitCallback { router.apps.sealing(of: app, found: $0) }
    guard case .success(let moment) = rotated, case .success(let facts) = getui,
      case .success(let sealing) = sealed
    else { return call.unavailable }
    return await showSettings(call, app, rotatedAt: moment, facts, sealing, notice, status: status)
  }

  private func showSettings(
    _ call: PageCall, _ app: App, rotatedAt: Timestamp?, _ getui: GetuiFacts?, _ sealing: Apps.Sealing,
    _ notice: Layout.Notice?, status: Int
  ) async -> HTTPResponse {
    let path = "/console/apps/\(app.key.text)/settings"
    let end: HTML = call.role == .owner ? deletion(call, app, path) : .none
    let content: HTML = """
      \(naming(call, app, path))
      \(connectionCard(call, app))
      \(secretCard(call, app, rotatedAt))
      \(getuiCard(call, app, getui))
      \(sealingCard(call, app, sealing))
      \(end)
      """
    return call.show(SettingsPart.general.layout(call, notice, content), status: status)
  }

  private func naming(_ call: PageCall, _ app: App, _ path: String) -> HTML {
    Forms.part(
      call(Words.appName),
      """
      <form class="unlabelled" method="post" action="\(path)/rename">\(Forms.token(call))
      \(Forms.field(call(Words.appName), "name", value: app.name))
      <button class="plain">\(call(Words.rename))</button></form>
      """)
  }

  private func deletion(_ call: PageCall, _ app: App, _ path: String) -> HTML {
    Forms.part(
      call(Words.deleteApp), about: "<p>\(call(Words.deleteAppText))</p>", isDanger: true,
      """
      <form method="post" action="\(path)/delete">\(Forms.token(call))
      \(Forms.field(call(Words.typeName.with(app.name)), "confirmation"))
      <button class="danger">\(call(Words.deleteApp))</button></form>
      """)
  }

  private func renameApp(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let name = call.field("name")
    guard AppRequest.isName(name) else {
      return await showSettings(call, .init(text: call(Words.appNameRule), isBad: true), status: 422)
    }
    let entry = call.entry("app.rename", "\(app.name) → \(name)", by: visitor, app: app.id)
    let result = await router.apps.rename(app, to: name, noting: entry)
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings", notice: .saved)
  }

  private func deleteApp(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    // White space is typed as it shows, which is folded.
    guard Self.folded(call.field("confirmation")) == Self.folded(app.name) else {
      return await showSettings(call, .init(text: call(Words.nameDiffers), isBad: true), status: 422)
    }
    let entry = call.entry("app.delete", "\(app.name) (\(app.key.text))", by: visitor, app: app.id)
    let result = await awaitCallback {
      router.apps.delete(app.key, of: app.account, noting: entry, reply: $0)
    }
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/")
  }

  /// A name as a page shows it: without white space around it, and with one space for each run of it.
  private static func folded(_ name: String) -> String {
    name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  // MARK: Plan and limits

  func showLimits(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let day = router.zone.local(call.now).date.dayNumber
    let result = await router.apps.limits(of: app, on: day)
    guard case .success(let limits) = result, let row = limits.app else { return call.unavailable }
    let (plans, broadcasts) = (limits.plans, limits.broadcasts)
    let content: HTML = """
      \(planCard(call, app, row, plans, broadcasts))
      \(capsCard(call, app))
      \(quietHoursCard(call, app))
      \(networksCard(call, app, row))
      """
    return call.show(SettingsPart.limits.layout(call, notice, content), status: status)
  }

  private func planCard(
    _ call: PageCall, _ app: App, _ row: AppRow, _ plans: [PlanRow], _ broadcasts: Int
  ) -> HTML {
    let plan = row.plan
    let calls = gateway.use(of: app).map { use in
      limitRow(call, Self.word(for: use.api), limit: use.quota, used: use.used)
    }
    let isOperator = call.visitor?.person.isOperator == true
    let change: HTML =
      isOperator
      ? """
      <form class="row unlabelled" method="post" action="/console/apps/\(app.key.text)/settings/limits/plan">\(Forms.token(call))
      \(Forms.choice(call(Words.plan), "plan", plans.map { ($0.name, $0.name) }, chosen: plan.name))
      <button class="small">\(call(Words.changePlan))</button></form>
      """ : "<p class=\"quiet\">\(call(Words.planText))</p>"
    return """
      <section class="card"><div class="row"><h2>\(call(Words.plan))</h2>\(
        if: !isOperator, "<span class=\"pill\">\(plan.name)</span>")</div>
      \(change)
      <table><thead><tr><th>\(call(Words.what))</th><th>\(call(Words.limit))</th><th>\(call(Words.usedNow))</th></tr></thead>
      <tbody>
      \(calls, { $0 })
      \(limitRow(call, Words.broadcasts, limit: plan.broadcasts, used: plan.broadcasts == nil ? nil : broadcasts))
      \(limitRow(call, Words.devices, limit: plan.registrations, used: app.directory.registrationCount))
      \(limitRow(call, Words.speedLimit, limit: plan.speed, used: nil))
      \(limitRow(call, Words.longestTime, limit: (plan.maxTimeToLive ?? 864_000) / 3600, used: nil))
      </tbody></table></section>
      """
  }

  private func limitRow(_ call: PageCall, _ name: Phrase, limit: Int?, used: Int?) -> HTML {
    """
    <tr><td>\(call(name))</td><td class="number" data-label="\(call(Words.limit))">\(limit.map { Counted.grouped($0) } ?? call(Words.noLimit))</td>
    <td class="number" data-label="\(call(Words.usedNow))">\(used.map { Counted.grouped($0) } ?? "–")</td></tr>

    """
  }

  private static func word(for api: String) -> Phrase {
    switch api {
    case "device": Words.callsDevice
    case "schedule": Words.callsSchedule
    case "report": Words.callsReport
    case "file": Words.callsFile
    default: Words.callsPush
    }
  }

  private func networksCard(_ call: PageCall, _ app: App, _ row: AppRow) -> HTML {
    let stored = (row.allowedNetworks ?? "").split(separator: " ").joined(separator: "\n")
    return Forms.part(
      call(Words.allowList), about: "<p>\(call(Words.allowListText))</p>",
      """
      <form method="post" action="/console/apps/\(app.key.text)/settings/limits/networks">\(Forms.token(call))
      <label for="networks">\(call(Words.networks))</label>
      <textarea id="networks" name="networks" rows="5" aria-describedby="networks-hint" spellcheck="false">\(
        call.text("networks") ?? stored)</textarea>
      <p class="hint" id="networks-hint">\(call(Words.networksHint))</p>
      <button>\(call(Words.save))</button></form>
      """)
  }

  private func changeNetworks(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let networks: [String]
    do throws(FieldProblem) { networks = try call.networks().map(\.text) } catch {
      return await showLimits(call, .init(text: call(error.phrase), isBad: true), status: 422)
    }
    let stored = networks.isEmpty ? nil : networks.joined(separator: " ")
    let entry = call.entry("app.networks", stored ?? "any", by: visitor, app: app.id)
    let result = await router.apps.setAllowedNetworks(stored, of: app, noting: entry)
    guard case .success = result else { return call.unavailable }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings/limits", notice: .saved)
  }

  /// Only for operators: a plan is what keeps an app within what its account pays for.
  private func changePlan(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    guard visitor.person.isOperator else { return call.missing }
    let plan = call.field("plan")
    let entry = call.entry("app.plan", plan, by: visitor, app: app.id)
    let result = await router.apps.setPlan(plan, of: app, noting: entry)
    switch result {
    case .success: return call.redirect(to: "/console/apps/\(app.key.text)/settings/limits", notice: .saved)
    case .failure(.unavailable): return call.unavailable
    case .failure: return call.missing
    }
  }
}
