import BorealisBase

/// What JSON may look like, by a JSON Schema of the description: the fields of objects as lists, one within
/// the other.
struct SchemaView {
  let call: PageCall

  /// Levels of fields within fields that are shown.
  private static let mostLevels = 7

  func html(_ schema: JSONValue) -> HTML { html(schema, within: [], level: 0) }

  /// `names` are the schemas around this one, so that one that holds itself ends.
  private func html(_ schema: JSONValue, within names: Set<String>, level: Int) -> HTML {
    let (name, value) = APIReference.resolve(schema)
    guard level < Self.mostLevels, name.map({ !names.contains($0) }) ?? true else { return .none }
    let names = name.map { names.union([$0]) } ?? names
    func inner(_ schema: JSONValue) -> HTML { html(schema, within: names, level: level + 1) }
    let required = Set((value["required"]?.array ?? []).compactMap(\.string))
    let fields = value["properties"]?.object?.members ?? []
    let others = value["additionalProperties"].map { $0.object?.isEmpty == false ? [$0] : [] } ?? []
    let choices = value["oneOf"]?.array ?? value["anyOf"]?.array ?? []
    let structured = choices.filter { Self.isStructured($0) }
    return """
      \(if: !fields.isEmpty || !others.isEmpty, """
        <ul class="fields">\(fields, { field($0.key, $0.value, required.contains($0.key), inner) })\
        \(others, { field(nil, $0, false, inner) })</ul>
        """)\
      \(value["items"], { inner($0) })\
      \(value["allOf"]?.array, { "\($0, { inner($0) })" })\
      \(if: structured.count > 1, "<p>\(call(Words.apiOneOf))</p>")\(structured, { inner($0) })
      """
  }

  private func field(
    _ name: String?, _ schema: JSONValue, _ isRequired: Bool, _ inner: (JSONValue) -> HTML
  ) -> HTML {
    let description =
      schema["description"]?.string ?? APIReference.resolve(schema).value["description"]?.string
    let content = Self.isStructured(schema) ? inner(schema) : .none
    let label: HTML = name.map { "<code>\($0)</code>" } ?? "<em>\(call(Words.apiAnyName))</em>"
    return """
      <li>\(label) <span class="quiet" lang="en">\(Self.summary(schema))</span>\
      \(if: isRequired, " <span class=\"pill\">\(call(Words.apiRequired))</span>")\
      \(description, { "<div lang=\"en\">\(ReferenceView.prose($0))</div>" })\
      \(if: !content.text.allSatisfy(\.isWhitespace), """
        <details><summary>\(call(Words.apiFields))<span class="visually-hidden"> \(name ?? "")</span></summary>\(content)</details>
        """)</li>

      """
  }

  /// Whether a value has fields, or elements with fields.
  private static func isStructured(_ schema: JSONValue, level: Int = 0) -> Bool {
    let value = APIReference.resolve(schema).value
    guard level < 4 else { return false }
    if value["properties"]?.object?.isEmpty == false || value["additionalProperties"]?.object != nil {
      return true
    }
    let parts = (value["oneOf"]?.array ?? []) + (value["anyOf"]?.array ?? []) + (value["allOf"]?.array ?? [])
    return (parts + (value["items"].map { [$0] } ?? [])).contains { isStructured($0, level: level + 1) }
  }

  /// The kind of a value and its limits in a line.
  static func summary(_ schema: JSONValue, level: Int = 0) -> String {
    let value = APIReference.resolve(schema).value
    guard level < 4 else { return "" }
    if let constant = value["const"] { return constant.plain }
    if let choices = value["enum"]?.array { return choices.map(\.plain).joined(separator: ", ") }
    if let choices = value["oneOf"]?.array ?? value["anyOf"]?.array {
      var kinds: [String] = []
      for choice in choices.map({ summary($0, level: level + 1) }) where !kinds.contains(choice) {
        kinds.append(choice)
      }
      return kinds.joined(separator: " or ")
    }
    let kinds = value["type"]?.array?.compactMap(\.string) ?? [value["type"]?.string].compactMap { $0 }
    var parts = [kinds.joined(separator: " or ")]
    if kinds.first == "array", let items = value["items"] {
      parts = ["array of \(summary(items, level: level + 1))"]
    }
    parts += limits(value)
    return parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func limits(_ value: JSONValue) -> [String] {
    let words = [
      ("format", ""), ("minimum", "at least "), ("maximum", "at most "), ("minLength", "min. length "),
      ("maxLength", "max. length "), ("minItems", "min. items "), ("maxItems", "max. items "),
      ("default", "default "),
    ]
    return words.compactMap { key, word in value[key].map { "\(word)\($0.plain)" } }
  }
}
