import BorealisBase
import Core
import Model

/// What the form for a template asks for. A template with more to it than texts is edited as JSON.
struct TemplateForm: NamedForm {
  /// The texts in a language.
  struct Line: Equatable {
    var language = "", title = "", alert = ""

    var isEmpty: Bool { self == Line() }
  }

  /// Languages that the form may have.
  static let mostLines = Translation.most

  var name = ""
  var title = ""
  var alert = ""
  /// One `name=value` a line.
  var extras = ""
  var lines: [Line] = []
  /// A template that the fields cannot express, as it is typed.
  var json: String?

  init() {}

  init(_ call: PageCall) {
    name = call.field("name")
    title = call.field("title")
    alert = call.field("alert")
    extras = call.text("extras") ?? ""
    json = call.text("template")
    for number in 1...Self.mostLines {
      let line = Line(
        language: call.field("language\(number)"), title: call.field("title\(number)"),
        alert: call.field("alert\(number)"))
      if !line.isEmpty { lines.append(line) }
    }
  }

  /// The form that makes a template.
  init(_ template: Template) {
    let content = template.content
    name = template.name
    title = content.texts.title ?? ""
    alert = content.texts.alert ?? ""
    extras = (content.texts.extras?.members ?? []).map { "\($0.key)=\($0.value.string ?? "")" }
      .joined(separator: "\n")
    lines = content.languages.map {
      Line(language: $0.language.text, title: $0.texts.title ?? "", alert: $0.texts.alert ?? "")
    }
    if (try? self.content()) != content {
      json = String(decoding: JSONWriter.serialize(.object(content.json)), as: UTF8.self)
    }
  }

  /// The template that the form stands for.
  func content() throws(FieldProblem) -> PushTemplate {
    let object: JSONObject
    if let json {
      guard let typed = (try? parseJSON(Array(json.utf8)))?.object else {
        throw FieldProblem(Words.templateWrong.with("JSON"), at: "template")
      }
      object = typed
    } else {
      object = try fields()
    }
    do throws(APIError) {
      return try PushTemplate.parse(object)
    } catch {
      throw FieldProblem(Words.templateWrong.with(error.message), at: json == nil ? "alert" : "template")
    }
  }

  private func fields() throws(FieldProblem) -> JSONObject {
    guard !alert.isEmpty else { throw FieldProblem(Words.templateTextMissing, at: "alert") }
    for (field, text) in [("title", title), ("alert", alert), ("extras", extras)] {
      guard PushTemplate.isText(text) else { throw FieldProblem(Words.templateBraces, at: field) }
    }
    var object = Self.texts(title, alert)
    var pairs = JSONObject()
    for line in extras.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, pairs[String(parts[0])] == nil else {
        throw FieldProblem(Words.templateExtrasWrong, at: "extras")
      }
      pairs.set(String(parts[0]), .string(String(parts[1])))
    }
    if !pairs.isEmpty { object.set("extras", .object(pairs)) }
    var languages = JSONObject()
    var known: Set<LanguageTag> = []
    for (place, line) in lines.enumerated() {
      let texts = Self.texts(line.title, line.alert)
      guard let language = LanguageTag(line.language), known.insert(language).inserted, !texts.isEmpty else {
        throw FieldProblem(Words.templateLanguageWrong, at: "language\(place + 1)")
      }
      guard PushTemplate.isText(line.title), PushTemplate.isText(line.alert) else {
        throw FieldProblem(Words.templateBraces, at: "language\(place + 1)")
      }
      languages.set(language.text, .object(texts))
    }
    if !languages.isEmpty { object.set("languages", .object(languages)) }
    return object
  }

  private static func texts(_ title: String, _ alert: String) -> JSONObject {
    var texts = JSONObject()
    if !title.isEmpty { texts.set("title", .string(title)) }
    if !alert.isEmpty { texts.set("alert", .string(alert)) }
    return texts
  }
}
