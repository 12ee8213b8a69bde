import PushBase
import PushDomain
import PushHTTP
import PushRouter
import PushStorage

/// What one app is like.
struct AppPages: Controller {
  let router: Router

  static let routes: [Route<AppPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}") { await $0.showApp($1) }
  ]

  private func showApp(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let result = await router.history.overview(of: app, limit: 5)
    guard case .success(let (pushes, facts)) = result else { return call.unavailable }
    let hasKey = router.channels.status(of: .apns, for: app).contains(where: \.hasCredential)
    let steps = FirstSteps(call: call, app: app, facts: facts, hasKeyForApple: hasKey)
    let send: HTML =
      call.role ?? .viewer >= .sender
      ? "<a class=\"button\" href=\"/console/apps/\(app.key.text)/push\">\(call(Words.sendPush))</a>"
      : .none
    let counts = await router.reports.counts(of: pushes, in: app)
    return call.show(
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
        <p><code>\(app.key.text)</code> \(call.copyButton(app.key.text))</p></section>
        \(router.channels.infos, { card(of: $0, call, app) })
        <section class="card"><h2>\(call(Words.latestPushes))</h2>\(HistoryPages.table(call, app, pushes, counts))</section>
        """))
  }

  private func tile(_ name: String, _ number: Int) -> HTML {
    "<div class=\"tile\"><strong>\(Counted.grouped(number))</strong><span>\(name)</span></div>"
  }

  /// How the services of a channel stand for the app; nothing for a channel without services.
  private func card(of info: ChannelInfo, _ call: PageCall, _ app: App) -> HTML {
    let statuses = router.channels.status(of: info.id, for: app)
    guard !statuses.isEmpty else { return .none }
    let title = Phrase(info.english, info.chinese)
    let lines = statuses.map { status -> HTML in
      let service = info.services.first { $0.name == status.service }
      let name = call(service.map { Phrase($0.english, $0.chinese) } ?? title)
      guard status.hasCredential else {
        return "<li>\(name): <span class=\"quiet\">\(call(Words.noCredential))</span></li>"
      }
      if let problem = status.problem {
        return "<li>\(name): <span class=\"bad\">\(call(CredentialWords.problem(problem)))</span></li>"
      }
      let text = call(CredentialWords.health(status.health, in: call))
      let mark =
        switch status.health {
        case .unused: "quiet"
        case .connected, .idle: "good"
        case .unreachable: "bad"
        }
      return "<li>\(name): <span class=\"\(mark)\">\(text)</span></li>"
    }
    return """
      <section class="card"><h2>\(call(title))</h2><ul class="plain">\(lines, { $0 })</ul></section>

      """
  }
}
