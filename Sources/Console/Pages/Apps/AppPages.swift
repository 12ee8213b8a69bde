import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// What one app is like.
struct AppPages: Controller {
  let router: Router
  let gateway: Gateway

  static let routes: [Route<AppPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}") { await $0.showApp($1) }
  ]

  private func showApp(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let now = router.zone.local(call.now)
    async let overview = router.history.overview(of: app, limit: 5)
    let hours = await awaitCallback {
      router.activity.statistics(of: app, hours: TodayTiles.hours(until: now), reply: $0)
    }
    guard case .success(let (pushes, facts)) = await overview, case .success(let rows) = hours else {
      return call.unavailable
    }
    let attention = AttentionCard(call: call, app: app, router: router, gateway: gateway)
    guard let troubles = await attention.troubles() else { return call.unavailable }
    let steps = FirstSteps(call: call, app: app, facts: facts, channels: router.channels)
    let counts = await router.reports.counts(of: pushes, in: app)
    return call.show(
      Layout(
        app.name, tab: .overview,
        """
        \(head(call, app))
        \(TodayTiles(call: call, app: app, rows, until: now).html)
        \(steps.html)
        <div class="split"><div><section class="card"><h2>\(call(Words.latestPushes))</h2>\(latest(call, app, pushes, counts))</section></div>
        <div>\(attention.html(troubles))\(channels(call, app))\(permissionCard(call, app))</div></div>
        """))
  }

  private func head(_ call: PageCall, _ app: App) -> HTML {
    let send: HTML =
      call.role ?? .viewer >= .sender
      ? "<a class=\"button\" href=\"/console/apps/\(app.key.text)/push\">\(call(Words.sendPush))</a>"
      : .none
    return """
      <div class="row titled"><div><h1>\(app.name)</h1>
      <p class="quiet">\(call(Words.appKey)) <code>\(app.key.text)</code> \(call.copyButton(app.key.text))</p></div>
      <span class="end">\(send)</span></div>
      """
  }

  private func latest(
    _ call: PageCall, _ app: App, _ pushes: [PushSummary], _ counts: [MessageID: PushCounts]
  ) -> HTML {
    guard !pushes.isEmpty else { return "<p class=\"quiet\">\(call(Words.noPushes))</p>" }
    return HistoryTable(call: call, app: app, counts: counts, isBrief: true).html(pushes)
  }

  /// How many devices may show notifications, if the app asks them.
  private func permissionCard(_ call: PageCall, _ app: App) -> HTML {
    var rows: [(Phrase, Int)] = []
    if app.facts.contains(.notificationPermission) {
      let counts = app.directory.factCounts(.notificationPermission)
      let known = counts.values.reduce(0, +)
      rows = [
        (Words.permissionOn, counts["on", default: 0]), (Words.permissionOff, counts["off", default: 0]),
        (Words.permissionNotAsked, counts["not_asked", default: 0]),
        (Words.permissionUnknown, max(0, app.directory.registrationCount - known)),
      ]
    }
    if app.facts.contains(.optedOut) {
      rows.append((Words.optedOut, app.directory.factCounts(.optedOut)["yes", default: 0]))
    }
    guard !rows.isEmpty else { return .none }
    return """
      <section class="card"><h2>\(call(Words.permission))</h2>
      <dl>\(rows, { "<dt>\(call($0.0))</dt><dd>\(Counted.grouped($0.1))</dd>\n" })</dl></section>

      """
  }

  /// How the channels stand for the app: a line for each that is set up, and one for all others.
  private func channels(_ call: PageCall, _ app: App) -> HTML {
    let known = router.channels.infos.map { info in
      (info: info, states: ChannelState.all(of: info, in: router.channels, for: app))
    }.filter { !$0.states.isEmpty }
    guard !known.isEmpty else { return .none }
    let others = known.filter { !$0.states.contains(where: \.hasCredential) }.map { Words.by($0.info) }
    let lines = known.filter { $0.states.contains(where: \.hasCredential) }.map { channel -> HTML in
      "<li><strong>\(call(Words.by(channel.info)))</strong>\(channel.states, { "<br>\($0.html(call))" })</li>\n"
    }
    let rest: HTML =
      others.isEmpty
      ? .none : "<p class=\"quiet\">\(call(Words.channelsNotSetUp.with(each: Words.list(others))))</p>"
    let link: HTML =
      call.role ?? .viewer >= .admin
      ? "<a href=\"/console/apps/\(app.key.text)/settings/credentials\">\(call(Words.allChannels))</a>"
      : .none
    return """
      <section class="card"><div class="row"><h2>\(call(Words.partChannels))</h2><span class="end">\(link)</span></div>
      <ul class="plain states">\(lines, { $0 })</ul>\(rest)</section>
      """
  }
}
