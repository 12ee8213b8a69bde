import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

extension WebConsole {
  /// What became of one push.
  static let resultPages: [Page] = [
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}") { $0.showPush($1) },
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}/trace") { $0.showTrace($1) },
    Page(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}/targets.csv") { $0.exportTargets($1) },
    Page(.app(.sender), "GET", "/console/apps/{app}/pushes/{msg_id}/again") { $0.sendAgain($1) },
    Page(.app(.sender), "POST", "/console/apps/{app}/pushes/{msg_id}/recall") { $0.recallPush($1) },
  ]

  /// Lines of a file of targets.
  static let exportTargetRows = 10_000

  /// A push and where it comes from.
  struct FoundPush: Sendable {
    let app: App
    let row: PushRow
    let source: PushSource
    let senderName: String?

    var path: String { "/console/apps/\(app.key.text)/pushes/\(row.id.text)" }
  }

  /// The push in the path, if it is the app's.
  func withPush(_ call: PageCall, found: @escaping @Sendable (FoundPush) -> Void) {
    guard let app = call.app, let id = MessageID(decimal: Array((call.capture("msg_id") ?? "").utf8)) else {
      return call.show(Failures.notFound(call), status: 404)
    }
    router.store.read { transaction throws(StorageError) -> FoundPush? in
      guard let row = try transaction.push(id: id), row.app == app.id else { return nil }
      let source = try transaction.source(of: id)
      return FoundPush(
        app: app, row: row, source: source?.source ?? PushSource(), senderName: source?.name)
    } completion: { result in
      guard case .success(let push) = result else {
        return call.show(Failures.unavailable(call), status: 503)
      }
      guard let push else { return call.show(Failures.notFound(call), status: 404) }
      found(push)
    }
  }

  private func withReport(
    _ call: PageCall, found: @escaping @Sendable (FoundPush, PushReport) -> Void
  ) {
    withPush(call) { [self] push in
      router.report(on: push.row.id, in: push.app) { result in
        guard case .success(let report?) = result else {
          return call.show(Failures.unavailable(call), status: 503)
        }
        found(push, report)
      }
    }
  }

  // MARK: The page

  private func showPush(_ call: PageCall) {
    withReport(call) { [self] push, report in
      traceParts(call, push, report) { [self] trace, targets in
        call.show(pushPage(call, push, report, trace, targets))
      }
    }
  }

  private func pushPage(
    _ call: PageCall, _ push: FoundPush, _ report: PushReport, _ trace: HTML, _ targets: HTML
  ) -> Layout {
    let excerpt = PushExcerpt(push.row.content)
    let (source, id) = (push.source, push.row.id.text)
    let words = [
      PushNames.kinds(source.traits, call),
      AudienceText(object: source.object)?.full(call.language) ?? PushNames.audiences(source.traits, call),
      PushNames.sender(source.sender, push.senderName, source.traits, call),
    ].filter { !$0.isEmpty }
    return Layout(
      excerpt.line(call), tab: .history,
      """
      <div class="row"><h1>\(excerpt.line(call))</h1><span class="end">\(buttons(call, push, report))</span></div>
      <p class="quiet facts"><span>msg_id <code>\(id)</code> \(copyButton(call, id))</span>
      <span>\(call.moment(push.row.createdAt))</span>\(words, { "<span>\($0)</span>" })</p>
      <p class="notice warn" role="status" hidden data-trace-ended>\(call(Words.traceEnded))</p>
      <section class="card" data-trace="\(push.path)/trace" aria-live="polite">\(trace)</section>
      <section class="card" data-trace-targets>\(targets)</section>
      <div class="pair">
      <section class="card"><h2>\(call(Words.askDevice))</h2><p class="quiet">\(call(Words.askDeviceText))</p>
      <form method="get" action="\(push.path)/why">
      \(Forms.field(call(Words.whyDevice), "registration_id"))
      <button class="plain">\(call(Words.ask))</button></form></section>
      <section class="card"><h2>\(call(Words.targetList))</h2><p class="quiet">\(call(Words.targetListText))</p>
      <p><a class="button plain" href="\(push.path)/targets.csv">\(call(Words.downloadCSV))</a></p>
      \(parts(call, push, report))</section>
      </div>
      \(samples(call, push))
      <section class="card"><details><summary>\(call(Words.deviceGets))</summary>
      <pre><code>\(excerpt.json)</code></pre></details></section>
      """)
  }

  private func buttons(_ call: PageCall, _ push: FoundPush, _ report: PushReport) -> HTML {
    guard call.role ?? .viewer >= .sender else { return .none }
    let again: HTML =
      push.source.object == nil
      ? .none : "<a class=\"button\" href=\"\(push.path)/again\">\(call(Words.sendAgain))</a>"
    guard Trace.isOpen(report) else { return again }
    return "\(recallForm(call, push, report))\(again)"
  }

  /// Links to the parts of a long list behind the first.
  private func parts(_ call: PageCall, _ push: FoundPush, _ report: PushReport) -> HTML {
    let parts = TargetList.parts(of: report.targets.all, limit: Self.exportTargetRows)
    guard !parts.isEmpty else { return .none }
    let (count, most) = (String(report.targets.all.count), String(Self.exportTargetRows))
    return """
      <details><summary>\(call(Words.targetParts.with(count, most)))</summary><p class="row">
      \(parts, { "<a href=\"\(push.path)/targets.csv?after=\($0.after.rawValue)\">\($0.first)–\($0.last)</a> " })</p></details>
      """
  }

  private func samples(_ call: PageCall, _ push: FoundPush) -> HTML {
    guard let body = push.object else {
      return
        "<section class=\"card\"><h2>\(call(Words.asCode))</h2><p class=\"quiet\">\(call(Words.noObject))</p></section>"
    }
    return codeDetails(call, PushSamples(address: call.origin, key: push.app.key.text, body: body))
  }

  private func showTrace(_ call: PageCall) {
    withReport(call) { [self] push, report in
      traceParts(call, push, report) { [self] trace, targets in
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("html", trace.text)
        writer.member("targets", targets.text)
        writer.member("recall", recallText(call, report))
        writer.member("open", Trace.isOpen(report))
        writer.endObject()
        call.show(json: writer.bytes)
      }
    }
  }

  // MARK: Again, and back

  /// The same push object once more: who would get it now is counted before anything is sent.
  private func sendAgain(_ call: PageCall) {
    withPush(call) { [self] push in
      guard let body = push.object, let json = try? parseJSON(Array(body.utf8)) else {
        return call.show(Failures.notFound(call), status: 404)
      }
      let parsed = Result { () throws(APIError) in
        AcceptRequest(try PushRequest.parse(json, rules: gateway.pushRules, audience: .any))
      }
      switch parsed {
      case .failure(let error): refuseAgain(call, push, error)
      case .success(let request):
        router.validate(request, for: push.app) { [self] result in
          switch result {
          case .failure(let error): refuseAgain(call, push, error)
          case .success(let accepted):
            let draft = PushDraft(body: body, cid: Self.newCID(push.app), form: nil)
            call.show(confirmPage(call, draft, request, devices: accepted.targets, push.app))
          }
        }
      }
    }
  }

  private func refuseAgain(_ call: PageCall, _ push: FoundPush, _ error: APIError) {
    call.show(
      Layout(
        call(Words.sendAgain), tab: .history, notice: .init(text: call(PushWords.phrase(error)), isBad: true),
        """
        <h1>\(call(Words.sendAgain))</h1>
        <section class="card"><p>\(call(Words.notAgain))</p>
        <p><a class="button plain" href="\(push.path)">\(call(Words.toPush))</a></p></section>
        """), status: 422)
  }

  private func recallPush(_ call: PageCall) {
    guard let visitor = call.visitor else { return }
    withPush(call) { [self] push in
      let entry = entry("push.recall", push.row.id.text, by: visitor, call, app: push.app.id)
      router.recall(push.row.id, in: push.app, noting: entry) { result in
        guard case .success = result else { return call.show(Failures.unavailable(call), status: 503) }
        call.redirect(to: push.path)
      }
    }
  }

  // MARK: Its targets

  private func exportTargets(_ call: PageCall) {
    withReport(call) { [self] push, report in
      let after = call.target["after"].flatMap { UInt32($0) }
      let part = TargetList.Part(
        of: report.targets.all, after: after.map { RegistrationNumber($0) }, limit: Self.exportTargetRows)
      findGone(part, of: push.app) { gone in
        guard let gone else { return call.show(Failures.unavailable(call), status: 503) }
        let list = TargetList(report, part, of: push.app, gone: gone)
        let suffix = after.map { "-after-\($0)" } ?? ""
        call.show(
          csv: list.csv(call), name: "push-\(push.row.id.text)\(suffix).csv",
          next: list.next.map { "targets.csv?after=\($0.rawValue)" })
      }
    }
  }

  /// Those targets whose registrations are no more; nil if the database does not tell.
  private func findGone(
    _ part: TargetList.Part, of app: App, _ found: @escaping @Sendable ([GoneRegistration]?) -> Void
  ) {
    guard let first = part.numbers.first, let last = part.numbers.last, part.hasGone(from: app) else {
      return found([])
    }
    router.store.read { transaction throws(StorageError) in
      try transaction.goneRegistrations(of: app.id, from: first, through: last)
    } completion: { result in
      if case .success(let gone) = result { found(gone) } else { found(nil) }
    }
  }
}

extension WebConsole.FoundPush {
  /// The push object as text, without the name of the request: sent again it is another push. Nil if it was not kept.
  var object: String? {
    guard let bytes = source.object, let sent = (try? parseJSON(bytes))?.object else { return nil }
    var object = JSONObject()
    for member in sent.members where member.key != "cid" { object.set(member.key, member.value) }
    return String(decoding: JSONWriter.serialize(.object(object)), as: UTF8.self)
  }
}
