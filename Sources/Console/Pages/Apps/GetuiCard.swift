import API
import BorealisBase
import Core
import HTTP
import Storage

/// What an app server of Getui's logs in with: a master secret of its own, since Getui's signature needs the
/// secret itself.
extension SettingsPages {
  /// What the card tells of an app that uses Getui's API.
  struct GetuiFacts {
    /// When the master secret was made.
    let changedAt: Timestamp
    /// Where calls may come from; empty for everywhere.
    let networks: [String]
  }

  /// Reads what the card tells; nil without a master secret for Getui's API.
  func getuiFacts(_ call: PageCall, _ app: App) async -> Result<GetuiFacts?, StorageError> {
    let changed = await router.apps.getuiSecretChangedAt(app)
    guard case .success(let moment?) = changed else { return changed.map { _ in nil } }
    let limits = await router.apps.limits(of: app, on: router.zone.local(call.now).date.dayNumber)
    return limits.map {
      let networks = $0.app?.allowedNetworks ?? ""
      return GetuiFacts(changedAt: moment, networks: networks.split(separator: " ").map(String.init))
    }
  }

  func getuiCard(_ call: PageCall, _ app: App, _ facts: GetuiFacts?) -> HTML {
    let settings = "/console/apps/\(app.key.text)/settings"
    let path = settings + "/getui"
    guard let facts else {
      return Forms.part(
        call(Words.getui),
        about: "<p>\(call(Words.getuiText)) \(call.docsLink(Words.docsOfGetui, "api/getui"))</p>",
        """
        <form method="post" action="\(path)">\(Forms.token(call))<button class="plain">\(call(Words.getuiOn))</button></form>
        """)
    }
    return Forms.part(
      call(Words.getui),
      about: "<p>\(call(Words.getuiText)) \(call.docsLink(Words.docsOfGetui, "api/getui"))</p>",
      """
      <dl>\(getuiNames(call, app))
      <dt>masterSecret</dt><dd>\(call(Words.getuiSecretShownOnce))</dd>
      <dt>\(call(Words.getuiSince))</dt><dd>\(call.moment(facts.changedAt))</dd>
      <dt>\(call(Words.allowList))</dt><dd>\(networks(call, facts))
      <a href="\(settings)/limits">\(call(Words.changePlan))</a></dd></dl>
      <div class="row">\(Forms.sure(call, Words.rotate, path, Words.getuiRotateText))
      \(Forms.sure(call, Words.getuiOff, "\(path)/off", Words.getuiOffText))</div>
      """)
  }

  /// What a client of Getui's is set up with besides the master secret.
  private func getuiNames(_ call: PageCall, _ app: App) -> HTML {
    let base = call.origin + "/v2"
    return """
      <dt>\(call(Words.getuiBase))</dt><dd><code>\(base)</code> \(call.copyButton(base))</dd>
      <dt>appId, appKey</dt><dd><code>\(app.key.text)</code> \(call.copyButton(app.key.text))</dd>
      """
  }

  private func networks(_ call: PageCall, _ facts: GetuiFacts) -> HTML {
    guard !facts.networks.isEmpty else { return "\(call(Words.anyAddress))" }
    return "\(facts.networks, { "<code>\($0)</code> " })"
  }

  /// Makes a master secret for Getui's API; it is shown only now.
  func makeGetuiSecret(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("getui.secret", app.name, by: visitor, app: app.id)
    switch await awaitCallback({ callbacks.getui.make(for: app.id, noting: entry, done: $0) }) {
    case .success(let secret):
      return call.show(
        Layout(
          call(Words.getui),
          """
          <section class="card narrow">
          <h1>\(call(Words.getui))</h1>
          <p>\(call(Words.keysText))</p>
          <dl class="keys">
          \(getuiNames(call, app))
          <dt>masterSecret</dt><dd><details class="reveal"><summary>\(call(Words.reveal))</summary>
          <code>\(secret)</code></details> \(call.copyButton(secret))</dd>
          </dl>
          <p><a class="button" href="/console/apps/\(app.key.text)/settings">\(call(Words.toApp))</a></p>
          </section>
          """))
    case .failure(.keys):
      return await showSettings(call, .init(text: call(Words.noSealingKey), isBad: true), status: 500)
    case .failure: return call.unavailable
    }
  }

  func endGetui(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor, let callbacks = gateway.callbacks else {
      return call.unavailable
    }
    let entry = call.entry("getui.remove", app.name, by: visitor, app: app.id)
    guard case .success = await awaitCallback({ callbacks.getui.remove(app.id, noting: entry, done: $0) })
    else {
      return call.unavailable
    }
    return call.redirect(to: "/console/apps/\(app.key.text)/settings", notice: .saved)
  }
}
