/// A number as the document spells it, so that 64-bit integers and exact decimals survive.
public struct JSONNumber: Sendable, Equatable {
  /// The spelling, always of RFC 8259's grammar. Two numbers are equal if they are spelled alike.
  public let text: String

  init(valid text: String) { self.text = text }

  /// A whole number.
  public init(_ value: some FixedWidthInteger) { text = String(value) }

  /// The shortest spelling that reads back as `value`; nil for infinities and NaN.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    text = value.description
  }

  /// A number from its spelling; nil if RFC 8259's grammar does not allow it.
  public init?(text: String) {
    guard case .number(let number)? = try? parseJSON(Array(text.utf8)), number.text == text else {
      return nil
    }
    self = number
  }

  /// The value if it is written without fraction and exponent and fits. `-0` is 0.
  public var int64: Int64? { Int64(text) }

  /// The same for unsigned values.
  public var uint64: UInt64? { UInt64(text) }

  /// The nearest binary value; nil if that would be infinite.
  public var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
