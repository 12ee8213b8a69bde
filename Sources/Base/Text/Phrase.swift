/// The languages in which people are addressed.
public enum Language: String, CaseIterable, Sendable {
  /// English.
  case english = "en"
  /// Simplified Chinese.
  case chinese = "zh"
}

/// A text for people in each language, so that none can be forgotten.
public struct Phrase: Sendable, Hashable {
  /// The English text.
  public let english: String
  /// The Chinese text.
  public let chinese: String

  /// A text in both languages; `{}` stands for what `with` puts in.
  public init(_ english: String, _ chinese: String) {
    self.english = english
    self.chinese = chinese
  }

  /// What is the same in both languages, such as a name or what another program said.
  public init(verbatim text: String) { self.init(text, text) }

  /// The text in a language.
  public subscript(language: Language) -> String { language == .chinese ? chinese : english }

  /// The phrase with `{}` replaced, in order.
  public func with(_ values: String...) -> Phrase {
    Phrase(Self.fill(english, values), Self.fill(chinese, values))
  }

  /// The phrase with `{}` replaced, in order, by what each language has for it.
  public func with(each values: Phrase...) -> Phrase { with(each: values) }

  /// The same for values of any number.
  public func with(each values: [Phrase]) -> Phrase {
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
