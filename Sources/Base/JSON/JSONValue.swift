/// A JSON document or a part of one (RFC 8259).
public enum JSONValue: Sendable, Equatable {
  /// The literal `null`.
  case null
  /// The literals `true` and `false`.
  case bool(Bool)
  /// A number, kept as it was written.
  case number(JSONNumber)
  /// A string with its escapes resolved.
  case string(String)
  /// The elements in order.
  case array([JSONValue])
  /// The members in order.
  case object(JSONObject)

  /// Whether this is `null`.
  public var isNull: Bool { self == .null }

  /// The truth value, nil for other kinds.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The number, nil for other kinds.
  public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }

  /// The number as an integer, nil for other kinds and for what `JSONNumber.int64` refuses.
  public var int64: Int64? { number?.int64 }

  /// The number as binary floating point, nil for other kinds and beyond the range.
  public var double: Double? { number?.double }

  /// The text, nil for other kinds.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The elements, nil for other kinds.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The members, nil for other kinds.
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

  /// A member's value; nil for other kinds and for members that are not there.
  public subscript(key: String) -> JSONValue? { object?[key] }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// The literal `null`.
  public init(nilLiteral: ()) { self = .null }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object; the last of several equal keys counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (key, value) in elements { object.set(key, value) }
    self = .object(object)
  }
}
