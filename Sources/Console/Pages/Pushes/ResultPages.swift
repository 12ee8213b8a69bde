import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The outcome of one push.
struct ResultPages: Controller {
  let router: Router
  let gateway: Gateway
  let pushes: PushPages

  static let routes: [Route<ResultPages>] = [
    Route(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}") { try await $0.showPush($1) },
    Route(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}/trace") { try await $0.showTrace($1) },
    Route(.app(.viewer), "GET", "/console/apps/{app}/pushes/{msg_id}/targets.csv") {
      try await $0.exportTargets($1)
    },
    Route(.app(.sender), "GET", "/console/apps/{app}/pushes/{msg_id}/again") { try await $0.sendAgain($1) },
    Route(.app(.sender), "GET", "/console/apps/{app}/pushes/{msg_id}/edit") { try await $0.edit($1) },
    Route(.app(.sender), "POST", "/console/apps/{app}/pushes/{msg_id}/recall") {
      try await $0.recallPush($1)
    },
  ]

  /// Lines of a file of targets.
  static let exportTargetRows = 10_000

  /// The push in the path, if it is the app's.
  private func push(of call: PageCall) async throws(Refused) -> FoundPush {
    guard let (id, app) = call.push else { throw Refused(call.missing) }
    let result = await router.history.find(id, in: app)
    guard case .success(let found) = result else { throw Refused(call.unavailable) }
    guard let found else { throw Refused(call.missing) }
    return FoundPush(app: app, row: found.row, source: found.source, senderName: found.senderName)
  }

  private func report(of call: PageCall) async throws(Refused) -> (push: FoundPush, report: PushReport) {
    let push = try await push(of: call)
    let result = await awaitCallback { router.reports.report(on: push.row.id, in: push.app, reply: $0) }
    guard case .success(let report?) = result else { throw Refused(call.unavailable) }
    return (push, report)
  }

  // MARK: The page

  private func showPush(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (push, report) = try await report(of: call)
    let (trace, targets) = await traceParts(call, push, report)
    let canary = try await canary(call, push)
    return call.show(
      pushPage(await call.namingSegments(router), push, report, (trace, targets), canary))
  }

  /// How the canary of the push does; nothing if it has none.
  private func canary(_ call: PageCall, _ push: FoundPush) async throws(Refused) -> HTML {
    let result = await awaitCallback { router.canaries.find(push.row.id, in: push.app, reply: $0) }
    guard case .success(let found) = result else { throw Refused(call.unavailable) }
    guard let found else { return .none }
    let path = "/console/apps/\(push.app.key.text)/pushes"
    return CanaryPart(call: call, canary: found, push: push.row.id, path: path).html
  }

  private func pushPage(
    _ call: PageCall, _ push: FoundPush, _ report: PushReport, _ parts: (trace: HTML, targets: HTML),
    _ canary: HTML
  ) -> Layout {
    let excerpt = PushExcerpt(push.row.content)
    let (source, id) = (push.source, push.row.id.text)
    let words = [
      PushNames.kinds(source.traits, call),
      AudienceText(object: source.object, call.segments, call.abTests)?.full(call.language)
        ?? PushNames.audiences(source.traits, call),
      PushNames.sender(source.sender, push.senderName, source.traits, call),
    ].filter { !$0.isEmpty }
    return Layout(
      excerpt.line(call), tab: .history,
      """
      <div class="row"><h1>\(excerpt.line(call))</h1><span class="end">\(buttons(call, push, report))</span></div>
      <p class="quiet facts"><span>msg_id <code>\(id)</code> \(call.copyButton(id))</span>
      <span>\(call.moment(push.row.createdAt))</span>\(words, { "<span>\($0)</span>" })</p>\(ignored(call, push))\(leftOut(call, report))
      <p class="notice warn" role="status" hidden data-trace-ended>\(call(Words.traceEnded))</p>
      <section class="card" data-trace="\(push.path)/trace" aria-live="polite">\(parts.trace)</section>\(canary)
      <section class="card" data-trace-targets>\(parts.targets)</section>
      <div class="pair">
      <section class="card"><h2>\(call(Words.askDevice))</h2><p class="quiet">\(call(Words.askDeviceText))</p>
      <form method="get" action="\(push.path)/why">
      \(Forms.field(call(Words.whyDevice), "registration_id"))
      <button class="plain">\(call(Words.ask))</button></form></section>
      <section class="card"><h2>\(call(Words.targetList))</h2><p class="quiet">\(call(Words.targetListText))</p>
      <p><a class="button plain" href="\(push.path)/targets.csv">\(call(Words.downloadCSV))</a></p>
      \(self.parts(call, push, report))</section>
      </div>
      \(samples(call, push))\(forecast(call, push))
      <section class="card"><details><summary>\(call(Words.deviceGets))</summary>
      <pre><code>\(excerpt.json)</code></pre>\(languages(call, push))</details></section>
      """)
  }

  /// The forecast made when it was sent.
  private func forecast(_ call: PageCall, _ push: FoundPush) -> HTML {
    guard let forecast = push.forecast(router.channels) else { return .none }
    let table = ForecastTable(
      call: call, forecast: forecast, channels: router.channels, text: Words.forecastWas)
    return """

      <section class="card"><details><summary>\(call(Words.forecastAsSent))</summary>
      \(table.html)</details></section>
      """
  }

  /// What some devices get in their language.
  private func languages(_ call: PageCall, _ push: FoundPush) -> HTML {
    let texts = push.row.languages.flatMap { PushLanguages(decoding: $0) }?.texts ?? []
    return "\(texts, { language(call, $0) })"
  }

  private func language(_ call: PageCall, _ text: PushLanguages.Text) -> HTML {
    """

    <p>\(text.language) · \(call(Counted.devices(text.targets.count)))</p>
    <pre><code>\(PushExcerpt(text.content.encode()).json)</code></pre>
    """
  }

  /// What the sender asked for and nothing obeys.
  private func ignored(_ call: PageCall, _ push: FoundPush) -> HTML {
    let names = push.ignored(by: gateway.pushRules(of: push.app))
    guard !names.isEmpty else { return .none }
    return """

      <p class="notice warn">\(call(Words.ignoredMembers)) \(names, { "<code>\($0)</code> " })</p>
      """
  }

  private func leftOut(_ call: PageCall, _ report: PushReport) -> HTML {
    let lines = [
      (Words.leftOut, report.leftOut), (Words.quiet, report.quiet), (Words.capped, report.capped),
    ].filter { $0.1 > 0 }
    return """
      \(lines, { "\n<p class=\"quiet\">\(call($0.0.with(Counted.grouped($0.1))))</p>" })\(report.held, { held in
        "\n<p class=\"quiet\">\(call(Words.held.with(Counted.grouped(held.count)))) \(call.moment(held.until))</p>"
      })
      """
  }

  private func buttons(_ call: PageCall, _ push: FoundPush, _ report: PushReport) -> HTML {
    guard call.role ?? .viewer >= .sender else { return .none }
    let again: HTML =
      push.source.object == nil
      ? .none : "<a class=\"button\" href=\"\(push.path)/again\">\(call(Words.sendAgain))</a>"
    let edit: HTML =
      form(of: push) == nil
      ? .none : "<a class=\"button plain\" href=\"\(push.path)/edit\">\(call(Words.editAndSend))</a>"
    guard Trace.isOpen(report) else { return "\(edit)\(again)" }
    return "\(recallForm(call, push, report))\(edit)\(again)"
  }

  /// The form that would send the push; nil if there is more to it than the form has fields for.
  private func form(of push: FoundPush) -> PushForm? {
    guard let json = push.source.object.flatMap({ try? parseJSON($0) }) else { return nil }
    return PushForm(of: json, rules: gateway.pushRules(of: push.app))
  }

  /// Links to the parts of a long list behind the first.
  private func parts(_ call: PageCall, _ push: FoundPush, _ report: PushReport) -> HTML {
    let parts = TargetList.parts(of: report.targets.all, limit: Self.exportTargetRows)
    guard !parts.isEmpty else { return .none }
    let (count, most) = (
      Counted.grouped(report.targets.all.count), Counted.grouped(Self.exportTargetRows)
    )
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
    return PushSamples(address: call.origin, key: push.app.key.text, body: body).details(call)
  }

  private func showTrace(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (push, report) = try await report(of: call)
    let (trace, targets) = await traceParts(call, push, report)
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("html", trace.text)
    writer.member("targets", targets.text)
    writer.member("recall", recallText(call, report))
    writer.member("open", Trace.isOpen(report))
    writer.endObject()
    return call.show(json: writer.bytes)
  }

  // MARK: Again, and back

  /// The same push object once more: who would get it now is counted before anything is sent.
  private func sendAgain(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let push = try await push(of: call)
    guard let visitor = call.visitor, let body = push.object, let json = try? parseJSON(Array(body.utf8))
    else {
      return call.missing
    }
    let parsed = Result { () throws(APIError) in
      try PushRequest.parse(json, rules: gateway.pushRules(of: push.app), audience: .any)
    }
    switch parsed {
    case .failure(let error): return refuseAgain(call, push, error)
    case .success(let request):
      let result = await awaitCallback {
        router.acceptance.validate(
          AcceptRequest(request, from: .person(visitor.person.id)), for: push.app, reply: $0)
      }
      switch result {
      case .failure(let error): return refuseAgain(call, push, error)
      case .success(let accepted):
        let draft = PushPages.PushDraft(body: body, cid: PushPages.newCID(push.app), draft: nil)
        // A file, which may name a million devices, is read once only.
        let found =
          request.audience.file == nil
          ? try? await AudienceSize.find(request, in: push.app, router).get() : nil
        let size = found ?? AudienceSize(total: accepted.targets)
        return call.show(
          await pushes.confirmPage(await call.namingSegments(router), draft, request, size, push.app))
      }
    }
  }

  /// The form with what the push says.
  private func edit(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let push = try await push(of: call)
    guard let visitor = call.visitor, let form = form(of: push) else { return call.missing }
    return call.redirect(to: pushes.drafts.open(form, of: visitor, in: push.app))
  }

  private func refuseAgain(_ call: PageCall, _ push: FoundPush, _ error: APIError) -> HTTPResponse {
    return call.show(
      Layout(
        call(Words.sendAgain), tab: .history, notice: .init(text: call(PushWords.phrase(error)), isBad: true),
        """
        <h1>\(call(Words.sendAgain))</h1>
        <section class="card"><p>\(call(Words.notAgain))</p>
        <p><a class="button plain" href="\(push.path)">\(call(Words.toPush))</a></p></section>
        """), status: 422)
  }

  private func recallPush(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    guard let visitor = call.visitor else { return call.missing }
    let push = try await push(of: call)
    let entry = call.entry("push.recall", push.row.id.text, by: visitor, app: push.app.id)
    let result = await awaitCallback {
      router.deliveries.recall(push.row.id, in: push.app, noting: entry, reply: $0)
    }
    guard case .success(let recalled) = result else { return call.unavailable }
    return recalled.unconfirmed == 0
      ? call.redirect(to: push.path) : call.redirect(to: push.path, notice: .recallUnconfirmed)
  }

  // MARK: Its targets

  private func exportTargets(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (push, report) = try await report(of: call)
    let after = call.target["after"].flatMap { UInt32($0) }
    let part = TargetList.Part(
      of: report.targets.all, after: after.map { RegistrationNumber($0) }, limit: Self.exportTargetRows)
    let gone = await findGone(part, of: push.app)
    guard let gone else { return call.unavailable }
    let list = TargetList(report, part, of: push.app, gone: gone, router)
    let suffix = after.map { "-after-\($0)" } ?? ""
    return call.show(
      csv: list.csv(call), name: "push-\(push.row.id.text)\(suffix).csv",
      next: list.next.map { "targets.csv?after=\($0.rawValue)" })
  }

  /// The targets whose registrations were replaced; nil if the database cannot be read.
  private func findGone(
    _ part: TargetList.Part, of app: App
  ) async -> [GoneRegistration]? {
    guard let first = part.numbers.first, let last = part.numbers.last, part.hasGone(from: app) else {
      return []
    }
    let result = await router.registrations.gone(in: app, from: first, through: last)
    return try? result.get()
  }
}

extension FoundPush {
  /// The push object as text, without the name of the request: sent again it is another push. Nil if it was
  /// not kept.
  var object: String? {
    guard let bytes = source.object, let sent = (try? parseJSON(bytes))?.object else { return nil }
    var object = JSONObject()
    for member in sent.members where member.key != "cid" { object.set(member.key, member.value) }
    return String(decoding: JSONWriter.serialize(.object(object)), as: UTF8.self)
  }
}

extension FoundPush {
  /// Members of the push object that have no effect.
  func ignored(by rules: PushRules) -> [String] {
    guard let object = source.object, let json = try? parseJSON(object) else { return [] }
    let rules = source.traits.contains(.getui) ? rules.forGetui : rules
    return (try? PushRequest.parse(json, rules: rules, audience: .any))?.ignored ?? []
  }
}

/// A push and where it comes from.
struct FoundPush: Sendable {
  let app: App
  let row: PushRow
  let source: PushSource
  let senderName: String?

  var path: String { "/console/apps/\(app.key.text)/pushes/\(row.id.text)" }

  /// The forecast made when it was sent; nil if there is none.
  func forecast(_ channels: PluggedChannels) -> PushForecast? {
    source.forecast.flatMap { PushForecast(decoding: $0, of: channels.infos) }
  }
}
