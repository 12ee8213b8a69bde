import PushBase
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// Finding a device.
  static let devicePages: [Page] = [
    Page(.app(.viewer), "GET", "/console/apps/{app}/devices") { $0.showDevices($1) }
  ]

  private func showDevices(_ call: PageCall) {
    guard let app = call.app else { return }
    let query = call.target["q"] ?? ""
    let found = query.isEmpty ? [] : Array(find(query, in: app).prefix(20))
    guard let first = found.first, found.count == 1 else {
      return call.show(devicesPage(call, app, query, found, details: .none))
    }
    router.details(of: first, in: app) { [self] result in
      let details = try? result.get()
      call.show(devicesPage(call, app, query, found, details: card(call, app, first, details)))
    }
  }

  /// Devices with this registration ID, alias or tag.
  private func find(_ query: String, in app: App) -> [RegistrationNumber] {
    if let number = RegistrationID(query).flatMap({ app.directory.find($0) }) { return [number] }
    let byAlias = app.directory.registrations(alias: query)
    if !byAlias.isEmpty { return byAlias }
    var terms = AudienceTerms()
    terms.tags = [query]
    return app.directory.resolve(terms, platforms: .all).numbers.members(limit: 20)
  }

  private func devicesPage(
    _ call: PageCall, _ app: App, _ query: String, _ found: [RegistrationNumber], details: HTML
  ) -> Layout {
    let none: HTML =
      !query.isEmpty && found.isEmpty ? "<p class=\"quiet\">\(call(Words.noDevice))</p>" : .none
    let list: HTML = found.count > 1 ? "<ul class=\"apps\">\(found, { entry(call, app, $0) })</ul>" : .none
    return Layout(
      call(Words.devices), tab: .devices,
      """
      <h1>\(call(Words.devices))</h1>
      <form class="card row" method="get">
      <label for="q">\(call(Words.findDevice))</label>
      <input id="q" name="q" type="search" value="\(query)">
      <button>\(call(Words.find))</button>
      </form>
      \(none)\(list)\(details)
      """)
  }

  private func entry(_ call: PageCall, _ app: App, _ number: RegistrationNumber) -> HTML {
    guard let identity = app.directory.identity(number) else { return .none }
    return """
      <li><a href="?q=\(identity.id.text)"><code>\(identity.id.text)</code>
      <span class="quiet">\(identity.platform.name) \(call(state(app, number)))</span></a></li>

      """
  }

  private func state(_ app: App, _ number: RegistrationNumber) -> Phrase {
    app.directory.presence(number)?.isOnline == true ? Words.online : Words.offline
  }

  private func card(
    _ call: PageCall, _ app: App, _ number: RegistrationNumber, _ details: Router.Details?
  ) -> HTML {
    guard let identity = app.directory.identity(number), let presence = app.directory.presence(number) else {
      return .none
    }
    let seen = Timestamp(milliseconds: Int64(presence.lastSeen) * 1000)
    let send: HTML =
      call.role ?? .viewer >= .sender
      ? "<a class=\"button\" href=\"/console/apps/\(app.key.text)/push?registration_id=\(identity.id.text)\">\(call(Words.sendPush))</a>"
      : .none
    return """
      <section class="card">
      <div class="row"><h2><code>\(identity.id.text)</code></h2><span class="end">\(send)</span></div>
      <dl>
      <dt>\(call(Words.platform))</dt><dd>\(identity.platform.name)</dd>
      <dt>\(call(Words.state))</dt><dd>\(call(state(app, number))), \(call(Words.lastSeen)) \(moment(seen))</dd>
      <dt>\(call(Words.waiting))</dt><dd>\(app.directory.pendingCount(for: number))</dd>
      <dt>\(call(Words.alias))</dt><dd>\(details?.alias ?? "–")</dd>
      <dt>\(call(Words.tags))</dt><dd>\(details.map { $0.tags.joined(separator: ", ") } ?? "–")</dd>
      </dl>
      </section>
      """
  }
}
