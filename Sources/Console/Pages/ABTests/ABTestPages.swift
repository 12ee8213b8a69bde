import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The A/B tests of an app.
struct ABTestPages: NamedPages {
  let router: Router
  let gateway: Gateway
  let pushes: PushPages

  static let kind = NamedKind(
    noun: "abtest", tab: .abTests, title: Words.abTests, text: Words.abTestsText, new: Words.newABTest,
    none: Words.noABTestsYet, columns: [Words.abTestContents, Words.audience, Words.state],
    edit: Words.editABTest, delete: Words.deleteABTest,
    deleteText: Words.deleteABTestText, deleted: .abTestDeleted)

  static let routes =
    namedRoutes + [
      Route(.app(.sender), "GET", "\(thingPath)/send") { try await $0.send($1) },
      Route(.app(.sender), "POST", "\(thingPath)/stop", again: .showsPageAbove) { try await $0.stop($1) },
    ]

  var things: ABTests { router.abTests }

  func prepare(_ call: PageCall) async -> PageCall { await call.namingSegments(router) }

  func list(_ call: PageCall, _ app: App) async throws(Refused) -> [(thing: ABTest, cells: [HTML])] {
    let result = await awaitCallback { router.abTestRuns.running(in: app, reply: $0) }
    guard case .success(let running) = result else { throw Refused(call.unavailable) }
    return things.list(of: app).map { test in
      let audience = AudienceText(test.design.audience, call.segments).line(call.language)
      let state: HTML = running.contains(test.id) ? call.state(.open, Words.abTestRunning) : .none
      return (test, ["\(test.design.contents.count)", "\(audience)", state])
    }
  }

  func find(_ id: Int64, _ call: PageCall, _ app: App) -> ABTest? { things.find(id, of: app) }

  func parts(_ call: PageCall, _ app: App, _ test: ABTest) async throws(Refused) -> NamedParts {
    let result = await awaitCallback { router.abTestRuns.list(of: test.id, in: app, reply: $0) }
    guard case .success(let runs) = result else { throw Refused(call.unavailable) }
    let (path, isRunning) = (address(app, test.id), runs.first?.end == nil && !runs.isEmpty)
    let results = ABTestResults(call: call, path: "/console/apps/\(app.key.text)/pushes")
    let audience = AudienceText(test.design.audience, call.segments).full(call.language)
    return NamedParts(
      button: isRunning
        ? Forms.sure(call, Words.stopABTest, "\(path)/stop", Words.stopABTestText)
        : "<a class=\"button\" href=\"\(path)/send\">\(call(Words.sendABTest))</a>",
      facts: "<span>\(audience)</span> <span>\(call(ABTestWords.plan(test.design)))</span>",
      above: "\(results.html(runs))\n\(preview(call, test.design))", below: sample(call, app, push(test)))
  }

  /// What each content says in each language.
  private func preview(_ call: PageCall, _ design: ABTestDesign) -> HTML {
    """
    <section class="card"><h2>\(call(Words.templatePreview))</h2>
    <table><thead><tr><th>\(call(Words.content))</th><th>\(call(Words.language))</th><th>\(call(Words.title))</th><th>\(call(Words.text))</th></tr></thead>
    <tbody>
    \(Array(design.contents.enumerated()), { $1.rows(call, first: "<td>\(ABTestWords.letter($0))</td>") })
    </tbody></table></section>
    """
  }

  /// The push object that starts a run.
  private func push(_ test: ABTest) -> JSONValue {
    ["platform": "all", "audience": ["abtest": [.string(String(test.id))]]]
  }

  // MARK: The form

  func form(of test: ABTest, _ app: App) -> ABTestForm {
    ABTestForm(test, rules: gateway.pushRules(of: app))
  }

  func content(of form: ABTestForm, _ app: App) throws(FieldProblem) -> ABTestDesign {
    try form.design(rules: gateway.pushRules(of: app))
  }

  func fields(_ call: PageCall, _ app: App, _ form: ABTestForm, _ problem: FieldProblem?) -> HTML {
    if let json = form.json {
      return Forms.lines(
        call(Words.abTestJSON), "abtest", id: "abtest", value: json, isRequired: true,
        hint: call(Words.abTestJSONHint), problem: problem?.text(at: "abtest", call))
    }
    return "\(contents(call, form, problem))\(rule(call, form, problem))\(audience(call, form, problem))"
  }

  private func contents(_ call: PageCall, _ form: ABTestForm, _ problem: FieldProblem?) -> HTML {
    let most = ABTestDesign.contentCounts.upperBound
    let lines = (form.lines + Array(repeating: ABTestForm.Line(), count: most)).prefix(most)
    return """
      <fieldset><legend>\(call(Words.abTestContents))</legend>
      \(Array(lines.enumerated()), { line(call, $0, $1) })
      \(problem?.text(at: "alert1", call), { "<p class=\"problem\">\($0)</p>" })
      <p class="hint">\(call(Words.abTestContentsHint))</p></fieldset>

      """
  }

  private func line(_ call: PageCall, _ place: Int, _ line: ABTestForm.Line) -> HTML {
    func field(_ name: String, _ value: String, _ label: Phrase) -> HTML {
      let label = call(label.with(ABTestWords.letter(place)))
      return Forms.field(heardAs: label, "\(name)\(place + 1)", value: value)
    }
    return """
      <div class="condition"><span>\(call(ABTestWords.content(place)))</span>
      \(field("title", line.title, Words.abTestTitleOf))
      \(field("alert", line.alert, Words.abTestTextOf))
      </div>

      """
  }

  private func rule(_ call: PageCall, _ form: ABTestForm, _ problem: FieldProblem?) -> HTML {
    let levels =
      [("", call(Words.abTestNotEarlier))]
      + ABTestDesign.levels.map { (String($0), call(Words.abTestConfidence.with(String($0)))) }
    return """
      \(Forms.field(call(Words.abTestShare), "share", type: "number", value: form.share, most: 100,
        problem: problem?.text(at: "share", call)))
      \(Forms.field(call(Words.abTestMinutes), "minutes", type: "number", value: form.minutes, most: 10_080,
        hint: call(Words.abTestMinutesHint), problem: problem?.text(at: "minutes", call)))
      \(Forms.choice(call(Words.abTestEarlier), "confidence", levels, chosen: form.confidence,
        hint: call(Words.abTestEarlierHint)))

      """
  }

  private func audience(_ call: PageCall, _ form: ABTestForm, _ problem: FieldProblem?) -> HTML {
    let kinds = ABTestForm.Audience.allCases.map { ($0.rawValue, call($0.phrase)) }
    let segments = [("", "–")] + call.segments.map { (String($0.id), $0.name) }
    return """
      \(Forms.choice(call(Words.audience), "audience", kinds, chosen: form.audience.rawValue))
      \(Forms.choice(call(Words.segment), "segment", segments, chosen: form.segment,
        problem: problem?.text(at: "segment", call)))
      \(Forms.field(call(Words.abTestNames), "names", value: form.names, isRequired: false,
        hint: call(Words.severalNames), problem: problem?.text(at: "names", call)))
      """
  }

  // MARK: What is done

  /// Asks whether to send it, as for every push of a person, and says if it could not go now.
  private func send(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try await place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let push = push(test)
    do throws(APIError) {
      let request = try PushRequest.parse(push, rules: gateway.pushRules(of: app))
      let checked = await awaitCallback {
        router.acceptance.validate(
          AcceptRequest(request, from: .person(visitor.person.id)), for: app, reply: $0)
      }
      var notice: Layout.Notice?
      if case .failure(let error) = checked {
        notice = Layout.Notice(text: call(PushWords.phrase(error)), isBad: true)
      }
      let draft = PushPages.PushDraft(
        body: String(decoding: JSONWriter.serialize(push), as: UTF8.self), cid: PushPages.newCID(app),
        draft: nil)
      let size = try? await AudienceSize.find(request, in: app, router).get()
      return call.show(
        await pushes.confirmPage(await call.namingSegments(router), draft, request, size, app, notice))
    } catch {
      return try await show(call, app, test, problem: PushWords.phrase(error), status: 422)
    }
  }

  private func stop(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try await place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let entry = call.entry("abtest.stop", test.target, by: visitor, app: app.id)
    let result = await awaitCallback { router.abTestRuns.stop(test.id, of: app, noting: entry, reply: $0) }
    switch result {
    case .success: return call.redirect(to: address(app, test.id), notice: .abTestStopped)
    case .failure(.notRunning): return call.redirect(to: address(app, test.id), notice: .abTestOver)
    case .failure(let error): return try await show(call, app, test, problem: error.phrase, status: 409)
    }
  }
}

extension ABTestForm.Audience {
  fileprivate var phrase: Phrase {
    switch self {
    case .everybody: Words.everybody
    case .segment: Words.segment
    case .tag: Words.tag
    case .alias: Words.alias
    }
  }
}

extension ABTestFailure: WordedFailure {
  var phrase: Phrase {
    switch self {
    case .unknown: Words.abTestGone
    case .nameTaken: Words.abTestNameTaken
    case .full: Words.tooManyABTests
    case .inUse(let uses, _) where uses.first == .run: Words.abTestRuns
    case .inUse(let uses, _): Words.abTestInUse.with(uses.names)
    case .noSegment: Words.segmentGone
    case .notRunning: Words.abTestOver
    case .storage: Words.unavailable
    }
  }

  var problem: FieldProblem {
    if case .noSegment = self { return FieldProblem(phrase, at: "segment") }
    return FieldProblem(phrase, at: "name")
  }
}
