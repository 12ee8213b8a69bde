import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The list of pushes.
struct HistoryPages: Controller {
  let router: Router

  static let routes: [Route<HistoryPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/pushes") { await $0.showHistory($1) },
    Route(.app(.viewer), "GET", "/console/apps/{app}/pushes.csv") { await $0.exportHistory($1) },
  ]

  /// Pushes on a page.
  private static let pageSize = 50
  /// Pushes that one page looks at, however few of them match: a page never takes longer than that.
  private static let looks = 5000
  /// The same for a search in what they say, which takes each push apart.
  private static let textLooks = 2000
  /// Lines of a file, and pushes that are looked at for them.
  static let exportRows = 5000
  private static let exportLooks = 100_000
  /// Lines that are written at a time.
  private static let exportStep = 250

  private func showHistory(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let call = await call.namingSegments(router)
    let form = HistoryForm(call.target)
    if let id = form.messageID { return await goTo(id, form, app, call) }
    let result = await read(form, of: app, limit: Self.pageSize)
    guard case .success(let history) = result else { return call.unavailable }
    let counts = await router.reports.counts(of: history.pushes, in: app)
    return call.show(historyPage(call, app, form, history, counts))
  }

  /// Goes to the push whose number was typed.
  private func goTo(_ id: MessageID, _ form: HistoryForm, _ app: App, _ call: PageCall) async -> HTTPResponse
  {
    let result = await router.history.origin(of: id)
    guard case .success(let origin) = result else { return call.unavailable }
    guard let origin, origin.app == app.id else {
      return call.show(historyPage(call, app, form, PushHistory()))
    }
    return call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(id.text)")
  }

  private func read(
    _ form: HistoryForm, of app: App, limit: Int
  ) async -> Result<PushHistory, StorageError> {
    let (filter, search) = (form.filter(in: router.zone), TextSearch(form.text))
    let looks = search == nil ? Self.looks : Self.textLooks
    var matches: (@Sendable (PushSummary) -> Bool)?
    if let search { matches = { search.matches($0.content) } }
    return await router.history.list(of: app, filter, limit: limit, looks: looks, matches: matches)
  }

  // MARK: The page

  private func historyPage(
    _ call: PageCall, _ app: App, _ form: HistoryForm, _ history: PushHistory,
    _ counts: [MessageID: PushCounts] = [:]
  ) -> Layout {
    let path = "/console/apps/\(app.key.text)/pushes"
    let csv: HTML =
      history.pushes.isEmpty
      ? .none
      : """
      <span class="quiet">\(if: history.next != nil, HTML(escaping: call(Words.fileHolds.with(Counted.grouped(Self.exportRows)))))</span>
      <a class="button plain" href="\(path).csv\(form.query(before: form.before))">\(call(Words.downloadCSV))</a>
      """
    return Layout(
      call(Words.history), tab: .history,
      """
      <div class="row titled"><h1>\(call(Words.history))</h1><span class="end">\(csv)</span></div>
      \(filterForm(call, form, path))
      <section class="card">
      \(history.pushes.isEmpty ? "<p class=\"quiet\">\(call(form.isEmpty && form.before == nil ? Words.noPushes : Words.noMatches))</p>" : HistoryTable(call: call, app: app, counts: counts).html(history.pushes))
      \(rest(call, form, history))
      </section>
      """)
  }

  private func filterForm(_ call: PageCall, _ form: HistoryForm, _ path: String) -> HTML {
    func choices(_ options: [(String, Phrase)]) -> [(value: String, text: String)] {
      var choices: [(value: String, text: String)] = [("", call(Words.anything))]
      for (value, phrase) in options { choices.append((value, call(phrase))) }
      return choices
    }
    let reset: HTML =
      form.isEmpty && form.before == nil
      ? .none : "<a class=\"button plain\" href=\"\(path)\">\(call(Words.resetFilter))</a>"
    let zone = ZoneText.name(router.zone, at: call.now)
    return """
      <form class="card filters" method="get" action="\(path)">
      <div class="wide">\(Forms.field(call(Words.searchPushes), "q", type: "search", value: form.text, isRequired: false))</div>
      <div>\(Forms.field(call(Words.fromDay), "from", type: "date", value: form.from, isRequired: false))</div>
      <div>\(Forms.field(call(Words.toDay), "to", type: "date", value: form.to, isRequired: false))</div>
      <div>\(Forms.choice(call(Words.state), "state", choices(HistoryForm.states.map { ($0.value, $0.phrase) }), chosen: form.state))</div>
      <div>\(Forms.choice(call(Words.kind), "kind", choices(HistoryForm.kinds.map { ($0.value, $0.phrase) }), chosen: form.kind))</div>
      <div>\(Forms.choice(call(Words.audience), "audience", choices(HistoryForm.audiences.map { ($0.value, $0.phrase) }), chosen: form.audience))</div>
      <div>\(Forms.choice(call(Words.sentBy), "sender", choices(HistoryForm.senders.map { ($0.value, $0.phrase) }), chosen: form.sender))</div>
      <div class="wide row"><button>\(call(Words.search))</button>\(reset)
      <span class="quiet">\(call(Words.serverDays.with(zone)))</span></div>
      </form>
      """
  }

  /// Where the list continues.
  private func rest(_ call: PageCall, _ form: HistoryForm, _ history: PushHistory) -> HTML {
    let newest: HTML =
      form.before == nil
      ? .none : "<a class=\"button plain\" href=\"\(Self.page(form, nil))\">\(call(Words.newest))</a>"
    guard let next = history.next else { return newest == .none ? .none : "<p class=\"row\">\(newest)</p>" }
    let isPartial = history.pushes.count < Self.pageSize
    let note: HTML =
      isPartial
      ? "<span class=\"quiet\">\(call(Words.lookedBack)) \(call.moment(next.time))</span>" : .none
    return """
      <p class="row">\(newest)<a class="button plain" href="\(Self.page(form, next))" rel="next">\
      \(call(isPartial ? Words.searchOn : Words.older))</a>\(note)</p>
      """
  }

  /// An empty query would leave the address as it is.
  private static func page(_ form: HistoryForm, _ before: MessageID?) -> String {
    let query = form.query(before: before)
    return query.isEmpty ? "?" : query
  }

  // MARK: The file

  /// Reads step by step, so that no page waits for the whole of it.
  private func exportHistory(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let call = await call.namingSegments(router)
    var form = HistoryForm(call.target)
    let start = form.before.map { "-\($0.text)" } ?? ""
    var writer = CSVWriter()
    writer.row(
      [
        Words.messageID, Words.sentAt, Words.endsAt, Words.kind, Words.audience, Words.targets, Words.sentBy,
        Words.state, Words.channelAccepted, Words.delivered, Words.tapped, Words.title, Words.text,
      ].map { call($0) })
    // Pushes that may still be looked at; a step that found less than it may has looked at as many as it may.
    var (rows, looks) = (0, Self.exportLooks)
    let looksOfStep = form.text.isEmpty ? Self.looks : Self.textLooks
    repeat {
      let result = await read(form, of: app, limit: min(Self.exportStep, Self.exportRows - rows))
      guard case .success(let history) = result else { return call.unavailable }
      let (counts, now) = (await router.reports.counts(of: history.pushes, in: app), call.now)
      for push in history.pushes { writer.row(Self.fields(push, counts[push.id], call, at: now)) }
      rows += history.pushes.count
      looks -= history.pushes.count < Self.exportStep ? looksOfStep : history.pushes.count
      form.before = history.next
    } while form.before != nil && rows < Self.exportRows && looks > 0
    let rest = form.before.map { "pushes.csv" + form.query(before: $0) }
    // People do not see the answer's fields.
    if let rest {
      let address = "\(call.origin)/console/apps/\(app.key.text)/\(rest)"
      writer.row([call(Words.fileGoesOn.with(address))])
    }
    return call.show(csv: writer.bytes, name: "pushes-\(app.key.text)\(start).csv", next: rest)
  }

  private static func fields(_ push: PushSummary, _ counts: PushCounts?, _ call: PageCall, at now: Timestamp)
    -> [String]
  {
    let excerpt = PushExcerpt(push.content)
    return [
      push.id.text, ZoneText.moment(push.createdAt, in: call.zone),
      ZoneText.moment(push.expiresAt, in: call.zone),
      PushNames.kinds(push.traits, call), AudienceText.text(push, call), String(push.targetCount),
      PushNames.sender(push.sender, push.senderName, push.traits, call),
      call(push.state(at: now, counts).phrase),
      counts.map { String($0.delivered + $0.onlyAccepted) } ?? "",
      counts.map { String($0.delivered) } ?? "", counts.map { String($0.tapped) } ?? "", excerpt.title,
      excerpt.text,
    ]
  }
}

/// How many of a push's targets have it, for how many a channel's service only accepted it, and how many
/// tapped it.
struct PushCounts: Sendable, Equatable {
  let delivered, onlyAccepted, tapped: Int

  init(_ report: PushReport) {
    let targets = report.targets
    onlyAccepted = targets.onlyAccepted.count
    (delivered, tapped) = (targets.delivered.count - onlyAccepted, targets.tapped.count)
  }
}

extension PageCall {
  /// An answer with a table to be saved as a file; `next` is the address of the rest of it, if there is more.
  func show(csv: [UInt8], name: String, next: String?) -> HTTPResponse {
    var headers: HTTPHeaders = [
      "Content-Type": "text/csv; charset=utf-8; header=present",
      "Content-Disposition": "attachment; filename=\"\(name)\"",
    ]
    if let next { headers.append("Link", "<\(next)>; rel=\"next\"") }
    return respond(HTTPResponse(status: 200, headers: headers, body: csv))
  }
}

extension PushReports {
  /// How many targets have some pushes, and tapped them. What cannot be read is left out.
  func counts(of pushes: [PushSummary], in app: App) async -> [MessageID: PushCounts] {
    let result = await awaitCallback {
      reports(on: pushes.map(\.id), in: app, as: { PushCounts($0) }, reply: $0)
    }
    var counts: [MessageID: PushCounts] = [:]
    for (push, count) in zip(pushes, (try? result.get()) ?? []) { counts[push.id] = count }
    return counts
  }
}
