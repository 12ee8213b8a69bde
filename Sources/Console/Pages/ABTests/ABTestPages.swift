import API
import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The A/B tests of an app.
struct ABTestPages: Controller {
  let router: Router
  let gateway: Gateway
  let pushes: PushPages

  private static let path = "/console/apps/{app}/abtests"

  static let routes: [Route<ABTestPages>] = [
    Route(.app(.viewer), "GET", path) { await $0.showList($1) },
    Route(.app(.sender), "GET", "\(path)/new") { await $0.showNew($1) },
    Route(.app(.sender), "POST", path) { await $0.add($1) },
    Route(.app(.viewer), "GET", "\(path)/{abtest_id}") { try await $0.showTest($1) },
    Route(.app(.sender), "POST", "\(path)/{abtest_id}") { try await $0.change($1) },
    Route(.app(.sender), "GET", "\(path)/{abtest_id}/send") { try await $0.send($1) },
    Route(.app(.sender), "POST", "\(path)/{abtest_id}/stop", again: .showsPageAbove) {
      try await $0.stop($1)
    },
    Route(.app(.sender), "POST", "\(path)/{abtest_id}/delete", again: .showsPageAbove) {
      try await $0.delete($1)
    },
  ]

  private func base(_ app: App) -> String { "/console/apps/\(app.key.text)/abtests" }

  // MARK: The list

  private func showList(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let result = await awaitCallback { router.abTestRuns.running(in: app, reply: $0) }
    guard case .success(let running) = result else { return call.unavailable }
    let call = await call.namingSegments(router)
    let new: HTML =
      call.role ?? .viewer >= .sender
      ? "<span class=\"end\"><a class=\"button\" href=\"\(base(app))/new\">\(call(Words.newABTest))</a></span>"
      : .none
    return call.show(
      Layout(
        call(Words.abTests), tab: .abTests,
        """
        <div class="row"><h1>\(call(Words.abTests))</h1>\(new)</div>
        <p class="quiet">\(call(Words.abTestsText))</p>
        <section class="card">\(table(call, app, router.abTests.list(of: app), running))</section>
        """))
  }

  private func table(_ call: PageCall, _ app: App, _ tests: [ABTest], _ running: Set<Int64>) -> HTML {
    guard !tests.isEmpty else { return "<p class=\"quiet\">\(call(Words.noABTestsYet))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.name))</th><th>\(call(Words.abTestContents))</th><th>\(call(Words.audience))</th>
      <th>\(call(Words.state))</th><th>ID</th></tr></thead><tbody>
      \(tests, { row(call, app, $0, isRunning: running.contains($0.id)) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ app: App, _ test: ABTest, isRunning: Bool) -> HTML {
    let audience = AudienceText(test.design.audience, call.segments).line(call.language)
    return """
      <tr><td><a href="\(base(app))/\(test.id)">\(test.name)</a></td>
      <td>\(test.design.contents.count)</td><td>\(audience)</td>
      <td>\(if: isRunning, call.state(.open, Words.abTestRunning))</td><td><code>\(test.id)</code></td></tr>

      """
  }

  // MARK: A test

  private func place(of call: PageCall) throws(Refused) -> (app: App, ABTest) {
    guard let app = call.app, let id = call.capture("abtest_id").flatMap({ Int64($0) }),
      let test = router.abTests.find(id, of: app)
    else { throw Refused(call.missing) }
    return (app, test)
  }

  private func showNew(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    return call.show(
      page(
        call, app, Words.newABTest,
        form: fields(await call.namingSegments(router), ABTestForm(), at: base(app))))
  }

  private func showTest(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try place(of: call)
    return await show(call, app, test)
  }

  /// The page of a test, with what has just gone wrong.
  private func show(
    _ call: PageCall, _ app: App, _ test: ABTest, problem: Phrase? = nil, status: Int = 200
  ) async -> HTTPResponse {
    let result = await awaitCallback { router.abTestRuns.list(of: test.id, in: app, reply: $0) }
    guard case .success(let runs) = result else { return call.unavailable }
    let call = await call.namingSegments(router)
    let (path, isRunning) = ("\(base(app))/\(test.id)", runs.first?.end == nil && !runs.isEmpty)
    var (buttons, form): (HTML, HTML) = (.none, .none)
    if call.role ?? .viewer >= .sender {
      let first: HTML =
        isRunning
        ? Forms.sure(call, Words.stopABTest, "\(path)/stop", Words.stopABTestText)
        : "<a class=\"button\" href=\"\(path)/send\">\(call(Words.sendABTest))</a>"
      let delete = Forms.sure(call, Words.deleteABTest, "\(path)/delete", Words.deleteABTestText)
      buttons = "<span class=\"end\">\(first)\(delete)</span>"
      form = fields(call, ABTestForm(test, rules: gateway.pushRules(of: app)), at: path)
    }
    let results = ABTestResults(call: call, path: "/console/apps/\(app.key.text)/pushes")
    let audience = AudienceText(test.design.audience, call.segments).full(call.language)
    return call.show(
      Layout(
        test.name, tab: .abTests, notice: problem.map { Layout.Notice(text: call($0), isBad: true) },
        """
        <p class="quiet"><a href="\(base(app))">\(call(Words.abTests))</a></p>
        <div class="row"><h1>\(test.name)</h1>\(buttons)</div>
        <p class="quiet facts"><span>abtest <code>\(test.id)</code> \(call.copyButton(String(test.id)))</span>
        <span>\(audience)</span> <span>\(call(ABTestWords.plan(test.design)))</span></p>
        \(results.html(runs))
        \(preview(call, test.design))
        \(form)
        \(sample(call, app, test))
        """), status: status)
  }

  private func page(_ call: PageCall, _ app: App, _ title: Phrase, form: HTML) -> Layout {
    Layout(
      call(title), tab: .abTests,
      """
      <p class="quiet"><a href="\(base(app))">\(call(Words.abTests))</a></p>
      <h1>\(call(title))</h1>
      \(form)
      """)
  }

  /// What each content says in each language.
  private func preview(_ call: PageCall, _ design: ABTestDesign) -> HTML {
    """
    <section class="card"><h2>\(call(Words.templatePreview))</h2>
    <table><thead><tr><th>\(call(Words.content))</th><th>\(call(Words.language))</th><th>\(call(Words.title))</th><th>\(call(Words.text))</th></tr></thead>
    <tbody>
    \(Array(design.contents.enumerated()), { said(call, $0, $1) })
    </tbody></table></section>
    """
  }

  private func said(_ call: PageCall, _ place: Int, _ content: PushTemplate) -> HTML {
    func row(_ language: LanguageTag?, _ texts: PushTexts) -> HTML {
      """
      <tr><td>\(ABTestWords.letter(place))</td><td>\(language?.text ?? call(Words.templateDefault))</td>
      <td>\(texts.title ?? "")</td><td>\(texts.alert ?? "")</td></tr>

      """
    }
    return "\(content.said(with: [:]), { row($0.language, $0.texts) })"
  }

  /// The push object that starts a run.
  private func push(_ test: ABTest) -> [UInt8] {
    let object: JSONValue = ["platform": "all", "audience": ["abtest": [.string(String(test.id))]]]
    return JSONWriter.serialize(object)
  }

  /// A push to the test from an app server.
  private func sample(_ call: PageCall, _ app: App, _ test: ABTest) -> HTML {
    let body = String(decoding: push(test), as: UTF8.self)
    return PushSamples(address: call.origin, key: app.key.text, body: body).details(call)
  }

  // MARK: The form

  private func fields(
    _ call: PageCall, _ form: ABTestForm, at address: String, _ problem: FieldProblem? = nil
  ) -> HTML {
    let content: HTML
    if let json = form.json {
      content = Forms.lines(
        call(Words.abTestJSON), "abtest", id: "abtest", value: json, isRequired: true,
        hint: call(Words.abTestJSONHint), problem: problem?.text(at: "abtest", call))
    } else {
      content = "\(contents(call, form, problem))\(rule(call, form, problem))\(audience(call, form, problem))"
    }
    return """
      <form class="card" method="post" action="\(address)">\(Forms.token(call))
      \(Forms.field(call(Words.abTestName), "name", value: form.name, problem: problem?.text(at: "name", call)))
      \(content)
      <p class="send"><button>\(call(Words.save))</button></p></form>
      """
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
      """
      <input name="\(name)\(place + 1)" value="\(value)" autocomplete="off" aria-label="\(call(label.with(ABTestWords.letter(place))))">
      """
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

  private func read(_ call: PageCall, _ app: App) throws(FieldProblem) -> (name: String, ABTestDesign) {
    let form = ABTestForm(call)
    guard ThingName.isValid(form.name) else {
      throw FieldProblem(Words.abTestNameWrong.with(String(ThingName.longest)), at: "name")
    }
    return (form.name, try form.design(rules: gateway.pushRules(of: app)))
  }

  private func add(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    do throws(FieldProblem) {
      let (name, design) = try read(call, app)
      let result = await awaitCallback { reply in
        router.abTests.add(
          name, design, to: app,
          noting: { call.entry("abtest.create", $0.target, by: visitor, app: app.id) }, reply: reply)
      }
      let test = try result.mapError(\.problem).get()
      return call.redirect(to: "\(base(app))/\(test.id)", notice: .saved)
    } catch {
      let form = fields(await call.namingSegments(router), ABTestForm(call), at: base(app), error)
      return call.show(page(call, app, Words.newABTest, form: form), status: 422)
    }
  }

  private func change(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let path = "\(base(app))/\(test.id)"
    do throws(FieldProblem) {
      let (name, design) = try read(call, app)
      let result = await awaitCallback { reply in
        router.abTests.change(
          test.id, to: name, design, of: app,
          noting: { call.entry("abtest.change", $0.target, by: visitor, app: app.id) }, reply: reply)
      }
      _ = try result.mapError(\.problem).get()
      return call.redirect(to: path, notice: .saved)
    } catch {
      let form = fields(await call.namingSegments(router), ABTestForm(call), at: path, error)
      return call.show(page(call, app, Words.editABTest, form: form), status: 422)
    }
  }

  /// Asks whether to send it, as for every push of a person, and says if it could not go now.
  private func send(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let body = push(test)
    do throws(APIError) {
      guard let json = try? parseJSON(body) else { throw .internalError }
      let request = try PushRequest.parse(json, rules: gateway.pushRules(of: app))
      let checked = await awaitCallback {
        router.acceptance.validate(
          AcceptRequest(request, from: .person(visitor.person.id)), for: app, reply: $0)
      }
      var notice: Layout.Notice?
      if case .failure(let error) = checked {
        notice = Layout.Notice(text: call(PushWords.phrase(error)), isBad: true)
      }
      let draft = PushPages.PushDraft(
        body: String(decoding: body, as: UTF8.self), cid: PushPages.newCID(app), draft: nil)
      let size = try? await AudienceSize.find(request, in: app, router).get()
      return call.show(
        await pushes.confirmPage(await call.namingSegments(router), draft, request, size, app, notice))
    } catch {
      return await show(call, app, test, problem: PushWords.phrase(error), status: 422)
    }
  }

  private func stop(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let entry = call.entry("abtest.stop", test.target, by: visitor, app: app.id)
    let result = await awaitCallback { router.abTestRuns.stop(test.id, of: app, noting: entry, reply: $0) }
    switch result {
    case .success: return call.redirect(to: "\(base(app))/\(test.id)", notice: .abTestStopped)
    case .failure(.notRunning): return call.redirect(to: "\(base(app))/\(test.id)", notice: .abTestOver)
    case .failure(let error): return await show(call, app, test, problem: error.phrase, status: 409)
    }
  }

  private func delete(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, test) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let result = await awaitCallback { reply in
      router.abTests.delete(
        test.id, of: app,
        noting: { call.entry("abtest.delete", $0.target, by: visitor, app: app.id) }, reply: reply)
    }
    switch result {
    case .success: return call.redirect(to: base(app), notice: .abTestDeleted)
    case .failure(let error): return await show(call, app, test, problem: error.phrase, status: 409)
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

extension ABTest {
  /// As the audit log names it.
  fileprivate var target: String { "\(id) \(name)" }
}

extension ABTestFailure {
  /// In words of the console.
  fileprivate var phrase: Phrase {
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

  /// The same at the field that it is about.
  fileprivate var problem: FieldProblem {
    if case .noSegment = self {
      FieldProblem(phrase, at: "segment")
    } else {
      FieldProblem(phrase, at: "name")
    }
  }
}
