import BorealisBase
import Model

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

extension PageCall {
  /// What the form has in its field for networks, with white space or commas between them.
  func networks() throws(FieldProblem) -> [IPNetwork] {
    var networks: [IPNetwork] = []
    for text in field("networks").split(whereSeparator: { $0.isWhitespace || $0 == "," }) {
      guard let network = IPNetwork(text) else {
        throw FieldProblem(Words.badNetwork.with(String(text.prefix(60))), at: "networks")
      }
      networks.append(network)
    }
    guard networks.count <= APIKeyGrant.mostNetworks else {
      throw FieldProblem(Words.tooManyNetworks, at: "networks")
    }
    return networks
  }
}
