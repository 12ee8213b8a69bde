/// A text with variables: `{name}`, or `{name|text}` with what takes its place if it has no value. `{{` and
/// `}}` stand for one brace.
struct TemplateText: Equatable, Sendable {
  /// A piece of it.
  enum Part: Equatable, Sendable {
    case text(String)
    case variable(String, otherwise: String?)
  }

  /// Characters of the longest name of a variable: letters, digits and `_`.
  static let longestName = 64

  let parts: [Part]

  /// Reads a text; nil if a brace begins no variable.
  init?(_ text: String) {
    var parts: [Part] = []
    // Not characters: a mark behind a brace would make another one of it.
    var plain = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let next = rest.popFirst() {
      guard next == "{" else {
        plain.append(next)
        if next == "}", rest.first == "}" { rest.removeFirst() }
        continue
      }
      if rest.first == "{" {
        rest.removeFirst()
        plain.append("{")
        continue
      }
      guard let end = rest.firstIndex(of: "}"), let variable = Self.variable(Substring(rest[..<end])) else {
        return nil
      }
      if !plain.isEmpty { parts.append(.text(String(plain))) }
      plain = String.UnicodeScalarView()
      parts.append(variable)
      rest = rest[rest.index(after: end)...]
    }
    if !plain.isEmpty { parts.append(.text(String(plain))) }
    self.parts = parts
  }

  private static func variable(_ inner: Substring) -> Part? {
    let (scalars, bar) = (inner.unicodeScalars, inner.unicodeScalars.firstIndex(of: "|"))
    let name = scalars[..<(bar ?? scalars.endIndex)]
    let isName = name.allSatisfy { $0 == "_" || $0.isASCII && ($0.properties.isAlphabetic || $0.isDigit) }
    guard isName, (1...longestName).contains(name.count), !scalars.contains("{") else { return nil }
    let otherwise = bar.map { String(Substring(scalars[scalars.index(after: $0)...])) }
    return .variable(String(name), otherwise: otherwise)
  }

  /// The text with values for its variables. One without a value and anything else to say is left out.
  func filled(_ values: [String: String]) -> String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .text(let plain): text += plain
      case .variable(let name, let otherwise): text += values[name] ?? otherwise ?? ""
      }
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
