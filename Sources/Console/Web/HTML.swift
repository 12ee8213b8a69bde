/// A piece of a page. Written as a string literal, in which everything that is interpolated is escaped unless
/// it is a piece of a page itself: what people typed cannot become markup.
///
/// Attributes stand in double quotes, and the address of a link comes from the program: escaping alone does
/// not make an address harmless.
struct HTML: ExpressibleByStringInterpolation, Sendable, Equatable {
  private(set) var text: String

  init(stringLiteral value: String) { text = value }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  /// Plain text.
  init(escaping plain: String) { text = Self.escape(plain) }

  /// Markup that the program has made in another way, as it is.
  init(markup: String) { text = markup }

  /// Nothing.
  static let none: HTML = ""

  static func += (left: inout HTML, right: HTML) { left.text += right.text }

  /// Escapes what has a meaning in text or in a quoted attribute.
  static func escape(_ plain: String) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(plain.utf8.count + 16)
    for byte in plain.utf8 {
      switch byte {
      case UInt8(ascii: "&"): output += "&amp;".utf8
      case UInt8(ascii: "<"): output += "&lt;".utf8
      case UInt8(ascii: ">"): output += "&gt;".utf8
      case UInt8(ascii: "\""): output += "&quot;".utf8
      case UInt8(ascii: "'"): output += "&#39;".utf8
      default: output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 32 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { text += literal }

    /// Text, escaped.
    mutating func appendInterpolation(_ plain: String) { text += HTML.escape(plain) }

    /// A number.
    mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }

    /// Markup, as it is.
    mutating func appendInterpolation(_ piece: HTML) { text += piece.text }

    /// Markup for each element.
    mutating func appendInterpolation<Element>(
      _ elements: some Sequence<Element>, _ piece: (Element) -> HTML
    ) {
      for element in elements { text += piece(element).text }
    }

    /// Markup if there is a value.
    mutating func appendInterpolation<Value>(_ value: Value?, _ piece: (Value) -> HTML) {
      if let value { text += piece(value).text }
    }

    /// Markup if a condition holds.
    mutating func appendInterpolation(if condition: Bool, _ piece: @autoclosure () -> HTML) {
      if condition { text += piece().text }
    }
  }
}
