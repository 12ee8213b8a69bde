import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Pushes that wait: for the approval of a second person, or for the time in which they can be undone.
struct WaitingPages: Controller {
  let router: Router
  let gateway: Gateway
  let drafts: DraftDesk

  private static let path = "/console/apps/{app}/waiting"

  static let routes: [Route<WaitingPages>] = [
    Route(.app(.viewer), "GET", path) { await $0.showList($1) },
    Route(.app(.viewer), "GET", "\(path)/{held_id}") { try await $0.showOne($1) },
    Route(.app(.sender), "GET", "\(path)/{held_id}/edit") { try await $0.edit($1) },
    Route(.app(.sender), "POST", "\(path)/{held_id}/approve", again: .showsPageAbove) {
      try await $0.approve($1)
    },
    Route(.app(.sender), "POST", "\(path)/{held_id}/stop", again: .showsPageAbove) { try await $0.stop($1) },
  ]

  /// How many of a list have their devices counted.
  private static let counted = 20

  // MARK: The list

  private func showList(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let call = await call.namingSegments(router)
    guard case .success(let all) = await awaitCallback({ router.approvals.list(of: app, reply: $0) }) else {
      return call.unavailable
    }
    var rows: [HTML] = []
    for (index, waiting) in all.enumerated() {
      rows.append(await row(call, app, waiting, isCounted: index < Self.counted))
    }
    let table: HTML =
      all.isEmpty
      ? "<p class=\"quiet\">\(call(Words.nothingWaiting))</p>"
      : """
      <table><thead><tr><th>\(call(Words.content))</th><th>\(call(Words.audience))</th>
      <th class="number">\(call(Words.wouldReach))</th><th>\(call(Words.askedBy))</th><th>\(call(Words.sendingTime))</th>
      <th>\(call(Words.waitsUntil))</th></tr></thead><tbody>
      \(rows, { $0 })</tbody></table>
      """
    return call.show(
      Layout(
        call(Words.waitingPushes), tab: .waiting,
        """
        <h1>\(call(Words.waitingPushes))</h1>
        <p class="quiet">\(call(Words.waitingPushesText))</p>
        <section class="card">\(table)</section>
        """))
  }

  private func row(
    _ call: PageCall, _ app: App, _ waiting: Approvals.Waiting, isCounted: Bool
  ) async -> HTML {
    let schedule = waiting.schedule
    let part = part(call, app, schedule)
    var count = "–"
    if isCounted, let push = try? part.request.get(), push.audience.file == nil,
      case .success(let size) = await AudienceSize.find(push, in: app, router)
    {
      count = Counted.grouped(size.total)
    }
    let time: HTML =
      schedule.approval.isSend ? "\(call(Words.atOnce))" : "\(call(TriggerText.phrase(schedule.trigger)))"
    return """
      <tr><td><a href="\(Self.address(of: schedule, in: app))">\(part.line)</a></td>
      <td>\(part.audience)</td>
      <td class="number" data-label="\(call(Words.wouldReach))">\(count)</td>
      <td data-label="\(call(Words.askedBy))">\(waiting.author ?? call(Words.somebody))</td><td>\(time)</td>
      <td class="when" data-label="\(call(Words.waitsUntil))">\(schedule.waitsUntil.map { call.moment($0) } ?? "–")</td></tr>

      """
  }

  static func address(of schedule: Schedule, in app: App) -> String {
    "/console/apps/\(app.key.text)/waiting/\(schedule.id)"
  }

  private func part(_ call: PageCall, _ app: App, _ schedule: Schedule) -> ScheduledPart {
    ScheduledPart(call: call, app: app, schedule: schedule, router: router, gateway: gateway)
  }

  // MARK: One push

  private func find(_ call: PageCall) async throws(Refused) -> (app: App, waiting: Approvals.Waiting) {
    guard let app = call.app, let id = call.capture("held_id") else { throw Refused(call.missing) }
    switch await awaitCallback({ router.approvals.find(id, in: app, reply: $0) }) {
    case .success(let found): return (app, found)
    case .failure(.unknown): throw Refused(call.missing)
    case .failure: throw Refused(call.unavailable)
    }
  }

  private func showOne(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, waiting) = try await find(call)
    if let run = waiting.run, run.code == 0 {
      let place = "/console/apps/\(app.key.text)/pushes/\(run.id.text)"
      guard let message = call.flash, call.target["notice"] == message.rawValue else {
        return call.redirect(to: place)
      }
      return call.redirect(to: place, notice: message)
    }
    let call = await call.namingSegments(router)
    let schedule = waiting.schedule
    let part = part(call, app, schedule)
    let (title, content) = (part.line, await part.content())
    let time: HTML =
      schedule.approval.isSend ? .none : "<span>\(call(TriggerText.phrase(schedule.trigger)))</span>"
    let who = schedule.approval.state == .none ? Words.sentBy : Words.askedBy
    var response = call.show(
      Layout(
        title, tab: schedule.approval.state == .none ? .push : .waiting,
        """
        <div class="row"><h1>\(title)</h1><span class="end">\(buttons(call, app, waiting))</span></div>
        <p class="quiet facts"><span>\(call(who)) \(waiting.author ?? call(Words.somebody))</span>
        <span>\(call.moment(schedule.createdAt))</span>\(time)</p>
        <p class="big" role="status">\(state(call, waiting))</p>
        \(content)
        """))
    if let seconds = refresh(schedule, at: call.now) { response.headers.append("Refresh", String(seconds)) }
    return response
  }

  /// What is the matter with it.
  private func state(_ call: PageCall, _ waiting: Approvals.Waiting) -> HTML {
    let (schedule, decider) = (waiting.schedule, waiting.decider ?? call(Words.somebody))
    if let run = waiting.run {
      return "\(call(Words.wasNotSent.with(call(run.fault))))"
    }
    switch schedule.approval.state {
    case .none: return goes(call, schedule)
    case .waiting where !schedule.isWaiting(at: call.now): return "\(call(Words.wasExpired))"
    case .waiting:
      let isOwn = schedule.approval.author == call.visitor?.person.id
      let until: HTML =
        schedule.waitsUntil.map {
          "<br><span class=\"quiet\">\(call(Words.waitsUntil)) \(call.moment($0))</span>"
        }
        ?? .none
      return "\(call(isOwn ? Words.waitsForOther : Words.waitsForApproval))\(until)"
    case .approved:
      let next: HTML = schedule.approval.isSend ? " \(call(Words.goesNow))" : .none
      return "\(call(Words.wasApproved.with(decider)))\(next)"
    case .stopped:
      let isOwn = schedule.approval.decidedBy == schedule.approval.author
      return "\(call((isOwn ? Words.wasStopped : Words.wasRejected).with(decider)))"
    case .expired: return "\(call(Words.wasExpired))"
    }
  }

  private func goes(_ call: PageCall, _ schedule: Schedule) -> HTML {
    guard let next = schedule.next, next > call.now else { return "\(call(Words.goesNow))" }
    return "\(call(Words.goesAt.with(String(router.zone.local(next).text.suffix(8)))))"
  }

  /// Seconds after which the page is worth another look, since the push has gone by then.
  private func refresh(_ schedule: Schedule, at now: Timestamp) -> Int64? {
    guard schedule.approval.isSend, let next = schedule.next, schedule.approval.state != .waiting else {
      return nil
    }
    return max(0, (next.milliseconds - now.milliseconds) / 1000) + 1
  }

  private func buttons(_ call: PageCall, _ app: App, _ waiting: Approvals.Waiting) -> HTML {
    let schedule = waiting.schedule
    let address = Self.address(of: schedule, in: app)
    guard call.role ?? .viewer >= .sender else { return .none }
    guard schedule.next != nil else {
      return form(of: schedule, in: app) == nil
        ? .none : "<a class=\"button\" href=\"\(address)/edit\">\(call(Words.editAndSend))</a>"
    }
    guard schedule.approval.state == .waiting else {
      guard schedule.approval.isSend else { return .none }
      return """
        <form method="post" action="\(address)/stop">\(Forms.token(call))\(Forms.hidden("undo", "on"))
        <button>\(call(Words.undo))</button></form>
        """
    }
    guard schedule.isWaiting(at: call.now) else { return .none }
    guard schedule.approval.author != call.visitor?.person.id else {
      return Forms.sure(
        call, Words.withdrawRequest, "\(address)/stop", Words.rejectText, button: Words.withdrawRequestNow)
    }
    let text = schedule.approval.isSend ? Words.approveText : Words.approveScheduledText
    let approve = Forms.sure(
      call, Words.approve, "\(address)/approve", text, button: Words.approveNow,
      sending: [("seen", waiting.mark)])
    let reject = Forms.sure(
      call, Words.reject, "\(address)/stop", Words.rejectText, button: Words.rejectNow)
    return "\(approve)\(reject)"
  }

  /// The form that makes the push; nil if there is more to it than the form has fields for.
  private func form(of schedule: Schedule, in app: App) -> PushForm? {
    (try? parseJSON(schedule.push)).flatMap { PushForm(of: $0, rules: gateway.pushRules(of: app)) }
  }

  /// The form with what the push says, for another one.
  private func edit(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, waiting) = try await find(call)
    guard let visitor = call.visitor, let form = form(of: waiting.schedule, in: app) else {
      return call.missing
    }
    return call.redirect(to: drafts.open(form, of: visitor, in: app))
  }

  // MARK: Deciding

  private func approve(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, waiting) = try await find(call)
    guard let visitor = call.visitor else { return call.missing }
    let id = waiting.schedule.id
    let entry = call.entry("push.approve", id, by: visitor, app: app.id)
    let result = await awaitCallback {
      router.approvals.approve(
        id, seen: call.field("seen"), by: visitor.person.id, in: app, noting: entry, reply: $0)
    }
    return call.answer(result, at: Self.address(of: waiting.schedule, in: app), .pushApproved)
  }

  private func stop(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, waiting) = try await find(call)
    guard let visitor = call.visitor else { return call.missing }
    let id = waiting.schedule.id
    let entry: @Sendable (String) -> AuditRow = { call.entry($0, id, by: visitor, app: app.id) }
    let result = await awaitCallback {
      router.approvals.stop(id, by: visitor.person.id, in: app, noting: entry, reply: $0)
    }
    return call.answer(result, at: Self.address(of: waiting.schedule, in: app), .pushStopped)
  }
}

extension PageCall {
  /// The page again, with a word about what came of a decision.
  func answer<Value>(
    _ result: Result<Value, ApprovalFailure>, at path: String, _ message: FlashMessage
  ) -> HTTPResponse {
    switch result {
    case .success: redirect(to: path, notice: message)
    case .failure(.own): redirect(to: path, notice: .ownApproval)
    case .failure(.changed): redirect(to: path, notice: .changedSince)
    case .failure(.over): redirect(to: path, notice: .waitingOver)
    case .failure(.alone): redirect(to: path, notice: .approvalAlone)
    case .failure(.unknown), .failure(.forbidden): missing
    case .failure(.unavailable): unavailable
    }
  }
}
