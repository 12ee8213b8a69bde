import PushBase
import PushRouter
import PushStorage

extension WebConsole {
  /// What one app is like.
  static let appPages: [Page] = [
    Page(.app(.viewer), "GET", "/console/apps/{app}") { $0.showApp($1) }
  ]

  private func showApp(_ call: PageCall) {
    guard let app = call.app else { return }
    router.store.read { transaction throws(StorageError) in
      let facts = try FirstSteps.Facts(of: app.id, transaction)
      return (try transaction.pushHistory(of: app.id, limit: 5).pushes, facts)
    } completion: { [self] result in
      guard case .success(let (pushes, facts)) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let hasKey = router.apnsStatus(of: app).contains(where: \.hasCredential)
      let steps = FirstSteps(call: call, app: app, facts: facts, hasKeyForApple: hasKey, console: self)
      let send: HTML =
        call.role ?? .viewer >= .sender
        ? "<a class=\"button\" href=\"/console/apps/\(app.key.text)/push\">\(call(Words.sendPush))</a>"
        : .none
      call.show(
        Layout(
          app.name, tab: .overview,
          """
          <div class="row titled"><h1>\(app.name)</h1><span class="end">\(send)</span></div>
          <div class="tiles">
          \(tile(call(Words.registrations), app.directory.registrationCount))
          \(tile(call(Words.online), app.directory.onlineCount))
          </div>
          \(steps.html)
          <section class="card"><h2>\(call(Words.appKey))</h2>
          <p><code>\(app.key.text)</code> \(copyButton(call, app.key.text))</p></section>
          <section class="card"><h2>\(call(Words.apple))</h2>\(apple(call, app))</section>
          <section class="card"><h2>\(call(Words.latestPushes))</h2>\(historyTable(call, app, pushes))</section>
          """))
    }
  }

  private func tile(_ name: String, _ number: Int) -> HTML {
    "<div class=\"tile\"><strong>\(Counted.grouped(number))</strong><span>\(name)</span></div>"
  }

  private func apple(_ call: PageCall, _ app: App) -> HTML {
    let lines = router.apnsStatus(of: app).map { status -> HTML in
      let name = call(status.environment == .sandbox ? Words.sandbox : Words.production)
      guard status.hasCredential else {
        return "<li>\(name): <span class=\"quiet\">\(call(Words.noCredential))</span></li>"
      }
      if let problem = status.problem {
        return "<li>\(name): <span class=\"bad\">\(call(CredentialWords.trouble(problem)))</span></li>"
      }
      return "<li>\(name): <span class=\"good\">\(call(Words.ready))</span></li>"
    }
    return "<ul class=\"plain\">\(lines, { $0 })</ul>"
  }
}
