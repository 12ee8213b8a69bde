import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Pushes that are to go later: the schedules of the API, whoever made them.
struct SchedulePages: Controller {
  let router: Router
  let gateway: Gateway
  let drafts: DraftDesk

  private static let path = "/console/apps/{app}/planned"

  static let routes: [Route<SchedulePages>] = [
    Route(.app(.viewer), "GET", path) { try await $0.showList($1) },
    Route(.app(.viewer), "GET", "\(path)/{schedule_id}") { try await $0.showSchedule($1) },
    Route(.app(.sender), "GET", "\(path)/{schedule_id}/edit") { try await $0.edit($1) },
    Route(.app(.sender), "POST", "\(path)/{schedule_id}/enabled", again: .showsPageAbove) {
      try await $0.enable($1)
    },
    Route(.app(.sender), "POST", "\(path)/{schedule_id}/cancel", again: .showsPageAbove) {
      try await $0.cancel($1)
    },
  ]

  private static let pageSize = 50
  /// Times that are shown of those to come, and of those that are over.
  private static let (shownTimes, shownRuns) = (5, 50)

  /// A name for the schedule of a push, of the characters that the API allows.
  static func name(of push: PushRequest) -> String {
    let excerpt = PushExcerpt(push.content.encode())
    var name = ""
    for scalar in (excerpt.title.isEmpty ? excerpt.text : excerpt.title).unicodeScalars.prefix(40) {
      name.unicodeScalars.append(NameRules.isWordCharacter(scalar) ? scalar : "_")
    }
    return name.isEmpty ? "push" : name
  }

  // MARK: The list

  private func showList(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let call = await call.namingSegments(router)
    let page = max(1, call.target["page"].flatMap { Int($0) } ?? 1)
    let result = await awaitCallback {
      router.schedules.list(of: app, page: page - 1, size: Self.pageSize, reply: $0)
    }
    guard case .success(let found) = result else { return call.unavailable }
    let path = "/console/apps/\(app.key.text)/planned"
    let older: HTML =
      page * Self.pageSize < found.total
      ? "<a class=\"button plain\" href=\"\(path)?page=\(page + 1)\" rel=\"next\">\(call(Words.older))</a>"
      : .none
    return call.show(
      Layout(
        call(Words.scheduled), tab: .schedules,
        """
        <h1>\(call(Words.scheduled))</h1>
        <p class="quiet">\(call(Words.scheduledText.with(ZoneText.name(router.zone, at: call.now))))</p>
        <section class="card">\(table(call, app, found.schedules))
        \(if: page > 1 || older != .none, "<p class=\"row\">\(older)</p>")</section>
        """))
  }

  private func table(_ call: PageCall, _ app: App, _ schedules: [Schedule]) -> HTML {
    guard !schedules.isEmpty else {
      return "<p class=\"quiet\">\(call(Words.nothingScheduled))</p>"
    }
    return """
      <table class="planned"><thead><tr><th>\(call(Words.nextTime))</th><th>\(call(Words.content))</th>
      <th>\(call(Words.audience))</th><th>\(call(Words.sendingTime))</th><th>\(call(Words.state))</th></tr></thead><tbody>
      \(schedules, { row(call, app, $0) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ app: App, _ schedule: Schedule) -> HTML {
    let part = part(call, app, schedule)
    let next: HTML = schedule.isEnabled ? self.next(of: schedule, call) ?? "–" : "–"
    return """
      <tr><td class="when">\(next)</td>
      <td><a href="/console/apps/\(app.key.text)/planned/\(schedule.id)">\(part.line)</a>
      <span class="quiet">\(schedule.name)</span></td>
      <td>\(part.audience)</td>
      <td>\(call(TriggerText.phrase(schedule.trigger)))</td>
      <td>\(state(of: schedule, call))</td></tr>

      """
  }

  /// When it goes next: by the clocks of devices what they show then.
  private func next(of schedule: Schedule, _ call: PageCall) -> HTML? {
    switch schedule.trigger.clocks {
    case .server: schedule.next.map { call.moment($0) }
    case .device: schedule.nextLocal.map { "\($0.text)" }
    }
  }

  private func state(of schedule: Schedule, _ call: PageCall) -> HTML {
    guard schedule.next != nil else { return call.state(.over, Words.scheduleEnded) }
    if schedule.approval.state == .waiting { return call.state(.warn, Words.waitingPushes) }
    return schedule.isEnabled
      ? call.state(.open, Words.scheduleActive) : call.state(.over, Words.schedulePaused)
  }

  private func part(_ call: PageCall, _ app: App, _ schedule: Schedule) -> ScheduledPart {
    ScheduledPart(call: call, app: app, schedule: schedule, router: router, gateway: gateway)
  }

  // MARK: One schedule

  private func schedule(of call: PageCall) async throws(Refused) -> (app: App, schedule: Schedule) {
    guard let app = call.app, let id = call.capture("schedule_id") else { throw Refused(call.missing) }
    switch await awaitCallback({ router.schedules.find(id, in: app, reply: $0) }) {
    case .success(let found): return (app, found)
    case .failure(.scheduleUnknown): throw Refused(call.missing)
    case .failure: throw Refused(call.unavailable)
    }
  }

  private func showSchedule(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, schedule) = try await schedule(of: call)
    let call = await call.namingSegments(router)
    let result = await awaitCallback { router.schedules.runs(of: schedule.id, in: app, reply: $0) }
    guard case .success(let runs) = result else { return call.unavailable }
    let path = "/console/apps/\(app.key.text)/planned/\(schedule.id)"
    let part = part(call, app, schedule)
    let (title, content) = (part.line, await part.content())
    return call.show(
      Layout(
        title, tab: .schedules,
        """
        <div class="row"><h1>\(title)</h1><span class="end">\(buttons(call, path, schedule, app))</span></div>
        <p class="quiet facts"><span>schedule_id <code>\(schedule.id)</code> \(call.copyButton(schedule.id))</span>
        <span>\(call(TriggerText.phrase(schedule.trigger)))</span><span>\(state(of: schedule, call))</span></p>
        \(times(call, schedule))
        \(content)
        <section class="card"><h2>\(call(Words.pastRuns))</h2>\(table(call, app, runs, schedule))</section>
        """))
  }

  private func buttons(_ call: PageCall, _ path: String, _ schedule: Schedule, _ app: App) -> HTML {
    guard call.role ?? .viewer >= .sender, schedule.next != nil else { return .none }
    let edit: HTML =
      form(of: schedule, in: app) == nil
      ? .none : "<a class=\"button\" href=\"\(path)/edit\">\(call(Words.edit))</a>"
    let pause: HTML =
      schedule.approval.state == .waiting
      ? "<a class=\"button plain\" href=\"\(WaitingPages.address(of: schedule, in: app))\">\(call(Words.waitingPushes))</a>"
      : schedule.isEnabled
        ? Forms.sure(
          call, Words.pauseSchedule, "\(path)/enabled", Words.pauseScheduleText, sending: [("enabled", "off")]
        )
        : Forms.sure(
          call, Words.resumeSchedule, "\(path)/enabled", Words.resumeScheduleText,
          sending: [("enabled", "on")])
    let cancel = Forms.sure(
      call, Words.cancelSchedule, "\(path)/cancel", Words.cancelScheduleText, button: Words.cancelScheduleNow)
    return "\(edit)\(pause)\(cancel)"
  }

  /// When it goes next.
  private func times(_ call: PageCall, _ schedule: Schedule) -> HTML {
    guard schedule.isEnabled, let next = schedule.nextLocal else { return .none }
    var times = [next]
    while times.count < Self.shownTimes, let last = times.last, let more = schedule.trigger.next(after: last)
    {
      times.append(more)
    }
    return """
      <section class="card"><h2>\(call(times.count == 1 ? Words.nextTime : Words.nextTimes))</h2>
      <ul class="plain">\(times, { "<li>\($0.text)</li>" })</ul></section>
      """
  }

  private func table(_ call: PageCall, _ app: App, _ runs: [ScheduleRunRow], _ schedule: Schedule) -> HTML {
    let isByDevice = schedule.trigger.clocks == .device
    guard !runs.isEmpty else { return "<p class=\"quiet\">\(call(Words.noRuns))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.sentAt))</th><th>\(call(Words.state))</th></tr></thead><tbody>
      \(runs.suffix(Self.shownRuns).reversed(), { row(call, app, $0, isByDevice: isByDevice) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ app: App, _ run: ScheduleRunRow, isByDevice: Bool) -> HTML {
    let end: HTML =
      run.code == 0
      ? "<a href=\"/console/apps/\(app.key.text)/pushes/\(run.id.text)\">\(call(Words.toPush))</a>"
      : "\(call.state(.failed, Words.runFailed)) <span class=\"quiet\">\(call(run.fault))</span>"
    // Each time has one run for each zone.
    let time = isByDevice ? call(Words.ofTime.with(run.occurrence.text)) : ""
    return """
      <tr><td class="when">\(call.moment(run.at)) <span class="quiet">\(time)</span></td><td>\(end)</td></tr>

      """
  }

  // MARK: Changes

  /// The form that would make the schedule; nil if there is more to it than the form has fields for.
  private func form(of schedule: Schedule, in app: App) -> PushForm? {
    guard !schedule.isGetui, let timing = PushTiming(schedule.trigger),
      let json = try? parseJSON(schedule.push),
      var form = PushForm(of: json, rules: gateway.pushRules(of: app))
    else { return nil }
    form.timing = timing
    return form
  }

  private func edit(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, schedule) = try await schedule(of: call)
    guard let visitor = call.visitor, let form = form(of: schedule, in: app) else { return call.missing }
    return call.redirect(to: drafts.open(form, of: visitor, in: app, schedule: schedule.id))
  }

  private func enable(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, schedule) = try await schedule(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let isEnabled = call.field("enabled") == "on"
    let action = isEnabled ? "schedule.resume" : "schedule.pause"
    let entry = call.entry(action, schedule.id, by: visitor, app: app.id)
    let result = await awaitCallback {
      router.schedules.change(
        schedule.id, ScheduleUpdate(isEnabled: isEnabled), in: app, noting: entry, reply: $0)
    }
    let path = "/console/apps/\(app.key.text)/planned/\(schedule.id)"
    switch result {
    case .success: return call.redirect(to: path, notice: isEnabled ? .resumed : .paused)
    case .failure(let error) where error.code == 8100: return call.redirect(to: path, notice: .scheduleOver)
    case .failure: return call.unavailable
    }
  }

  private func cancel(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, schedule) = try await schedule(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let entry = call.entry("schedule.delete", schedule.id, by: visitor, app: app.id)
    let result = await awaitCallback {
      router.schedules.delete(schedule.id, in: app, noting: entry, reply: $0)
    }
    switch result {
    case .success, .failure(.scheduleUnknown):
      return call.redirect(to: "/console/apps/\(app.key.text)/planned", notice: .scheduleCanceled)
    case .failure: return call.unavailable
    }
  }
}
