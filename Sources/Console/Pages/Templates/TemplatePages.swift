import BorealisBase
import Core
import HTTP
import Model
import Storage

/// The templates of an app.
struct TemplatePages: NamedPages {
  let router: Router

  static let kind = NamedKind(
    noun: "template", tab: .templates, title: Words.templates, text: Words.templatesText,
    new: Words.newTemplate, none: Words.noTemplatesYet, columns: [Words.content, Words.language],
    edit: Words.editTemplate, delete: Words.deleteTemplate,
    deleteText: Words.deleteTemplateText, deleted: .templateDeleted)

  var things: Templates { router.templates }

  func list(_ call: PageCall, _ app: App) -> [(thing: Template, cells: [HTML])] {
    things.list(of: app).map { template in
      let languages = template.content.languages.map(\.language.text).joined(separator: ", ")
      return (template, ["\(template.content.texts.line)", "\(languages)"])
    }
  }

  func find(_ id: Int64, _ call: PageCall, _ app: App) -> Template? { things.find(id, of: app) }

  func parts(_ call: PageCall, _ app: App, _ template: Template) -> NamedParts {
    NamedParts(
      above: preview(call, template, at: address(app, template.id)), below: sample(call, app, push(template)))
  }

  func form(of template: Template, _ app: App) -> TemplateForm { TemplateForm(template) }

  func content(of form: TemplateForm, _ app: App) throws(FieldProblem) -> PushTemplate {
    try form.content()
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
      \(content.rows(call, with: shown))
      </tbody></table>
      \(form)</section>
      """
  }

  private func variable(_ call: PageCall, _ variable: PushTemplate.Variable, _ value: String) -> HTML {
    Forms.field(
      variable.name, "value-\(variable.name)", value: value, isRequired: false,
      hint: variable.isRequired ? call(Words.templateNeedsValue) : nil)
  }

  private func push(_ template: Template) -> JSONValue {
    var values = JSONObject()
    for variable in template.content.variables { values.set(variable.name, "…") }
    return [
      "platform": "all", "audience": "all",
      "template": ["id": .string(String(template.id)), "values": .object(values)],
    ]
  }

  // MARK: The form

  func fields(
    _ call: PageCall, _ app: App, _ form: TemplateForm, _ problem: FieldProblem?
  ) -> HTML {
    if let json = form.json {
      return Forms.lines(
        call(Words.templateJSON), "template", id: "template", value: json, isRequired: true,
        hint: call(Words.templateJSONHint), problem: problem?.text(at: "template", call))
    }
    let count = min(TemplateForm.mostLines, form.lines.count + 2)
    let lines = (form.lines + Array(repeating: TemplateForm.Line(), count: count)).prefix(count)
    return """
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

  private func line(
    _ call: PageCall, _ number: Int, _ line: TemplateForm.Line, _ problem: FieldProblem?
  ) -> HTML {
    let wrong = problem?.text(at: "language\(number)", call)
    func field(_ name: String, _ value: String, _ label: Phrase, isWrong: Bool = false) -> HTML {
      let label = call(label.with(String(number)))
      return Forms.field(heardAs: label, "\(name)\(number)", value: value, isWrong: isWrong)
    }
    return """
      <div class="condition">
      \(field("language", line.language, Words.templateLanguage, isWrong: wrong != nil))
      \(field("title", line.title, Words.templateTitleIn))
      \(field("alert", line.alert, Words.templateAlertIn))
      </div>\(wrong, { "<p class=\"problem\">\($0)</p>" })

      """
  }
}

extension PushTexts {
  /// What they say, in a line of a list.
  var line: String {
    let line = [title, alert].compactMap { $0 }.joined(separator: " · ")
    return line.count > 80 ? "\(line.prefix(79))…" : line
  }
}

extension PushTemplate {
  /// Rows of a table: what it says in each language, with values. `first` is the first cell of each.
  func rows(_ call: PageCall, with values: [String: String] = [:], first: HTML = .none) -> HTML {
    func row(_ language: LanguageTag?, _ texts: PushTexts) -> HTML {
      """
      <tr>\(first)<td>\(language?.text ?? call(Words.templateDefault))</td><td>\(texts.title ?? "")</td><td>\(texts.alert ?? "")</td></tr>

      """
    }
    return "\(said(with: values), { row($0.language, $0.texts) })"
  }
}

extension TemplateFailure: WordedFailure {
  var phrase: Phrase {
    switch self {
    case .unknown: Words.templateGone
    case .nameTaken: Words.templateNameTaken
    case .full: Words.tooManyTemplates
    case .inUse(let uses, _): Words.templateInUse.with(uses.names)
    case .storage: Words.unavailable
    }
  }
}
