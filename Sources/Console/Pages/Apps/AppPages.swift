import BorealisBase
import Core
import HTTP
import Model
import Storage

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
    let steps = FirstSteps(call: call, app: app, facts: facts, channels: router.channels)
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
        \(channelCards(call, app))
        <section class="card"><h2>\(call(Words.latestPushes))</h2>\(latest(call, app, pushes, counts))</section>
        """))
  }

  private func latest(
    _ call: PageCall, _ app: App, _ pushes: [PushSummary], _ counts: [MessageID: PushCounts]
  ) -> HTML {
    guard !pushes.isEmpty else { return "<p class=\"quiet\">\(call(Words.noPushes))</p>" }
    return HistoryTable(call: call, app: app, counts: counts, isBrief: true).html(pushes)
  }

  private func tile(_ name: String, _ number: Int) -> HTML {
    "<div class=\"tile\"><strong>\(Counted.grouped(number))</strong><span>\(name)</span></div>"
  }

  /// How the channels stand for the app: a card for each that is set up, and one for all others.
  private func channelCards(_ call: PageCall, _ app: App) -> HTML {
    let known = router.channels.infos.map { info in
      (info: info, states: ChannelState.all(of: info, in: router.channels, for: app))
    }.filter { !$0.states.isEmpty }
    var others = known.filter { !$0.states.contains(where: \.hasCredential) }
    // A single one has room for its services.
    if others.count == 1 { others = [] }
    let set = Set(others.map(\.info.id))
    let cards = known.filter { !set.contains($0.info.id) }.map { channel -> HTML in
      """
      <section class="card"><h2>\(call(Words.by(channel.info)))</h2><ul class="plain">\(channel.states, { "<li>\($0.html(call))</li>" })</ul></section>

      """
    }
    guard !others.isEmpty else { return "\(cards, { $0 })" }
    let names = Words.list(others.map { Words.by($0.info) })
    let link: HTML =
      call.role ?? .viewer >= .admin
      ? "<p><a href=\"/console/apps/\(app.key.text)/settings/credentials\">\(call(Words.allChannels))</a></p>"
      : .none
    return """
      \(cards, { $0 })<section class="card"><h2>\(call(Words.otherChannels))</h2>
      <p class="quiet">\(call(Words.channelsNotSetUp.with(each: names)))</p>\(link)</section>

      """
  }
}
