import PushBase
import PushCrypto
import PushRouter
import PushStorage

extension WebConsole {
  /// What one app is like.
  static let appPages: [Page] = [
    Page(.app(.viewer), "GET", "/console/apps/{app}") { $0.showApp($1) },
    Page(.app(.admin), "GET", "/console/apps/{app}/settings") { $0.showSettings($1, nil) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/rotate") { $0.rotateSecret($1) },
    Page(.app(.admin), "POST", "/console/apps/{app}/settings/retire") { $0.retireSecret($1) },
  ]

  private func showApp(_ call: PageCall) {
    guard let app = call.app else { return }
    router.store.read { transaction throws(StorageError) in
      try transaction.pushHistory(of: app.id, limit: 5).pushes
    } completion: { [self] result in
      guard case .success(let pushes) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let send: HTML =
        call.role ?? .viewer >= .sender
        ? "<a class=\"button\" href=\"/console/apps/\(app.key.text)/push\">\(call(Words.sendPush))</a>"
        : .none
      call.show(
        Layout(
          app.name, tab: .overview,
          """
          <div class="row"><h1>\(app.name)</h1><span class="end">\(send)</span></div>
          <div class="tiles">
          \(tile(call(Words.registrations), app.directory.registrationCount))
          \(tile(call(Words.online), app.directory.onlineCount))
          </div>
          \(if: app.directory.registrationCount == 0, virtualDeviceHint(call, app))
          <section class="card"><h2>\(call(Words.appKey))</h2>
          <p><code>\(app.key.text)</code> \(copyButton(call, app.key.text))</p></section>
          <section class="card"><h2>\(call(Words.apple))</h2>\(apple(call, app))</section>
          <section class="card"><h2>\(call(Words.latestPushes))</h2>\(historyTable(call, app, pushes))</section>
          """))
    }
  }

  private func tile(_ name: String, _ number: Int) -> HTML {
    "<div class=\"tile\"><strong>\(number)</strong><span>\(name)</span></div>"
  }

  private func apple(_ call: PageCall, _ app: App) -> HTML {
    let lines = router.apnsStatus(of: app).map { status -> HTML in
      let name = call(status.environment == .sandbox ? Words.sandbox : Words.production)
      guard status.hasCredential else {
        return "<li>\(name): <span class=\"quiet\">\(call(Words.noCredential))</span></li>"
      }
      if let problem = status.problem { return "<li>\(name): <span class=\"bad\">\(problem)</span></li>" }
      return "<li>\(name): <span class=\"good\">\(call(Words.ready))</span></li>"
    }
    return "<ul class=\"plain\">\(lines, { $0 })</ul>"
  }

  // MARK: Settings

  func showSettings(_ call: PageCall, _ notice: Layout.Notice?) {
    guard let app = call.app else { return }
    let path = "/console/apps/\(app.key.text)/settings"
    call.show(
      Layout(
        call(Words.settings), tab: .settings, notice: notice,
        """
        <h1>\(call(Words.settings))</h1>
        <section class="card">
        <h2>\(call(Words.masterSecret))</h2>
        <p>\(call(Words.rotateText))</p>
        <div class="row">
        <form method="post" action="\(path)/rotate">\(Forms.token(call))<button>\(call(Words.rotate))</button></form>
        <form method="post" action="\(path)/retire">\(Forms.token(call))<button class="plain">\(call(Words.retire))</button></form>
        </div>
        </section>
        """))
  }

  /// Makes a new secret; the old one goes on working until it is retired.
  private func rotateSecret(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    let secret = SecretKey24.generate()
    let entry = entry("app.rotate", app.name, by: visitor, call, app: app.id)
    router.store.write { transaction throws(StorageError) in
      try transaction.audit(entry)
      return try transaction.setSecret(
        app: app.id, hash: SHA256.digest(Array(secret.utf8)), keepsOld: true)
    } completion: { [self] result in
      guard case .success(true) = result else { return call.show(Failures.unavailable(call), status: 503) }
      call.show(keysPage(call, name: app.name, key: app.key, secret: secret))
    }
  }

  private func retireSecret(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    let entry = entry("app.retire", app.name, by: visitor, call, app: app.id)
    router.store.write { transaction throws(StorageError) in
      let isDone = try transaction.retireSecret(app: app.id)
      if isDone { try transaction.audit(entry) }
      return isDone
    } completion: { [self] result in
      guard case .success(let isDone) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      showSettings(call, .init(text: call(isDone ? Words.retired : Words.nothingToRetire)))
    }
  }
}
