import BorealisBase

/// The texts of a notification, with variables, in its default language and in others. A push that names a
/// template says what these say.
package struct PushTemplate: Equatable, Sendable {
  /// Bytes that one may have as JSON.
  package static let longest = 16_384
  /// Variables that one may have, and places in its texts where they stand.
  package static let (mostVariables, mostPlaces) = (50, 200)
  /// Bytes of the value of a variable.
  package static let longestValue = 1000

  /// What its texts leave open.
  package struct Variable: Equatable, Sendable {
    package let name: String
    /// Whether a push has to give a value: some text says nothing else in its place.
    package fileprivate(set) var isRequired: Bool
  }

  /// Texts in a language.
  package struct Translation: Equatable, Sendable {
    package let language: LanguageTag
    package let texts: PushTexts
  }

  /// In the default language; there is an `alert`.
  package let texts: PushTexts
  package let languages: [Translation]
  /// In the order in which they occur first.
  package let variables: [Variable]

  /// Reads a template as APIs have it: `title`, `alert`, `extras`, and these again for each of `languages`.
  /// Throws the codes of the push API.
  package static func parse(_ object: JSONObject) throws(APIError) -> PushTemplate {
    let size = JSONWriter.serialize(.object(object)).count
    guard size <= longest else {
      throw .tooLarge("The template has \(size) bytes as JSON, at most \(longest) are allowed")
    }
    let fields = Fields(object)
    try fields.allow(["title", "alert", "extras", "languages"])
    let texts = try Self.texts(fields, others: ["languages"])
    guard texts.alert?.isEmpty == false else { throw fields.missing("alert", "the text of the notification") }
    var languages: [Translation] = []
    if let all = try fields.fields("languages") {
      guard all.present.count <= Model.Translation.most else {
        throw fields.invalid("languages", "has more than \(Model.Translation.most) languages")
      }
      for member in all.present {
        guard let language = LanguageTag(member.key) else {
          throw fields.invalid(
            "languages", "holds '\(member.key.prefix(64))', which is not a language as a BCP 47 tag")
        }
        guard !languages.contains(where: { $0.language == language }) else {
          throw fields.invalid("languages", "holds '\(member.key)' twice")
        }
        guard let own = try all.fields(member.key) else { continue }
        let texts = try Self.texts(own)
        guard texts != PushTexts() else { throw all.invalid(member.key, "has no text") }
        languages.append(Translation(language: language, texts: texts))
      }
    }
    var variables: [Variable] = []
    var places = 0
    for texts in [texts] + languages.map(\.texts) { texts.note(&variables, &places) }
    guard variables.count <= mostVariables, places <= mostPlaces else {
      throw .invalidValue(
        "The template has \(variables.count) variables in \(places) places, at most \(mostVariables) in "
          + "\(mostPlaces) are allowed")
    }
    return PushTemplate(texts: texts, languages: languages, variables: variables)
  }

  private static func texts(_ fields: Fields, others: [String] = []) throws(APIError) -> PushTexts {
    try fields.allow(["title", "alert", "extras"] + others)
    let texts = PushTexts(
      title: try fields.string("title"), alert: try fields.string("alert"),
      extras: try fields.fields("extras")?.object)
    for (key, text) in [("title", texts.title), ("alert", texts.alert)] {
      try check(text.map { .string($0) } ?? .null, key, fields)
    }
    try check(texts.extras.map { .object($0) } ?? .null, "extras", fields)
    return texts
  }

  private static func check(_ value: JSONValue, _ key: String, _ fields: Fields) throws(APIError) {
    for text in value.texts where TemplateText(text) == nil {
      throw fields.faults.invalid(
        "\(fields.name(key)) has a brace that begins no variable: write {name} or {name|text}, and {{ for a brace"
      )
    }
  }

  /// As APIs have it.
  package var json: JSONObject {
    var object = texts.json
    guard !languages.isEmpty else { return object }
    var all = JSONObject()
    for one in languages { all.set(one.language.text, .object(one.texts.json)) }
    object.set("languages", .object(all))
    return object
  }

  /// Whether a text may stand in a template: its braces begin variables or are doubled.
  package static func isText(_ text: String) -> Bool { TemplateText(text) != nil }

  // MARK: Use

  /// What it says with some values, in its default language (nil) and in each other: what these leave out is
  /// as in the default.
  package func said(with values: [String: String]) -> [(language: LanguageTag?, texts: PushTexts)] {
    let common = texts.filled(values)
    return [(nil, common)]
      + languages.map { one in
        var own = one.texts.filled(values)
        (own.title, own.alert) = (own.title ?? common.title, own.alert ?? common.alert)
        return (one.language, own)
      }
  }

  /// The variables that need a value and have none.
  package func missing(in values: [String: String]) -> [String] {
    variables.filter { $0.isRequired && values[$0.name] == nil }.map(\.name)
  }

  /// A push object that says what the template says with these values, and no longer names a template.
  package func applied(to push: JSONObject, values: [String: String]) -> JSONObject {
    var push = push
    _ = push.remove("template")
    var notification = push["notification"]?.object ?? JSONObject()
    notification.set("alert", .string(texts.alert ?? ""))
    push.set("notification", .object(notification))
    push = texts.filled(values).applied(to: push)
    guard !languages.isEmpty else { return push }
    var all = JSONObject()
    for one in languages { all.set(one.language.text, .object(one.texts.filled(values).json)) }
    push.set("languages", .object(all))
    return push
  }

  /// Resolves the template that a push object names: its number, and the object that says the same without a
  /// template. Nil if it names none.
  static func resolve(
    _ push: Fields, _ rules: PushRules
  ) throws(APIError) -> (id: Int64, object: JSONObject)? {
    guard let use = try push.fields("template"), push.wish("template") != nil else { return nil }
    try use.allow(["id", "values"])
    guard let given = use["id"] else { throw use.missing("id") }
    guard let id = given.int64 ?? given.string.flatMap({ Int64($0) }), let template = rules.template?(id)
    else {
      throw use.invalid("id", "is \(given.excerpt): there is no such template")
    }
    if push.wish("languages") != nil { throw push.invalid("languages", "does not go with template") }
    let values = try values(use)
    let missing = template.missing(in: values)
    guard missing.isEmpty else {
      let names = missing.map { use.name("values.\($0)") }.joined(separator: ", ")
      throw .missing("Missing parameter: \(names)")
    }
    for name in values.keys.sorted() where !template.variables.contains(where: { $0.name == name }) {
      push.ignored.add(use.name("values.\(name)"))
    }
    return (id, template.applied(to: push.object, values: values))
  }

  private static func values(_ use: Fields) throws(APIError) -> [String: String] {
    guard let given = try use.fields("values") else { return [:] }
    var values: [String: String] = [:]
    for member in given.present {
      let text: String? =
        switch member.value {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
      guard let text, text.utf8.count <= longestValue else {
        throw given.faults.invalid(
          "\(given.name(String(member.key.prefix(TemplateText.longestName)))) must be a string of at most "
            + "\(longestValue) bytes, or a number")
      }
      values[member.key] = text
    }
    return values
  }
}

extension PushTexts {
  /// The members that templates have.
  fileprivate var json: JSONObject {
    var object = JSONObject()
    if let title { object.set("title", .string(title)) }
    if let alert { object.set("alert", .string(alert)) }
    if let extras { object.set("extras", .object(extras)) }
    return object
  }

  /// The texts of a template with values for its variables.
  fileprivate func filled(_ values: [String: String]) -> PushTexts {
    func fill(_ text: String) -> String { TemplateText(text)?.filled(values) ?? text }
    return PushTexts(
      title: title.map(fill), alert: alert.map(fill),
      extras: extras.flatMap { JSONValue.object($0).changingTexts(fill).object })
  }

  fileprivate func note(_ variables: inout [PushTemplate.Variable], _ places: inout Int) {
    for text in JSONValue.object(json).texts {
      for case .variable(let name, let otherwise) in TemplateText(text)?.parts ?? [] {
        places += 1
        if let place = variables.firstIndex(where: { $0.name == name }) {
          if otherwise == nil { variables[place].isRequired = true }
        } else {
          variables.append(PushTemplate.Variable(name: name, isRequired: otherwise == nil))
        }
      }
    }
  }
}

extension JSONValue {
  /// All strings in it but the names of members.
  fileprivate var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(\.texts)
    case .object(let object): object.members.flatMap(\.value.texts)
    case .null, .bool, .number: []
    }
  }

  fileprivate func changingTexts(_ change: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): return .string(change(text))
    case .array(let elements): return .array(elements.map { $0.changingTexts(change) })
    case .object(var object):
      for member in object.members { object.set(member.key, member.value.changingTexts(change)) }
      return .object(object)
    case .null, .bool, .number: return self
    }
  }
}
