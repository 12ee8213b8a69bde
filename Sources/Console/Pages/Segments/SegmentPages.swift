import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The segments of an app.
struct SegmentPages: NamedPages {
  let router: Router

  static let kind = NamedKind(
    noun: "segment", tab: .segments, title: Words.segments, text: Words.segmentsText,
    new: Words.newSegment, none: Words.noSegmentsYet, columns: [Words.conditions],
    edit: Words.editSegment, delete: Words.deleteSegment, deleteText: Words.deleteSegmentText,
    deleted: .segmentDeleted)

  static let routes =
    namedRoutes + [Route(.app(.sender), "POST", "\(path)/count") { await $0.count($1) }]

  var things: Segments { router.segments }

  func list(_ call: PageCall, _ app: App) async throws(Refused) -> [(thing: Segment, cells: [HTML])] {
    try await all(call, app).map { ($0, ["\(call(ConditionText($0.condition).phrase))"]) }
  }

  func find(_ id: Int64, _ call: PageCall, _ app: App) async throws(Refused) -> Segment? {
    try await all(call, app).first { $0.id == id }
  }

  private func all(_ call: PageCall, _ app: App) async throws(Refused) -> [Segment] {
    let result = await awaitCallback { things.list(of: app, reply: $0) }
    return try result.mapError { _ in Refused(call.unavailable) }.get()
  }

  func parts(_ call: PageCall, _ app: App, _ segment: Segment) async -> NamedParts {
    let push = "/console/apps/\(app.key.text)/push?segment=\(segment.id)"
    let size = await size(segment.condition, app)
    return NamedParts(
      button: "<a class=\"button plain\" href=\"\(push)\">\(call(Words.sendToSegment))</a>",
      facts: "<span><strong>\(call(size))</strong></span>",
      above: "<p>\(call(Words.segmentDevices.with(each: ConditionText(segment.condition).phrase)))</p>")
  }

  /// How many devices meet a condition, or why nobody can say.
  private func size(_ condition: DeviceCondition, _ app: App) async -> Phrase {
    switch await awaitCallback({ things.count(condition, of: app, reply: $0) }) {
    case .success(let devices): Words.devicesNow.with(each: Counted.devices(devices))
    case .failure(let error): error.phrase
    }
  }

  private func count(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    guard let condition = try? SegmentForm(call).condition() else { return call.show(text: "") }
    return call.show(text: call(await size(condition, app)))
  }

  // MARK: The form

  func form(of segment: Segment, _ app: App) -> SegmentForm { SegmentForm(segment) }

  func content(of form: SegmentForm, _ app: App) throws(FieldProblem) -> DeviceCondition {
    try form.condition()
  }

  func attributes(_ app: App) -> HTML { " data-count=\"\(address(app))/count\"" }

  func fields(_ call: PageCall, _ app: App, _ form: SegmentForm, _ problem: FieldProblem?) -> HTML {
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
      <fieldset><legend>\(call(Words.conditions))</legend>
      \(conditions)
      <p class="audience" aria-live="polite" data-audience-size>&nbsp;</p>
      </fieldset>
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
      \(Forms.field(heardAs: call(Words.conditionValue.with(String(number))), "value\(number)", value: line.value,
        isWrong: wrong != nil))
      </div>\(wrong, { "<p class=\"problem\">\($0)</p>" })

      """
  }
}

extension SegmentFailure: WordedFailure {
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
