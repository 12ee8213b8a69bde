import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Deciding by hand whether the rest of an audience gets a push.
struct CanaryPages: Controller {
  let router: Router
  let gateway: Gateway

  static let routes: [Route<CanaryPages>] = [
    Route(.app(.sender), "POST", "\(path)/release") { try await $0.release($1) },
    Route(.app(.sender), "POST", "\(path)/stop") { try await $0.stop($1) },
  ]

  private static let path = "/console/apps/{app}/pushes/{msg_id}/canary"

  /// The push in the path, if it is the app's and has a canary.
  private func push(of call: PageCall) async throws(Refused) -> (app: App, id: MessageID, path: String) {
    guard let (id, app) = call.push else { throw Refused(call.missing) }
    let result = await awaitCallback { router.canaries.find(id, in: app, reply: $0) }
    guard case .success(let found) = result else { throw Refused(call.unavailable) }
    guard let found, found.id == id else { throw Refused(call.missing) }
    return (app, id, "/console/apps/\(app.key.text)/pushes/\(id.text)")
  }

  private func release(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, id, path) = try await push(of: call)
    guard let visitor = call.visitor else { return call.missing }
    guard gateway.consumePushCall(of: app) else { return refused(call, path, .rateExceeded, status: 429) }
    let entry = call.entry("canary.release", id.text, by: visitor, app: app.id)
    let result = await awaitCallback {
      router.acceptance.release(
        id, of: app, by: gateway.pushRules(of: app), router.canaries, noting: entry, reply: $0)
    }
    switch result {
    case .success(.released): return call.redirect(to: path, notice: .canaryReleased)
    // Nobody of the rest is left, which the page says.
    case .success: return call.redirect(to: path)
    case .failure(let error): return answer(call, path, error)
    }
  }

  private func stop(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, id, path) = try await push(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let entry = call.entry("canary.stop", id.text, by: visitor, app: app.id)
    let result = await awaitCallback { router.canaries.stop(id, of: app, noting: entry, reply: $0) }
    switch result {
    case .success: return call.redirect(to: path, notice: .canaryStopped)
    case .failure(let error): return answer(call, path, error)
    }
  }

  private func answer(_ call: PageCall, _ path: String, _ error: CanaryFailure) -> HTTPResponse {
    switch error {
    case .unknown: call.missing
    case .over: call.redirect(to: path, notice: .canaryOver)
    case .storage: call.unavailable
    case .refused(let fault): refused(call, path, fault, status: 422)
    }
  }

  private func refused(_ call: PageCall, _ path: String, _ fault: APIError, status: Int) -> HTTPResponse {
    call.show(
      Layout(
        call(Words.canary), tab: .history, notice: .init(text: call(CanaryWords.reason(fault)), isBad: true),
        """
        <h1>\(call(Words.canary))</h1>
        <section class="card"><p>\(call(Words.canaryFailed))</p>
        <p><a class="button plain" href="\(path)">\(call(Words.toPush))</a></p></section>
        """), status: status)
  }
}

/// What the page of a push says about its canary.
struct CanaryPart {
  let call: PageCall
  let canary: CanaryStatus
  /// The push of the page, and the path of pushes of the app.
  let push: MessageID
  let path: String

  var html: HTML {
    let (phrase, mark) = CanaryWords.state(canary.state)
    return """

      <section class="card"><div class="row"><h2>\(call(Words.canary))</h2><span class="end">\(buttons)</span></div>
      <p>\(call.state(mark, phrase))</p>
      <dl class="outline">\(rows, { "<dt>\(call($0.0))</dt><dd>\($0.1)</dd>\n" })</dl></section>
      """
  }

  private var rows: [(Phrase, HTML)] {
    var rows: [(Phrase, HTML)] = []
    if let figures = canary.figures {
      let all = Counted.grouped(figures.targets + canary.rest)
      rows.append(
        (Words.canarySentTo, "\(call(Words.canaryOf.with(Counted.grouped(figures.targets), all)))"))
      let known = Words.canaryFigures.with(
        Counted.grouped(figures.succeeded), Counted.grouped(figures.failed),
        Counted.grouped(max(0, figures.targets - figures.known)))
      rows.append(
        (canary.end == nil ? Words.canaryKnown : Words.canaryKnownThen, "\(call(known))"))
    }
    rows.append(
      (Words.canaryLimit, "\(call(Words.canaryMost.with(String(canary.terms.maxFailures))))"))
    if let moment = canary.lookAt { rows.append((Words.canaryLookAt, call.moment(moment))) }
    guard let end = canary.end else { return rows }
    rows.append((Words.canaryEndedAt, call.moment(end.at)))
    if let fault = end.fault { rows.append((Words.canaryReason, "\(call(CanaryWords.reason(fault)))")) }
    if let rest = end.rest {
      let isRest = push == rest
      let other = isRest ? canary.id : rest
      rows.append(
        (
          isRest ? Words.canaryFirstPush : Words.canaryRestPush,
          "<a href=\"\(path)/\(other.text)\">\(other.text)</a>"
        ))
    }
    return rows
  }

  private var buttons: HTML {
    guard canary.end == nil, push == canary.id, call.role ?? .viewer >= .sender else { return .none }
    let path = "\(path)/\(push.text)/canary"
    return """
      \(Forms.sure(call, Words.canaryRelease, "\(path)/release", Words.canaryReleaseText))
      \(Forms.sure(call, Words.canaryStop, "\(path)/stop", Words.canaryStopText))
      """
  }
}
