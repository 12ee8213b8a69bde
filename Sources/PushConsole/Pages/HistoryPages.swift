import PushBase
import PushDomain
import PushHTTP
import PushRouter
import PushStorage

extension WebConsole {
  /// The list of pushes.
  static let historyPages: [Page] = [
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes") { $0.showHistory($1) },
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes.csv") { $0.exportHistory($1) },
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

  private func showHistory(_ call: PageCall) {
    guard let app = call.app else { return }
    let form = HistoryForm(call.target)
    if let id = form.messageID { return goTo(id, form, app, call) }
    read(form, of: app, limit: Self.pageSize) { [self] result in
      guard case .success(let history) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      call.show(historyPage(call, app, form, history))
    }
  }

  /// Goes to the push whose number was typed.
  private func goTo(_ id: MessageID, _ form: HistoryForm, _ app: App, _ call: PageCall) {
    router.store.read { transaction throws(StorageError) in
      try transaction.origin(of: id)
    } completion: { [self] result in
      guard case .success(let origin) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      guard let origin, origin.app == app.id else {
        return call.show(historyPage(call, app, form, PushHistory()))
      }
      call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(id.text)")
    }
  }

  private func read(
    _ form: HistoryForm, of app: App, limit: Int,
    _ done: @escaping @Sendable (Result<PushHistory, StorageError>) -> Void
  ) {
    let (filter, search) = (form.filter(in: router.zone), TextSearch(form.text))
    let looks = search == nil ? Self.looks : Self.textLooks
    router.store.read(
      { transaction throws(StorageError) -> PushHistory in
        guard let search else {
          return try transaction.pushHistory(of: app.id, filter, limit: limit, looks: looks)
        }
        return try transaction.pushHistory(of: app.id, filter, limit: limit, looks: looks) {
          search.matches($0.content)
        }
      }, completion: done)
  }

  // MARK: The page

  private func historyPage(
    _ call: PageCall, _ app: App, _ form: HistoryForm, _ history: PushHistory
  ) -> Layout {
    let path = "/console/apps/\(app.key.text)/pushes"
    let csv: HTML =
      history.pushes.isEmpty
      ? .none
      : """
      <span class="quiet">\(if: history.next != nil, HTML(escaping: call(Words.fileHolds.with(String(Self.exportRows)))))</span>
      <a class="button plain" href="\(path).csv\(form.query(before: form.before))">\(call(Words.downloadCSV))</a>
      """
    return Layout(
      call(Words.history), tab: .history,
      """
      <div class="row titled"><h1>\(call(Words.history))</h1><span class="end">\(csv)</span></div>
      \(filterForm(call, form, path))
      <section class="card">
      \(historyTable(call, app, history.pushes, isFiltered: !form.isEmpty || form.before != nil))
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
    let zone = ZoneText.name(router.zone, at: time.now())
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

  /// A list of pushes.
  func historyTable(_ call: PageCall, _ app: App, _ pushes: [PushSummary], isFiltered: Bool = false) -> HTML {
    guard !pushes.isEmpty else {
      return "<p class=\"quiet\">\(call(isFiltered ? Words.noMatches : Words.noPushes))</p>"
    }
    return """
      <table class="history"><thead><tr><th>\(call(Words.sentAt))</th><th>\(call(Words.content))</th>
      <th>\(call(Words.audience))</th><th>\(call(Words.sentBy))</th><th>\(call(Words.state))</th></tr></thead><tbody>
      \(pushes, { historyRow(call, app, $0) })
      </tbody></table>
      """
  }

  private func historyRow(_ call: PageCall, _ app: App, _ push: PushSummary) -> HTML {
    let excerpt = PushExcerpt(push.content)
    let state = push.state(at: time.now())
    return """
      <tr><td class="when">\(call.moment(push.createdAt))</td>
      <td><a href="/console/apps/\(app.key.text)/pushes/\(push.id.text)">\(excerpt.line(call))</a>
      <span class="quiet">\(PushNames.kinds(push.traits, call))</span></td>
      <td>\(AudienceText.cell(push, call))</td>
      <td>\(PushNames.sender(push.sender, push.senderName, push.traits, call))</td>
      <td><span class="state \(state.mark)">\(call(state.phrase))</span></td></tr>

      """
  }

  /// Where the list goes on.
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

  private func exportHistory(_ call: PageCall) {
    guard let app = call.app else { return }
    var writer = CSVWriter()
    writer.row(
      [
        Words.messageID, Words.sentAt, Words.endsAt, Words.kind, Words.audience, Words.targets, Words.sentBy,
        Words.state, Words.title, Words.text,
      ].map { call($0) })
    collect(
      HistoryForm(call.target), of: app, call, Export(writer: writer, rows: 0, looks: Self.exportLooks))
  }

  /// A file that is being written.
  private struct Export: Sendable {
    var writer: CSVWriter
    var rows: Int
    /// Pushes that may still be looked at.
    var looks: Int
  }

  /// Reads step by step, so that no page waits for the whole of it.
  private func collect(_ form: HistoryForm, of app: App, _ call: PageCall, _ export: Export) {
    read(form, of: app, limit: min(Self.exportStep, Self.exportRows - export.rows)) { [self] result in
      guard case .success(let history) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      var export = export
      let now = time.now()
      for push in history.pushes { export.writer.row(Self.fields(push, call, at: now)) }
      export.rows += history.pushes.count
      // A step that found less has looked at as many as it may.
      let looks = form.text.isEmpty ? Self.looks : Self.textLooks
      export.looks -= history.pushes.count < Self.exportStep ? looks : history.pushes.count
      guard let next = history.next, export.rows < Self.exportRows, export.looks > 0 else {
        return finish(export, call, form, next: history.next)
      }
      var rest = form
      rest.before = next
      collect(rest, of: app, call, export)
    }
  }

  private func finish(_ export: Export, _ call: PageCall, _ form: HistoryForm, next: MessageID?) {
    guard let app = call.app else { return }
    var writer = export.writer
    let start = HistoryForm(call.target).before.map { "-\($0.text)" } ?? ""
    let rest = next.map { "pushes.csv" + form.query(before: $0) }
    // People do not see the answer's fields.
    if let rest {
      let address = "\(call.origin)/console/apps/\(app.key.text)/\(rest)"
      writer.row([call(Words.fileGoesOn.with(address))])
    }
    call.show(csv: writer.bytes, name: "pushes-\(app.key.text)\(start).csv", next: rest)
  }

  private static func fields(_ push: PushSummary, _ call: PageCall, at now: Timestamp) -> [String] {
    let excerpt = PushExcerpt(push.content)
    return [
      push.id.text, Log.iso8601(push.createdAt.milliseconds), Log.iso8601(push.expiresAt.milliseconds),
      PushNames.kinds(push.traits, call), AudienceText.text(push, call), String(push.targetCount),
      PushNames.sender(push.sender, push.senderName, push.traits, call), call(push.state(at: now).phrase),
      excerpt.title, excerpt.text,
    ]
  }
}

extension PageCall {
  /// Answers with a table to be saved as a file; `next` is the address of the rest of it, if there is more.
  func show(csv: [UInt8], name: String, next: String?) {
    var headers: HTTPHeaders = [
      "Content-Type": "text/csv; charset=utf-8; header=present",
      "Content-Disposition": "attachment; filename=\"\(name)\"",
    ]
    if let next { headers.append("Link", "<\(next)>; rel=\"next\"") }
    respond(HTTPResponse(status: 200, headers: headers, body: csv))
  }
}
