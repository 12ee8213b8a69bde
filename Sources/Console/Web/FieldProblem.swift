import BorealisBase

/// What is wrong with one field of a form.
struct FieldProblem: Error, Sendable {
  let field: String
  let phrase: Phrase

  init(_ phrase: Phrase, at field: String) {
    self.phrase = phrase
    self.field = field
  }

  /// The words for a field, nil if another one is wrong.
  func text(at field: String, _ call: PageCall) -> String? { field == self.field ? call(phrase) : nil }
}
