import PushBase
import PushDomain
import PushGateway
import PushRouter
import PushStorage

/// The parts of an app's settings.
enum SettingsPart: CaseIterable {
  case general, apple, callbacks, limits

  fileprivate var name: Phrase {
    switch self {
    case .general: Words.partGeneral
    case .apple: Words.partApple
    case .callbacks: Words.partCallbacks
    case .limits: Words.partLimits
    }
  }

  fileprivate var path: String {
    switch self {
    case .general: ""
    case .apple: "/apple"
    case .callbacks: "/callbacks"
    case .limits: "/limits"
    }
  }
}

extension WebConsole {
  /// What an app is called, what its servers log in with, and its end.
  static let settingsPages: [Page] = [
    Page(.app(.admin), "GET", "/console/apps/{app}/settings") { $0.showSettings($1, nil) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/rename") { $0.renameApp($1) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/rotate", again: .showsPageAbove) {
      $0.rotateSecret($1)
    },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/retire") { $0.retireSecret($1) },
    Page(.app(.owner), "POST", "/console/apps/{app}/settings/delete") { $0.deleteApp($1) },
    Page(.app(.admin), "GET", "/console/apps/{app}/settings/limits") { $0.showLimits($1, nil) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/limits/networks") { $0.changeNetworks($1) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/limits/plan") { $0.changePlan($1) },
  ]

  /// A page of an app's settings, with the ways to the others.
  func settingsPage(
    _ call: PageCall, _ part: SettingsPart, _ notice: Layout.Notice?, _ content: HTML
  ) -> Layout {
    let path = "/console/apps/\(call.app?.key.text ?? "")/settings"
    func link(_ other: SettingsPart) -> HTML {
      let current: HTML = other == part ? #" aria-current="page""# : .none
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

  // MARK: Name, secrets, end

  func showSettings(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) {
    guard let app = call.app else { return }
    guard app.hasOldSecret else { return showSettings(call, app, rotatedAt: nil, notice, status: status) }
    router.store.read { transaction throws(StorageError) in
      try transaction.secretRotatedAt(app: app.id, of: app.account)
    } completion: { [self] result in
      guard case .success(let moment) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      showSettings(call, app, rotatedAt: moment, notice, status: status)
    }
  }

  private func showSettings(
    _ call: PageCall, _ app: App, rotatedAt: Timestamp?, _ notice: Layout.Notice?, status: Int
  ) {
    let path = "/console/apps/\(app.key.text)/settings"
    let end: HTML = call.role == .owner ? deletion(call, app, path) : .none
    let content: HTML = """
      <section class="card narrow"><h2>\(call(Words.appName))</h2>
      <form class="unlabelled" method="post" action="\(path)/rename">\(Forms.token(call))
      \(Forms.field(call(Words.appName), "name", value: app.name))
      <button>\(call(Words.rename))</button></form></section>
      \(secretCard(call, app, rotatedAt))
      \(end)
      """
    call.show(settingsPage(call, .general, notice, content), status: status)
  }

  private func deletion(_ call: PageCall, _ app: App, _ path: String) -> HTML {
    """
    <section class="card narrow"><h2>\(call(Words.deleteApp))</h2><p>\(call(Words.deleteAppText))</p>
    <form method="post" action="\(path)/delete">\(Forms.token(call))
    \(Forms.field(call(Words.typeName.with(app.name)), "confirmation"))
    <button class="danger">\(call(Words.deleteApp))</button></form></section>
    """
  }

  private func renameApp(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    let name = call.field("name")
    guard (1...80).contains(name.utf8.count), AppRequest.isName(name) else {
      return showSettings(call, .init(text: call(Words.nameRule), isBad: true), status: 422)
    }
    let entry = entry("app.rename", "\(app.name) → \(name)", by: visitor, call, app: app.id)
    router.change(app) { transaction throws(StorageError) in
      try transaction.audit(entry)
      return try transaction.rename(app: app.id, name)
    } done: { result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      call.redirect(to: "/console/apps/\(app.key.text)/settings", saying: .saved)
    }
  }

  private func deleteApp(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    // White space is typed as it shows, which is folded.
    guard Self.folded(call.field("confirmation")) == Self.folded(app.name) else {
      return showSettings(call, .init(text: call(Words.nameDiffers), isBad: true), status: 422)
    }
    let entry = entry("app.delete", "\(app.name) (\(app.key.text))", by: visitor, call, app: app.id)
    router.deleteApp(app.key, of: app.account, noting: entry) { result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      call.redirect(to: "/console/")
    }
  }

  /// A name as a page shows it: without white space around it, and with one space for each run of it.
  private static func folded(_ name: String) -> String {
    name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  // MARK: Plan and limits

  private func showLimits(_ call: PageCall, _ notice: Layout.Notice?, status: Int = 200) {
    guard let app = call.app else { return }
    let day = router.zone.local(call.now).date.dayNumber
    router.store.read { transaction throws(StorageError) in
      (
        try transaction.app(key: app.key), try transaction.plans(),
        try transaction.broadcasts(of: app.id, on: day)
      )
    } completion: { [self] result in
      guard case .success(let (row?, plans, broadcasts)) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let content: HTML = """
        \(planCard(call, app, row, plans, broadcasts))
        \(networksCard(call, app, row))
        """
      call.show(settingsPage(call, .limits, notice, content), status: status)
    }
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
    return """
      <section class="card"><h2>\(call(Words.allowList))</h2><p class="quiet">\(call(Words.allowListText))</p>
      <form method="post" action="/console/apps/\(app.key.text)/settings/limits/networks">\(Forms.token(call))
      <label for="networks">\(call(Words.networks))</label>
      <textarea id="networks" name="networks" rows="5" aria-describedby="networks-hint" spellcheck="false">\(
        call.text("networks") ?? stored)</textarea>
      <p class="hint" id="networks-hint">\(call(Words.networksHint))</p>
      <button>\(call(Words.save))</button></form></section>
      """
  }

  private func changeNetworks(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    var networks: [String] = []
    for text in call.field("networks").split(whereSeparator: { $0.isWhitespace || $0 == "," }) {
      guard let network = IPNetwork(text) else {
        let problem = Words.badNetwork.with(String(text.prefix(60)))
        return showLimits(call, .init(text: call(problem), isBad: true), status: 422)
      }
      networks.append(network.text)
    }
    guard networks.count <= 100 else {
      return showLimits(call, .init(text: call(Words.tooManyNetworks), isBad: true), status: 422)
    }
    let stored = networks.isEmpty ? nil : networks.joined(separator: " ")
    let entry = entry("app.networks", stored ?? "any", by: visitor, call, app: app.id)
    router.change(app) { transaction throws(StorageError) in
      try transaction.audit(entry)
      return try transaction.setAllowedNetworks(app: app.id, stored)
    } done: { result in
      guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
      call.redirect(to: "/console/apps/\(app.key.text)/settings/limits", saying: .saved)
    }
  }

  /// Only for operators: a plan is what keeps an app within what its account pays for.
  private func changePlan(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    guard visitor.person.isOperator else { return call.show(Failures.notFound(call), status: 404) }
    let plan = call.field("plan")
    let entry = entry("app.plan", plan, by: visitor, call, app: app.id)
    router.change(app) { transaction throws(StorageError) in
      guard try transaction.reading.hasPlan(plan) else { return false }
      try transaction.audit(entry)
      return try transaction.setPlan(app: app.id, plan)
    } done: { result in
      switch result {
      case .success: call.redirect(to: "/console/apps/\(app.key.text)/settings/limits", saying: .saved)
      case .failure(.unavailable): call.show(Failures.unavailable(call), status: 503)
      case .failure: call.show(Failures.notFound(call), status: 404)
      }
    }
  }
}
