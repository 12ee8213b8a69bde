import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The templates of an app.
struct TemplatePages: Controller {
  let router: Router

  private static let path = "/console/apps/{app}/templates"

  static let routes: [Route<TemplatePages>] = [
    Route(.app(.viewer), "GET", path) { $0.showList($1) },
    Route(.app(.sender), "GET", "\(path)/new") { $0.showNew($1) },
    Route(.app(.sender), "POST", path) { await $0.add($1) },
    Route(.app(.viewer), "GET", "\(path)/{template_id}") { try $0.showTemplate($1) },
    Route(.app(.sender), "POST", "\(path)/{template_id}") { try await $0.change($1) },
    Route(.app(.sender), "POST", "\(path)/{template_id}/delete", again: .showsPageAbove) {
      try await $0.delete($1)
    },
  ]

  private func base(_ app: App) -> String { "/console/apps/\(app.key.text)/templates" }

  // MARK: The list

  private func showList(_ call: PageCall) -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    let new: HTML =
      call.role ?? .viewer >= .sender
      ? "<span class=\"end\"><a class=\"button\" href=\"\(base(app))/new\">\(call(Words.newTemplate))</a></span>"
      : .none
    return call.show(
      Layout(
        call(Words.templates), tab: .templates,
        """
        <div class="row"><h1>\(call(Words.templates))</h1>\(new)</div>
        <p class="quiet">\(call(Words.templatesText))</p>
        <section class="card">\(table(call, app, router.templates.list(of: app)))</section>
        """))
  }

  private func table(_ call: PageCall, _ app: App, _ templates: [Template]) -> HTML {
    guard !templates.isEmpty else { return "<p class=\"quiet\">\(call(Words.noTemplatesYet))</p>" }
    return """
      <table><thead><tr><th>\(call(Words.name))</th><th>\(call(Words.content))</th><th>\(call(Words.language))</th>
      <th>ID</th></tr></thead><tbody>
      \(templates, { row(call, app, $0) })
      </tbody></table>
      """
  }

  private func row(_ call: PageCall, _ app: App, _ template: Template) -> HTML {
    let languages = template.content.languages.map(\.language.text).joined(separator: ", ")
    return """
      <tr><td><a href="\(base(app))/\(template.id)">\(template.name)</a></td>
      <td>\(template.content.texts.line)</td><td>\(languages)</td>
      <td><code>\(template.id)</code></td></tr>

      """
  }

  // MARK: A template

  private func place(of call: PageCall) throws(Refused) -> (app: App, Template) {
    guard let app = call.app, let id = call.capture("template_id").flatMap({ Int64($0) }),
      let template = router.templates.find(id, of: app)
    else { throw Refused(call.missing) }
    return (app, template)
  }

  private func showNew(_ call: PageCall) -> HTTPResponse {
    guard let app = call.app else { return call.missing }
    return call.show(
      page(call, app, Words.newTemplate, form: fields(call, app, TemplateForm(), at: base(app))))
  }

  private func showTemplate(_ call: PageCall) throws(Refused) -> HTTPResponse {
    let (app, template) = try place(of: call)
    return call.show(page(call, app, template))
  }

  /// The page of a template, with what has just gone wrong.
  private func page(_ call: PageCall, _ app: App, _ template: Template, problem: Phrase? = nil) -> Layout {
    let path = "\(base(app))/\(template.id)"
    var delete: HTML = .none
    var form: HTML = .none
    if call.role ?? .viewer >= .sender {
      delete =
        "<span class=\"end\">\(Forms.sure(call, Words.deleteTemplate, "\(path)/delete", Words.deleteTemplateText))</span>"
      form = fields(call, app, TemplateForm(template), at: path)
    }
    return Layout(
      template.name, tab: .templates, notice: problem.map { Layout.Notice(text: call($0), isBad: true) },
      """
      <p class="quiet"><a href="\(base(app))">\(call(Words.templates))</a></p>
      <div class="row"><h1>\(template.name)</h1>\(delete)</div>
      <p class="quiet facts"><span>template <code>\(template.id)</code> \(call.copyButton(String(template.id)))</span></p>
      \(preview(call, template, at: path))
      \(form)
      \(sample(call, app, template))
      """)
  }

  private func page(_ call: PageCall, _ app: App, _ title: Phrase, form: HTML) -> Layout {
    Layout(
      call(title), tab: .templates,
      """
      <p class="quiet"><a href="\(base(app))">\(call(Words.templates))</a></p>
      <h1>\(call(title))</h1>
      \(form)
      """)
  }

  // MARK: Preview

  /// What the template says in each language, with the values in the query.
  private func preview(_ call: PageCall, _ template: Template, at path: String) -> HTML {
    let (content, variables) = (template.content, template.content.variables)
    let given = Dictionary(
      variables.compactMap { variable in
        call.target["value-\(variable.name)"].flatMap { $0.isEmpty ? nil : (variable.name, $0) }
      }, uniquingKeysWith: { $1 })
    // What has no value yet stands there as a variable.
    let shown = content.missing(in: given).reduce(into: given) { $0[$1] = "{\($1)}" }
    let form: HTML =
      variables.isEmpty
      ? .none
      : """
      <form method="get" action="\(path)"><p class="quiet">\(call(Words.templatePreviewText))</p>
      \(variables, { variable(call, $0, given[$0.name] ?? "") })
      <button class="plain">\(call(Words.showPreview))</button></form>
      """
    return """
      <section class="card"><h2>\(call(Words.templatePreview))</h2>
      <table><thead><tr><th>\(call(Words.language))</th><th>\(call(Words.title))</th><th>\(call(Words.text))</th></tr></thead>
      <tbody>
      \(content.said(with: shown), { said(call, $0.language, $0.texts) })
      </tbody></table>
      \(form)</section>
      """
  }

  private func variable(_ call: PageCall, _ variable: PushTemplate.Variable, _ value: String) -> HTML {
    Forms.field(
      variable.name, "value-\(variable.name)", value: value, isRequired: false,
      hint: variable.isRequired ? call(Words.templateNeedsValue) : nil)
  }

  private func said(_ call: PageCall, _ language: LanguageTag?, _ texts: PushTexts) -> HTML {
    """
    <tr><td>\(language?.text ?? call(Words.templateDefault))</td><td>\(texts.title ?? "")</td><td>\(texts.alert ?? "")</td></tr>

    """
  }

  /// A push with the template from an app server.
  private func sample(_ call: PageCall, _ app: App, _ template: Template) -> HTML {
    var values = JSONObject()
    for variable in template.content.variables { values.set(variable.name, "…") }
    let push: JSONValue = [
      "platform": "all", "audience": "all",
      "template": ["id": .string(String(template.id)), "values": .object(values)],
    ]
    let body = String(decoding: JSONWriter.serialize(push), as: UTF8.self)
    return PushSamples(address: call.origin, key: app.key.text, body: body).details(call)
  }

  // MARK: The form

  private func fields(
    _ call: PageCall, _ app: App, _ form: TemplateForm, at address: String, _ problem: FieldProblem? = nil
  ) -> HTML {
    let texts: HTML
    if let json = form.json {
      texts = Forms.lines(
        call(Words.templateJSON), "template", id: "template", value: json, isRequired: true,
        hint: call(Words.templateJSONHint), problem: problem?.text(at: "template", call))
    } else {
      let count = min(TemplateForm.mostLines, form.lines.count + 2)
      let lines = (form.lines + Array(repeating: TemplateForm.Line(), count: count)).prefix(count)
      texts = """
        \(Forms.field(
          call(Words.title), "title", value: form.title, isRequired: false, problem: problem?.text(at: "title", call)))
        \(Forms.field(
          call(Words.text), "alert", value: form.alert, hint: call(Words.templateAlertHint),
          problem: problem?.text(at: "alert", call)))
        \(Forms.lines(
          call(Words.templateExtras), "extras", id: "extras", value: form.extras, isRequired: false, hint: nil,
          problem: problem?.text(at: "extras", call)))
        <fieldset><legend>\(call(Words.templateLanguages))</legend>
        \(Array(lines.enumerated()), { line(call, $0 + 1, $1, problem) })
        <p class="hint">\(call(Words.templateLanguagesHint))</p></fieldset>
        """
    }
    return """
      <form class="card" method="post" action="\(address)">\(Forms.token(call))
      \(Forms.field(call(Words.name), "name", value: form.name, problem: problem?.text(at: "name", call)))
      \(texts)
      <p class="send"><button>\(call(Words.save))</button></p></form>
      """
  }

  private func line(
    _ call: PageCall, _ number: Int, _ line: TemplateForm.Line, _ problem: FieldProblem?
  ) -> HTML {
    let wrong = problem?.text(at: "language\(number)", call)
    func field(_ name: String, _ value: String, _ label: Phrase, isWrong: Bool = false) -> HTML {
      """
      <input name="\(name)\(number)" value="\(value)" autocomplete="off" aria-label="\(call(label.with(String(number))))"\(
        if: isWrong, " aria-invalid=\"true\" autofocus")>
      """
    }
    return """
      <div class="condition">
      \(field("language", line.language, Words.templateLanguage, isWrong: wrong != nil))
      \(field("title", line.title, Words.templateTitleIn))
      \(field("alert", line.alert, Words.templateAlertIn))
      </div>\(wrong, { "<p class=\"problem\">\($0)</p>" })

      """
  }

  // MARK: What is done

  private func read(_ call: PageCall) throws(FieldProblem) -> (name: String, PushTemplate) {
    let form = TemplateForm(call)
    guard ThingName.isValid(form.name) else {
      throw FieldProblem(Words.templateNameWrong.with(String(ThingName.longest)), at: "name")
    }
    return (form.name, try form.content())
  }

  private func add(_ call: PageCall) async -> HTTPResponse {
    guard let app = call.app, let visitor = call.visitor else { return call.missing }
    do throws(FieldProblem) {
      let (name, content) = try read(call)
      let result = await awaitCallback { reply in
        router.templates.add(
          name, content, to: app,
          noting: { call.entry("template.create", $0.target, by: visitor, app: app.id) }, reply: reply)
      }
      let template = try result.mapError(\.problem).get()
      return call.redirect(to: "\(base(app))/\(template.id)", notice: .saved)
    } catch {
      let form = fields(call, app, TemplateForm(call), at: base(app), error)
      return call.show(page(call, app, Words.newTemplate, form: form), status: 422)
    }
  }

  private func change(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, template) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let path = "\(base(app))/\(template.id)"
    do throws(FieldProblem) {
      let (name, content) = try read(call)
      let result = await awaitCallback { reply in
        router.templates.change(
          template.id, to: name, content, of: app,
          noting: { call.entry("template.change", $0.target, by: visitor, app: app.id) }, reply: reply)
      }
      _ = try result.mapError(\.problem).get()
      return call.redirect(to: path, notice: .saved)
    } catch {
      return call.show(
        page(call, app, Words.editTemplate, form: fields(call, app, TemplateForm(call), at: path, error)),
        status: 422)
    }
  }

  private func delete(_ call: PageCall) async throws(Refused) -> HTTPResponse {
    let (app, template) = try place(of: call)
    guard let visitor = call.visitor else { return call.missing }
    let result = await awaitCallback { reply in
      router.templates.delete(
        template.id, of: app,
        noting: { call.entry("template.delete", $0.target, by: visitor, app: app.id) }, reply: reply)
    }
    switch result {
    case .success: return call.redirect(to: base(app), notice: .templateDeleted)
    case .failure(let error):
      return call.show(page(call, app, template, problem: error.phrase), status: 409)
    }
  }
}

extension PushTexts {
  /// What they say, in a line of a list.
  var line: String {
    let line = [title, alert].compactMap { $0 }.joined(separator: " · ")
    return line.count > 80 ? "\(line.prefix(79))…" : line
  }
}

extension [NamedUse] {
  /// The names of what uses something.
  var names: String {
    compactMap { use in
      switch use {
      case .schedule(let name), .abTest(let name): name
      case .run: nil
      }
    }.joined(separator: ", ")
  }
}

extension Template {
  /// As the audit log names it.
  fileprivate var target: String { "\(id) \(name)" }
}

extension TemplateFailure {
  /// In words of the console.
  fileprivate var phrase: Phrase {
    switch self {
    case .unknown: Words.templateGone
    case .nameTaken: Words.templateNameTaken
    case .full: Words.tooManyTemplates
    case .inUse(let uses, _): Words.templateInUse.with(uses.names)
    case .storage: Words.unavailable
    }
  }

  /// The same at the field that it is about.
  fileprivate var problem: FieldProblem { FieldProblem(phrase, at: "name") }
}
