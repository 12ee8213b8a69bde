import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The segments of an app.
struct SegmentPages: Controller {
  let router: Router

  private static let path = "/console/apps/{app}/segments"

  static let routes: [Route<SegmentPages>] = [
    Route(.app(.viewer), "GET", path) { await $0.showList($1) },
    Route(.app(.sender), "GET", "\(path)/new") { $0.showNew($1) },
    Route(.app(.sender), "POST", path) { await $0.add($1) },
    Route(.app(.sender), "POST", "\(path)/count") { await $0.count($1) },
    Route(.app(.viewer), "GET", "\(path)/{segment_id}") { try await $0.showSegment($1) },
    Route(.app(.sender), "POST", "\(path)/{segment_id}") { try await $0.change($1) },
    Route(.app(.sender), "POST", "\(path)/{segment_id}/delete", again: .showsPageAbove) {
      try await $0.delete($1)
    },
  ]

  private func base(_ app: App) -> String { "/console/apps/\(app.key.text)/segments" }

  // MARK: The list

  private func showList(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let result = await awaitCallback { router.segments.list(of: app, reply: $0) }
    guard case .success(let segments) = result else { return call.unavailable }
    let new: HTML =
      call.role ?? .viewer >= .sender
      ? "<span class=\"end\"><a class=\"button\" href=\"\(base(app))/new\">\(call(Words.newSegment))</a></span>"
      : .none
    return call.show(
      Layout(
        call(Words.segments), tab: .segments,
        """
        <div class="row"><h1>\(call(Words.segments))</h1>\(new)</div>
        <p class="quiet">\(call(Words.segmentsText))</p>
        <section class="card">\(table(call, app, segments))</section>
        """))
  }

  private func table(_ call: PageCall, _ app: App, _ segments: [Segment]) -> HTML {
    guard !segments.isEmpty else { return "<p class=\"quiet\">\(call(Words.noSegmentsYet))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.name))</th><th>\(call(Words.conditions))</th><th>ID</th></tr></thead><tbody>
      \(segments, { row(call, app, $0) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ app: App, _ segment: Segment) -> HTML {
    """
    <tr><td><a href="\(base(app))/\(segment.id)">\(segment.name)</a></td>
    <td>\(call(ConditionText(segment.condition).phrase))</td><td><code>\(segment.id)</code></td></tr>

    """
  }

  // MARK: The form

  private func showNew(_ call: PageCall) -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    return call.show(page(call, app, Words.newSegment, form: fields(call, app, SegmentForm(), at: base(app))))
  }

  private func showSegment(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, id) = try place(of: call)
    return await show(call, app, id)
  }

  /// The page of a segment, with what has just gone wrong.
  private func show(_ call: PageCall, _ app: App, _ id: Int64, problem: Phrase? = nil) async -> HTTPResponse {
    let notice = problem.map { Layout.Notice(text: call($0), isBad: true) }
    switch await awaitCallback({ router.segments.find(id, of: app, reply: $0) }) {
    case .success(let (segment, devices)):
      let size = Words.devicesNow.with(each: Counted.devices(devices))
      return call.show(page(call, app, segment, size, notice), status: notice == nil ? 200 : 409)
    // The segment may be there, although nobody can say who is in it.
    case .failure(let error):
      let all = await awaitCallback { router.segments.list(of: app, reply: $0) }
      guard case .success(let segments) = all else { return call.unavailable }
      guard let segment = segments.first(where: { $0.id == id }) else { return call.missing }
      return call.show(page(call, app, segment, error.phrase, notice), status: notice == nil ? 200 : 409)
    }
  }

  private func page(
    _ call: PageCall, _ app: App, _ segment: Segment, _ size: Phrase, _ notice: Layout.Notice?
  ) -> Layout {
    let path = "\(base(app))/\(segment.id)"
    var buttons: HTML = .none
    var form: HTML = .none
    if call.role ?? .viewer >= .sender {
      let delete = Forms.sure(call, Words.deleteSegment, "\(path)/delete", Words.deleteSegmentText)
      buttons = """
        <span class="end"><a class="button plain" href="/console/apps/\(app.key.text)/push?segment=\(segment.id)">\(call(Words.sendToSegment))</a>\(delete)</span>
        """
      form = fields(call, app, SegmentForm(segment), at: path)
    }
    let text = call(Words.segmentDevices.with(each: ConditionText(segment.condition).phrase))
    return Layout(
      segment.name, tab: .segments, notice: notice,
      """
      <p class="quiet"><a href="\(base(app))">\(call(Words.segments))</a></p>
      <div class="row"><h1>\(segment.name)</h1>\(buttons)</div>
      <p class="quiet facts"><span>segment <code>\(segment.id)</code> \(call.copyButton(String(segment.id)))</span>
      <span><strong>\(call(size))</strong></span></p>
      <p>\(text)</p>
      \(form)
      """)
  }

  private func page(_ call: PageCall, _ app: App, _ title: Phrase, form: HTML) -> Layout {
    Layout(
      call(title), tab: .segments,
      """
      <p class="quiet"><a href="\(base(app))">\(call(Words.segments))</a></p>
      <h1>\(call(title))</h1>
      \(form)
      """)
  }

  private func fields(
    _ call: PageCall, _ app: App, _ form: SegmentForm, at address: String, _ problem: FieldProblem? = nil
  ) -> HTML {
    let conditions: HTML
    if let json = form.json {
      conditions = Forms.lines(
        call(Words.conditionJSON), "condition", id: "condition", value: json, isRequired: true,
        hint: call(Words.conditionJSONHint), problem: problem?.text(at: "condition", call))
    } else {
      let count = min(SegmentForm.mostLines, max(4, form.lines.count + 2))
      let lines = (form.lines + Array(repeating: SegmentForm.Line(), count: count)).prefix(count)
      conditions = """
        \(Forms.box("radio", "match", value: "all", call(Words.matchAll), isChosen: form.matchesAll))
        \(Forms.box("radio", "match", value: "any", call(Words.matchAny), isChosen: !form.matchesAll))
        \(Array(lines.enumerated()), { line(call, app, $0 + 1, $1, problem) })
        <p class="hint">\(call(Words.conditionsHint))</p>
        """
    }
    return """
      <form class="card" method="post" action="\(address)" data-count="\(base(app))/count">\(Forms.token(call))
      \(Forms.field(call(Words.name), "name", value: form.name, problem: problem?.text(at: "name", call)))
      <fieldset><legend>\(call(Words.conditions))</legend>
      \(conditions)
      <p class="audience" aria-live="polite" data-audience-size>&nbsp;</p>
      </fieldset>
      <p class="send"><button>\(call(Words.save))</button></p></form>
      """
  }

  private func line(
    _ call: PageCall, _ app: App, _ number: Int, _ line: SegmentForm.Line, _ problem: FieldProblem?
  ) -> HTML {
    let kinds =
      [(value: "", text: "–")] + SegmentForm.Line.kinds(app.facts).map { ($0.what, call($0.phrase)) }
    let wrong = problem?.text(at: "value\(number)", call)
    return """
      <div class="condition">
      \(Forms.choice(heardAs: call(Words.condition.with(String(number))), "what\(number)", kinds, chosen: line.what))
      \(Forms.choice(heardAs: call(Words.conditionHow.with(String(number))), "how\(number)",
        SegmentForm.How.allCases.map { ($0.rawValue, call($0.phrase)) }, chosen: line.how.rawValue))
      <input name="value\(number)" value="\(line.value)" autocomplete="off" aria-label="\(call(Words.conditionValue.with(String(number))))"\(
        if: wrong != nil, " aria-invalid=\"true\" autofocus")>
      </div>\(wrong, { "<p class=\"problem\">\($0)</p>" })

      """
  }

  // MARK: What is done

  private func place(of call: PageCall) throws(Refused) -> (app: App, id: Int64) {
    guard let app = call.app, let id = call.capture("segment_id").flatMap({ Int64($0) }) else {
      throw Refused(call.missing)
    }
    return (app, id)
  }

  private func read(_ call: PageCall) throws(FieldProblem) -> (name: String, DeviceCondition) {
    let form = SegmentForm(call)
    guard ThingName.isValid(form.name) else {
      throw FieldProblem(Words.segmentNameWrong.with(String(ThingName.longest)), at: "name")
    }
    return (form.name, try form.condition())
  }

  private func count(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    var text = ""
    if let condition = try? SegmentForm(call).condition() {
      switch await awaitCallback({ router.segments.count(condition, of: app, reply: $0) }) {
      case .success(let devices): text = call(Words.devicesNow.with(each: Counted.devices(devices)))
      case .failure(let error): text = call(error.phrase)
      }
    }
    return call.show(text: text)
  }

  private func add(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    do throws(FieldProblem) {
      let (name, condition) = try read(call)
      let result = await awaitCallback { reply in
        router.segments.add(
          name, condition, to: app,
          noting: { call.entry("segment.create", $0.target, by: visitor, app: app.id) }, reply: reply)
      }
      let segment = try result.mapError(\.problem).get()
      return call.redirect(to: "\(base(app))/\(segment.id)", notice: .saved)
    } catch {
      let form = fields(call, app, SegmentForm(call), at: base(app), error)
      return call.show(page(call, app, Words.newSegment, form: form), status: 422)
    }
  }

  private func change(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, id) = try place(of: call)
    guard let visitor = call.visitor,
      await call.namingSegments(router).segments.contains(where: { $0.id == id })
    else { return call.missing }
    let path = "\(base(app))/\(id)"
    do throws(FieldProblem) {
      let (name, condition) = try read(call)
      let result = await awaitCallback { reply in
        router.segments.change(
          id, to: name, condition, of: app,
          noting: { call.entry("segment.change", $0.target, by: visitor, app: app.id) }, reply: reply)
      }
      _ = try result.mapError(\.problem).get()
      return call.redirect(to: path, notice: .saved)
    } catch {
      return call.show(
        page(call, app, Words.editSegment, form: fields(call, app, SegmentForm(call), at: path, error)),
        status: 422)
    }
  }

  private func delete(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, id) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let result = await awaitCallback { reply in
      router.segments.delete(
        id, of: app, noting: { call.entry("segment.delete", $0.target, by: visitor, app: app.id) },
        reply: reply)
    }
    switch result {
    case .success: return call.redirect(to: base(app), notice: .segmentDeleted)
    case .failure(let error): return await show(call, app, id, problem: error.phrase)
    }
  }
}

extension Segment {
  /// As the audit log names it.
  fileprivate var target: String { "\(id) \(name)" }
}

extension SegmentFailure {
  /// In words of the console.
  var phrase: Phrase {
    switch self {
    case .unknown: Words.segmentGone
    case .nameTaken: Words.segmentNameTaken
    case .full: Words.tooManySegments
    case .inUse(let uses, _): Words.segmentInUse.with(uses.names)
    case .pushNotKept(let id): Words.segmentPushGone.with(id.text)
    case .factsNotWanted(let facts):
      facts.facts.first.map { Words.segmentFactOff.with(each: $0.phrase) } ?? Words.unavailable
    case .storage: Words.unavailable
    }
  }

  /// The same at the field that it is about.
  fileprivate var problem: FieldProblem { FieldProblem(phrase, at: "name") }
}

extension SegmentForm.How {
  fileprivate var phrase: Phrase {
    switch self {
    case .isValue: Words.isValue
    case .isNot: Words.isNotValue
    case .atLeast: Words.atLeastValue
    case .atMost: Words.atMostValue
    case .beginsWith: Words.beginsWithValue
    case .inLastDays: Words.inLastDays
    case .notInLastDays: Words.notInLastDays
    }
  }
}
