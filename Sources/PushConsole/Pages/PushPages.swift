import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

extension WebConsole {
  /// Sending a push by hand, and what became of pushes.
  static let pushPages: [Page] = [
    Page(.app(.sender), "GET", "/console/apps/{app}/push") { $0.showPushForm($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/push/audience") { $0.countAudience($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/push/confirm") { $0.confirmPush($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/push") { $0.sendPush($1) },
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes") { $0.showHistory($1) },
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}") { $0.showPush($1) },
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}/trace") { $0.showTrace($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/pushes/{msg_id}/recall") { $0.recallPush($1) },
  ]

  // MARK: The form

  private func showPushForm(_ call: PageCall) {
    var form = PushForm()
    if let device = call.target["registration_id"] { form.names = device }
    call.show(pushFormPage(call, form, nil))
  }

  private func pushFormPage(_ call: PageCall, _ form: PushForm, _ problem: String?) -> Layout {
    guard let app = call.app else { return Failures.notFound(call) }
    return Layout(
      call(Words.sendPush), tab: .push, notice: problem.map { .init(text: $0, isBad: true) },
      """
      <h1>\(call(Words.sendPush))</h1>
      <div class="columns">
      <form class="card" method="post" action="/console/apps/\(app.key.text)/push/confirm" data-push-form
        data-audience="/console/apps/\(app.key.text)/push/audience">
      \(Forms.token(call))
      \(PushFormFields.html(call, form))
      <p class="audience" aria-live="polite" data-audience-size>&nbsp;</p>
      <button>\(call(Words.check))</button>
      </form>
      \(preview(call, form, app))
      </div>
      """)
  }

  /// The banner as a phone shows it; the script keeps it up to date.
  private func preview(_ call: PageCall, _ form: PushForm, _ app: App) -> HTML {
    """
    <aside class="phone" aria-label="\(call(Words.preview))">
    <div class="banner"><span class="who">\(app.name)</span><span class="when">\(call(Words.now))</span>
    <strong data-mirror="title">\(form.title)</strong>
    <span data-mirror="text">\(form.text)</span></div>
    </aside>
    """
  }

  /// A push object that keeps every rule, or what is wrong with it.
  private func parse(_ form: PushForm) -> Result<PushRequest, APIError> {
    Result { () throws(APIError) in try PushRequest.parse(form.json, rules: gateway.pushRules) }
  }

  private func countAudience(_ call: PageCall) {
    guard let app = call.app else { return }
    let form = PushForm(call)
    let text: String
    switch parse(form) {
    // Nothing has been typed yet.
    case .failure where !form.namesAnybody: text = ""
    case .failure(let error): text = error.message
    case .success(let request):
      let size = AudienceSize(AcceptRequest(request), in: app)
      text = size.isEmpty ? call(Words.nobody) : call(size.phrase)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("text", text)
    writer.endObject()
    call.show(json: writer.bytes)
  }

  // MARK: Confirming and sending

  private func confirmPush(_ call: PageCall) {
    guard let app = call.app else { return }
    let form = PushForm(call)
    switch parse(form) {
    case .failure(let error): call.show(pushFormPage(call, form, error.message), status: 422)
    case .success(let request):
      let size = AudienceSize(AcceptRequest(request), in: app)
      guard !size.isEmpty else { return call.show(pushFormPage(call, form, call(Words.nobody)), status: 422) }
      call.show(confirmPage(call, form, size, app))
    }
  }

  private func confirmPage(_ call: PageCall, _ form: PushForm, _ size: AudienceSize, _ app: App) -> Layout {
    let body = String(decoding: JSONWriter.serialize(form.json), as: UTF8.self)
    let code = PushSamples(address: call.origin, key: app.key.text, body: body)
    return Layout(
      call(Words.confirmTitle), tab: .push,
      """
      <h1>\(call(Words.confirmTitle))</h1>
      <section class="card">
      <p class="big">\(call(Words.confirmText.with(String(size.total))))</p>
      <p class="quiet">\(call(size.phrase))</p>
      <form method="post" action="/console/apps/\(app.key.text)/push">
      \(Forms.token(call))
      <input type="hidden" name="body" value="\(body)">
      <input type="hidden" name="cid" value="\(app.key.text)-\(Hex.encode(SystemRandom.bytes(16)))">
      <button>\(call(Words.sendNow.with(String(size.total))))</button>
      <a class="button plain" href="/console/apps/\(app.key.text)/push">\(call(Words.cancel))</a>
      </form>
      </section>
      <section class="card">
      <h2>\(call(Words.asCode))</h2>
      <h3>curl \(copyButton(call, code.curl))</h3><pre><code>\(code.curl)</code></pre>
      <h3>Python \(copyButton(call, code.python))</h3><pre><code>\(code.python)</code></pre>
      </section>
      """)
  }

  private func sendPush(_ call: PageCall) {
    guard let app = call.app, let visitor = call.visitor else { return }
    let parsed: PushRequest
    do {
      var request = try PushRequest.parse(
        try parseJSON(Array((call.form?["body"] ?? "").utf8)), rules: gateway.pushRules)
      // A reload of the answer sends nothing twice.
      request.cid = call.field("cid")
      parsed = request
    } catch {
      let message = (error as? APIError)?.message ?? call(Words.notFound)
      return call.show(pushFormPage(call, PushForm(), message), status: 422)
    }
    guard parsed.cid?.hasPrefix(app.key.text + "-") == true else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    router.accept(AcceptRequest(parsed), for: app) { [self] result in
      switch result {
      case .success(let push):
        let entry = entry("push.send", "\(push.id.text) (\(push.targets))", by: visitor, call, app: app.id)
        note(entry) { call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(push.id.text)") }
      case .failure(let error): call.show(pushFormPage(call, PushForm(), error.message), status: 422)
      }
    }
  }

  // MARK: What became of it

  private func showHistory(_ call: PageCall) {
    guard let app = call.app else { return }
    let (before, limit) = (call.target["before"].flatMap { MessageID(decimal: Array($0.utf8)) }, 50)
    router.store.read { transaction throws(StorageError) in
      try transaction.pushHistory(of: app.id, before: before, limit: limit)
    } completion: { [self] result in
      guard case .success(let pushes) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      let older: HTML =
        pushes.count == limit
        ? "<p><a class=\"button plain\" href=\"?before=\(pushes.last?.id.text ?? "")\">\(call(Words.older))</a></p>"
        : .none
      call.show(
        Layout(
          call(Words.history), tab: .history,
          "<h1>\(call(Words.history))</h1><section class=\"card\">\(historyTable(call, app, pushes))\(older)</section>"
        ))
    }
  }

  /// A list of pushes.
  func historyTable(_ call: PageCall, _ app: App, _ pushes: [PushSummary]) -> HTML {
    guard !pushes.isEmpty else { return "<p class=\"quiet\">\(call(Words.noPushes))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.sentAt))</th><th>\(call(Words.content))</th><th>\(call(Words.targets))</th>
      <th>\(call(Words.state))</th></tr></thead><tbody>
      \(pushes, { historyRow(call, app, $0) })
      </tbody></table>
      """
  }

  private func historyRow(_ call: PageCall, _ app: App, _ push: PushSummary) -> HTML {
    let excerpt = PushExcerpt(push.content)
    return """
      <tr><td>\(moment(push.createdAt))</td>
      <td><a href="/console/apps/\(app.key.text)/pushes/\(push.id.text)">\(excerpt.line(call))</a></td>
      <td class="number">\(push.targetCount)</td><td>\(call(push.status.phrase))</td></tr>

      """
  }

  /// A moment for the script to show in the browser's zone; UTC without it.
  func moment(_ time: Timestamp) -> HTML {
    let text = Log.iso8601(time.milliseconds)
    return "<time datetime=\"\(text)\">\(text)</time>"
  }

  private func withPush(_ call: PageCall, found: @escaping @Sendable (App, PushRow) -> Void) {
    guard let app = call.app, let id = MessageID(decimal: Array((call.capture("msg_id") ?? "").utf8)) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    router.store.read { transaction throws(StorageError) in
      try transaction.push(id: id)
    } completion: { result in
      guard case .success(let row) = result else { return call.show(Failures.unavailable(call), status: 503) }
      guard let row, row.app == app.id else { return call.show(Failures.notFound(call), status: 404) }
      found(app, row)
    }
  }

  private func showPush(_ call: PageCall) {
    withPush(call) { [self] app, row in
      let excerpt = PushExcerpt(row.content)
      let path = "/console/apps/\(app.key.text)/pushes/\(row.id.text)"
      let recall: HTML =
        call.role ?? .viewer >= .sender
        ? "<form method=\"post\" action=\"\(path)/recall\">\(Forms.token(call))<button class=\"plain\">\(call(Words.recall))</button></form>"
        : .none
      router.report(on: row.id, in: app) { [self] result in
        guard case .success(let report?) = result else {
          return call.show(Failures.unavailable(call), status: 503)
        }
        call.show(
          Layout(
            excerpt.line(call), tab: .history,
            """
            <div class="row"><h1>\(excerpt.line(call))</h1><span class="end">\(recall)</span></div>
            <p class="quiet">msg_id <code>\(row.id.text)</code> · \(moment(row.createdAt))</p>
            <section class="card" data-trace="\(path)/trace" aria-live="polite">\(Trace.html(call, report))</section>
            <section class="card"><h2>\(call(Words.content))</h2><pre><code>\(excerpt.json)</code></pre></section>
            """))
      }
    }
  }

  private func showTrace(_ call: PageCall) {
    withPush(call) { [self] app, row in
      router.report(on: row.id, in: app) { result in
        guard case .success(let report?) = result else {
          return call.show(Failures.unavailable(call), status: 503)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("html", Trace.html(call, report).text)
        writer.member("open", Trace.isOpen(report))
        writer.endObject()
        call.show(json: writer.bytes)
      }
    }
  }

  private func recallPush(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    withPush(call) { [self] app, row in
      router.recall(row.id, in: app) { [self] result in
        guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
        let entry = entry("push.recall", row.id.text, by: visitor, call, app: app.id)
        note(entry) { call.redirect(to: "/console/apps/\(app.key.text)/pushes/\(row.id.text)") }
      }
    }
  }
}
