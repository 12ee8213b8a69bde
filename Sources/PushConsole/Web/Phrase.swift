/// What the console speaks.
enum Language: String, CaseIterable, Sendable {
  case english = "en"
  case chinese = "zh"

  /// The first of a browser's languages (`Accept-Language`, RFC 9110 section 12.5.4) that the console speaks; by order, since browsers
  /// list them so.
  init(accepting header: String?) {
    let names = (header ?? "").split(separator: ",").map { $0.drop { $0 == " " }.lowercased() }
    self =
      names.lazy.compactMap { name in Self.allCases.first { name.hasPrefix($0.rawValue) } }.first ?? .english
  }

  /// The value of the attribute `lang`.
  var tag: String { self == .chinese ? "zh-CN" : "en" }
}

/// A text of the console in each language, so that none can be forgotten.
struct Phrase: Sendable, Equatable {
  let english: String
  let chinese: String

  init(_ english: String, _ chinese: String) {
    self.english = english
    self.chinese = chinese
  }

  subscript(language: Language) -> String { language == .chinese ? chinese : english }

  /// The phrase with `{}` replaced, in order.
  func with(_ values: String...) -> Phrase {
    Phrase(Self.fill(english, values), Self.fill(chinese, values))
  }

  /// The phrase with `{}` replaced, in order, by what each language has for it.
  func with(each values: Phrase...) -> Phrase {
    Phrase(Self.fill(english, values.map(\.english)), Self.fill(chinese, values.map(\.chinese)))
  }

  private static func fill(_ text: String, _ values: [String]) -> String {
    var output = ""
    var rest = text[...]
    for value in values {
      guard let brace = rest.firstRange(of: "{}") else { break }
      output += rest[..<brace.lowerBound] + value
      rest = rest[brace.upperBound...]
    }
    return output + rest
  }
}
