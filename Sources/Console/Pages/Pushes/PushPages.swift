import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Sending a push by hand.
struct PushPages: Controller {
  let router: Router
  let gateway: Gateway
  let drafts: DraftDesk

  static let routes: [Route<PushPages>] = [
    Route(.app(.sender), "GET", "/console/apps/{app}/push") { await $0.showPushForm($1) },
    Route(.app(.sender), "POST", "/console/apps/{app}/push/audience", body: pushBytes) {
      await $0.countAudience($1)
    },
    Route(.app(.sender), "POST", confirmPath, body: pushBytes) { await $0.checkPush($1) },
    Route(.app(.sender), "GET", confirmPath) { await $0.confirmPush($1) },
    Route(.app(.sender), "POST", "/console/apps/{app}/push", body: pushBytes) { await $0.sendPush($1) },
  ]

  /// The form's target, and the confirmation page.
  static let confirmPath = "/console/apps/{app}/push/confirm"

  /// Room for a thousand names, each character of which a form may write as nine.
  private static let pushBytes = 512 << 10

  /// A push object from the form, or from an earlier push, before it is sent.
  struct PushDraft: Sendable {
    let body: String
    /// The name under which it goes once, however often it is sent.
    let cid: String
    /// The number of the draft that it comes from; nil for an earlier push.
    let draft: String?
    /// When it is to go; nil for at once.
    var trigger: ScheduleTrigger?
    /// The schedule that it changes; nil for a new one.
    var schedule: String?
  }

  static func newCID(_ app: App) -> String { "\(app.key.text)-\(Hex.encode(SystemRandom.bytes(16)))" }

  // MARK: The form

  /// Each form has a number in its address, so that the browser's Back finds it as it was filled in.
  private func showPushForm(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let device = call.target["registration_id"]
    guard let id = call.target["draft"], PushDrafts.isID(id) else {
      var rest = device.map { "&registration_id=\(AddressText.encode($0))" } ?? ""
      if let segment = call.target["segment"] { rest += "&segment=\(AddressText.encode(segment))" }
      if let message = call.target["notice"].flatMap({ FlashMessage(rawValue: $0) }) {
        rest += "&notice=\(message.rawValue)"
      }
      return call.redirect(to: "/console/apps/\(app.key.text)/push?draft=\(PushDrafts.newID())\(rest)")
    }
    let draft = await drafts.draft(id, of: call)
    var form = draft?.form ?? PushForm(for: app)
    if let device, draft == nil { form.names = device }
    var notice = draft?.problem.map { Layout.Notice(text: call($0), isBad: true) }
    if draft?.isHeld == true { notice = Layout.Notice(text: call(Words.draftHeld), isBad: true) }
    if let segment = call.target["segment"], draft == nil {
      (form.audience, form.segment) = (.segment, segment)
    }
    return call.show(
      pushFormPage(
        await call.namingSegments(router), form, id, notice, schedule: draft?.schedule),
      status: draft?.problem == nil ? 200 : 422)
  }

  private func pushFormPage(
    _ call: PageCall, _ form: PushForm, _ id: String, _ notice: Layout.Notice?, schedule: String? = nil
  ) -> Layout {
    guard let app = call.app else { return Failures.notFound(call) }
    let title = call(schedule == nil ? Words.sendPush : Words.editSchedule)
    return Layout(
      title, tab: schedule == nil ? .push : .schedules, notice: notice,
      """
      <h1>\(title)</h1>
      <p class="notice" role="status" hidden data-restored>\(call(Words.draftRestored))
      <button type="button" class="small">\(call(Words.clearForm))</button></p>
      <form class="columns" method="post" action="/console/apps/\(app.key.text)/push/confirm" data-push-form
        data-audience="/console/apps/\(app.key.text)/push/audience" data-fresh="/console/apps/\(app.key.text)/push"
        data-names="/console/apps/\(app.key.text)/names" data-suggestions="\(call(Words.suggestions))">
      <div class="card">
      \(Forms.token(call))<input type="hidden" name="draft" value="\(id)">
      \(PushFormFields.html(call, form, kept: schedule == nil ? nil : form.timing.mode))
      </div>
      \(PhonePreview.html(call, app.name, title: form.title, text: form.text, isMessage: form.kind == .message, isMirror: true))
      <p class="send"><button>\(call(Words.next))</button></p>
      </form>
      """)
  }

  /// A push object that keeps every rule, or what is wrong with it.
  private func parse(_ form: PushForm, for app: App) -> Result<PushRequest, APIError> {
    Result { () throws(APIError) in
      guard form.hasValidHours else {
        throw .invalidValue("options.time_to_live must be 0 to \(PushForm.mostHours) hours")
      }
      guard form.extras.haveNames else { throw .invalidValue("extras: a name of its own for each value") }
      return try PushRequest.parse(form.json, rules: gateway.pushRules(of: app))
    }
  }

  private func countAudience(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let form = PushForm(call)
    let text: String
    switch parse(form, for: app) {
    // Nothing has been typed yet.
    case .failure where !form.namesAnybody: text = ""
    case .failure(let error): text = call(PushWords.phrase(error))
    case .success(let request):
      let size: Phrase?
      switch await AudienceSize.find(request, in: app, router) {
      case .success(let found): size = found.isEmpty ? Words.nobody : found.phrase
      case .failure(let error): size = PushWords.phrase(error)
      }
      let words = [size, KnownNames(form, in: app).phrase]
      // Three fields make one condition, which is easily mistaken.
      let sentence =
        form.audience == .tag
        ? [AudienceText(request.audience, call.segments, call.abTests).full(call.language)] : []
      text = (sentence + words.compactMap { $0.map { call($0) } }).joined(separator: " · ")
    }
    return call.show(text: text)
  }

  // MARK: Confirming and sending

  /// Looks at what was filled in and sends the browser on: to be asked once more, or back to the form.
  private func checkPush(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let (form, path) = (PushForm(call), "/console/apps/\(app.key.text)/push")
    let id = PushDrafts.isID(call.field("draft")) ? call.field("draft") : PushDrafts.newID()
    var draft = PushDrafts.Draft(owner: .person(visitor.person.id), app: app.key, form: form)
    // Drafts belong to one person.
    let earlier = drafts.written.draft(id)
    let number = earlier.map { $0.owner == draft.owner } == false ? PushDrafts.newID() : id
    if number == id, earlier?.app == app.key { draft.schedule = earlier?.schedule }
    switch parse(form, for: app) {
    case .failure(let error):
      draft.problem = PushWords.phrase(error)
    case .success(let request):
      var fault: APIError?
      switch await AudienceSize.find(request, in: app, router) {
      case .success(let size) where !size.isEmpty:
        draft.cid = Self.newCID(app)
        fault = request.options.canary?.fault(devices: size.total)
      case .success: draft.problem = Words.nobody
      case .failure(let error): draft.problem = PushWords.phrase(error)
      }
      do throws(FieldProblem) {
        // How many have gone by then nobody knows yet.
        if try form.timing.trigger(at: call.now, by: router.schedules.clocks) == nil {
          let used = await countBroadcasts(before: request, call, app)
          draft.problem =
            draft.problem ?? fault.map { PushWords.phrase($0) } ?? broadcastsOver(used, call, app)
        }
      } catch {
        draft.problem = error.phrase
      }
    }
    drafts.written.save(draft, number)
    return call.redirect(to: "\(path)\(draft.problem == nil ? "/confirm" : "")?draft=\(number)")
  }

  private func confirmPush(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let path = "/console/apps/\(app.key.text)/push"
    guard let id = call.target["draft"], PushDrafts.isID(id) else { return call.redirect(to: path) }
    let draft = await drafts.draft(id, of: call)
    // The number of drafts is limited, and a restart drops them.
    guard let draft else { return call.redirect(to: path, notice: .draftLost) }
    guard let cid = draft.cid, case .success(let request) = parse(draft.form, for: app) else {
      return call.redirect(to: "\(path)?draft=\(id)")
    }
    if let end = draft.end { return call.show(sentPage(call, draft: id, end, app)) }
    let body = String(decoding: JSONWriter.serialize(draft.form.json), as: UTF8.self)
    var push = PushDraft(body: body, cid: cid, draft: id, schedule: draft.schedule)
    // Whether the time has passed in the meantime shows when the form is sent.
    push.trigger = (try? draft.form.timing.trigger(today: router.zone.local(call.now).date)) ?? nil
    let size = try? await AudienceSize.find(request, in: app, router).get()
    let used = push.trigger == nil ? await countBroadcasts(before: request, call, app) : nil
    let notice = draft.problem.map { Layout.Notice(text: call($0), isBad: true) }
    return call.show(
      await confirmPage(
        await call.namingSegments(router), push, request, size, app, notice, broadcasts: used),
      status: notice == nil ? 200 : 422)
  }

  /// For a return to a confirmation that was answered already.
  private func sentPage(_ call: PageCall, draft: String, _ end: PushDrafts.End, _ app: App) -> Layout {
    let path = "/console/apps/\(app.key.text)"
    let (title, text, link) =
      switch end {
      case .push: (Words.draftSent, Words.draftSentText, Words.result)
      case .schedule: (Words.draftScheduled, Words.draftScheduledText, Words.toSchedule)
      case .waits: (Words.draftSent, Words.draftSentText, Words.toWaiting)
      }
    return Layout(
      call(title), tab: .push,
      """
      <h1>\(call(title))</h1>
      <section class="card"><p>\(call(text))</p>
      <p><a class="button" href="\(path)\(end.path)">\(call(link))</a>
      <a class="button plain" href="\(path)/push?draft=\(draft)">\(call(Words.draftAgain))</a></p></section>
      """)
  }

  /// Asks for confirmation before a push object is sent to so many devices; nil if nobody can say.
  func confirmPage(
    _ call: PageCall, _ draft: PushDraft, _ request: PushRequest, _ size: AudienceSize?, _ app: App,
    _ notice: Layout.Notice? = nil, broadcasts: Int? = nil
  ) async -> Layout {
    let outline = PushOutline(
      call: call, request: request, object: try? parseJSON(Array(draft.body.utf8)), app: app,
      broadcasts: broadcasts)
    let code = PushSamples(address: call.origin, key: app.key.text, body: draft.body)
    let path = "/console/apps/\(app.key.text)/push"
    let back = draft.draft.map { "\(path)?draft=\($0)" } ?? path
    let count = Counted.grouped(size?.total ?? 0)
    let title = call(draft.trigger == nil ? Words.confirmTitle : Words.confirmPlan)
    let brakes = app.brakes
    let asks = brakes.needsApproval(devices: size?.total ?? 0)
    let button =
      asks ? Words.askForApproval : draft.trigger == nil ? Words.sendNow.with(count) : Words.planIt
    let brake: Phrase? =
      asks
      ? Words.needsApproval.with(Counted.grouped(brakes.approvalAbove))
      : draft.trigger == nil && brakes.undoSeconds > 0
        ? Words.canBeUndone.with(String(brakes.undoSeconds)) : nil
    return Layout(
      title, tab: .push, notice: notice,
      """
      <h1>\(title)</h1>
      <div class="columns"><section class="card">
      \(draft.trigger, { "<p class=\"big\">\(call(TriggerText.phrase($0)))</p>" })
      <p class="big">\(call((draft.trigger == nil ? Words.confirmText : Words.reachesNow).with(count)))</p>
      \(outline.table)
      \(previews(call, request, app))
      \(await forecast(call, request, app))
      \(brake, { "<p class=\"notice\">\(call($0))</p>" })
      <form method="post" action="\(path)">
      \(Forms.token(call))
      <input type="hidden" name="body" value="\(draft.body)">
      <input type="hidden" name="cid" value="\(draft.cid)">
      \(draft.draft, { Forms.hidden("draft", $0) })
      \(draft.trigger, { Forms.hidden("trigger", String(decoding: $0.stored, as: UTF8.self)) })
      \(draft.schedule, { Forms.hidden("schedule", $0) })
      <button>\(call(button))</button>
      <a class="button plain" href="\(back)">\(call(draft.draft == nil ? Words.cancel : Words.change))</a>
      </form>
      </section>
      \(outline.preview)</div>
      \(if: draft.trigger == nil, code.details(call))
      """)
  }

  /// The class, the cuts and the rules of each maker's channel, which depend on the content alone.
  private func previews(_ call: PageCall, _ request: PushRequest, _ app: App) -> HTML {
    let previews = router.channels.previews(
      of: request.content, in: app, secondsToLive: request.options.timeToLive)
    guard !previews.isEmpty else { return .none }
    return """
      <dl class="outline">\(previews, { "<dt>\(call(Words.by($0.channel)))</dt><dd>\(call($0.phrase(in: router.zone)))</dd>\n" })</dl>
      """
  }

  /// The forecast of the push; nothing if there is none.
  private func forecast(_ call: PageCall, _ request: PushRequest, _ app: App) async -> HTML {
    guard let forecast = await forecast(of: AcceptRequest(request), in: app) else { return .none }
    let table = ForecastTable(
      call: call, forecast: forecast, channels: router.channels,
      text: request.abTest == nil ? Words.forecastText : Words.forecastABTest)
    return "<h2>\(call(Words.forecast))</h2>\(table.html)"
  }

  /// What would become of the push; nil if that cannot be said, and for one to a file, which may name a
  /// million devices and is read once only.
  private func forecast(of request: AcceptRequest, in app: App) async -> PushForecast? {
    guard request.push.audience.file == nil else { return nil }
    let result = await awaitCallback { router.acceptance.forecast(request, for: app, reply: $0) }
    return try? result.get()
  }

  private func sendPush(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    let id = call.text("draft").flatMap { PushDrafts.isID($0) ? $0 : nil }
    var draft = PushDraft(body: call.form?["body"] ?? "", cid: call.field("cid"), draft: id)
    draft.trigger = call.text("trigger").flatMap { ScheduleTrigger(stored: Array($0.utf8)) }
    draft.schedule = call.text("schedule")
    let request: AcceptRequest
    do {
      // Whatever was sent once can be sent again, to a file's devices too.
      request = try self.request(
        try parseJSON(Array(draft.body.utf8)), cid: draft.cid, of: app, by: visitor, call, audience: .any)
    } catch {
      let problem = (error as? APIError).map { PushWords.phrase($0) } ?? Words.notFound
      let notice = Layout.Notice(text: call(problem), isBad: true)
      return call.show(
        pushFormPage(
          await call.namingSegments(router), PushForm(for: app), PushDrafts.newID(), notice), status: 422)
    }
    guard Gateway.isCID(draft.cid, issuedTo: app.key) else {
      return call.show(Failures.foreignForm(call), status: 403)
    }
    guard draft.trigger == nil ? gateway.consumePushCall(of: app) : gateway.consumeCall(.schedule, of: app)
    else {
      return await confirmAgain(call, draft, request, app, .rateExceeded, status: 429)
    }
    let result = await perform(draft, request, of: app, by: visitor, call)
    switch result {
    case .success(let end):
      note(draft, of: visitor) { $0.end = end }
      return call.redirect(to: "/console/apps/\(app.key.text)\(end.path)")
    case .failure(let error): return await confirmAgain(call, draft, request, app, error, status: 422)
    }
  }

  /// Sends a push, or makes or changes its schedule.
  private func perform(
    _ draft: PushDraft, _ request: AcceptRequest, of app: App, by visitor: Visitor, _ call: PageCall
  ) async -> Result<PushDrafts.End, APIError> {
    guard let trigger = draft.trigger else {
      var request = request
      // Of an A/B test, and with a canary, it is about none of the pushes that it becomes.
      let isOne = request.push.abTest == nil && request.push.options.canary == nil
      if isOne { request.forecast = await forecast(of: request, in: app) }
      return await send(request, named: draft.cid, of: app, by: visitor, call)
    }
    do throws(APIError) {
      guard let object = request.object, let json = try? parseJSON(object) else { throw .internalError }
      let push = try ScheduledPush(json, rules: gateway.pushRules(of: app))
      let name = SchedulePages.name(of: push.request)
      let uuid = draft.schedule ?? Gateway.uuid()
      // One for which nobody can say how many devices it would go to is counted when it goes.
      let size = try? await AudienceSize.find(request.push, in: app, router).get()
      let author = Schedules.Author(visitor.person.id, devices: size?.total ?? 0) {
        call.entry($0, uuid, by: visitor, app: app.id)
      }
      let result = await awaitCallback { (done: @escaping Schedules.Reply<Schedule>) in
        if draft.schedule != nil {
          let update = ScheduleUpdate(name: name, trigger: trigger, push: push)
          router.schedules.change(uuid, update, in: app, by: author, reply: done)
        } else {
          let asked = ScheduleRequest(cid: draft.cid, name: name, trigger: trigger, push: push)
          router.schedules.create(asked, named: uuid, in: app, by: author, reply: done)
        }
      }
      return result.map { $0.approval.state == .waiting ? .waits($0.id) : .schedule($0.id) }
    } catch {
      return .failure(error)
    }
  }

  /// Notes something in the draft that a push comes from; false if there is none.
  @discardableResult
  private func note(_ push: PushDraft, of visitor: Visitor, _ change: (inout PushDrafts.Draft) -> Void)
    -> Bool
  {
    guard let id = push.draft, var draft = drafts.written.draft(id),
      draft.owner == .person(visitor.person.id),
      draft.cid == push.cid
    else { return false }
    change(&draft)
    drafts.written.save(draft, id)
    return true
  }

  /// A push object that a person sends: once per `cid`, with an audit log entry.
  func request(
    _ object: JSONValue, cid: String, of app: App, by visitor: Visitor, _ call: PageCall,
    audience: AudienceKind = .named
  ) throws(APIError) -> AcceptRequest {
    var push = object.object ?? JSONObject()
    push.set("cid", .string(cid))
    return AcceptRequest(
      try PushRequest.parse(.object(push), rules: gateway.pushRules(of: app), audience: audience),
      from: .person(visitor.person.id), object: JSONWriter.serialize(object),
      note: call.entry("push.send", "", by: visitor, app: app.id))
  }

  /// The same question with what went wrong, so that nothing has to be typed again. Nothing was stored under
  /// the push's name.
  private func confirmAgain(
    _ call: PageCall, _ draft: PushDraft, _ request: AcceptRequest, _ app: App, _ error: APIError, status: Int
  ) async -> HTTPResponse {
    let problem = PushWords.phrase(error)
    if let visitor = call.visitor, let id = draft.draft, note(draft, of: visitor, { $0.problem = problem }) {
      return call.redirect(to: "/console/apps/\(app.key.text)/push/confirm?draft=\(id)")
    }
    let notice = Layout.Notice(text: call(problem), isBad: true)
    // What was wrong may still be so.
    let size = try? await AudienceSize.find(request.push, in: app, router).get()
    return call.show(
      await confirmPage(await call.namingSegments(router), draft, request.push, size, app, notice),
      status: status)
  }
}

extension PushPages {
  /// How many broadcasts the app has sent today, if their number is limited and this is one; nil otherwise,
  /// and if the database cannot be read.
  func countBroadcasts(
    before push: PushRequest, _ call: PageCall, _ app: App
  ) async -> Int? {
    guard case .all = push.audience, app.plan.broadcasts != nil else { return nil }
    let day = router.zone.local(call.now).date.dayNumber
    let result = await router.apps.broadcasts(of: app, on: day)
    return try? result.get()
  }

  /// What to say instead of asking when as many were sent as the plan allows; nil while one more may be.
  func broadcastsOver(_ used: Int?, _ call: PageCall, _ app: App) -> Phrase? {
    guard let used, let limit = app.plan.broadcasts, used >= limit else { return nil }
    let zone = ZoneText.name(router.zone, at: call.now)
    return Words.broadcastsOver.with(Counted.grouped(limit), zone)
  }
}
