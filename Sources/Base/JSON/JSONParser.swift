/// Reads one JSON document (RFC 8259), refusing what readers are known to disagree about: duplicate keys,
/// invalid UTF-8, lone surrogates, a byte order mark.
public func parseJSON(_ bytes: Span<UInt8>, limits: JSONLimits = .init()) throws(JSONError) -> JSONValue {
  guard bytes.count <= limits.maxBytes else { throw .tooLarge(at: limits.maxBytes) }
  var parser = JSONParser(limits: limits)
  return try parser.document(bytes)
}

/// Reads one JSON document from an array; see the variant for spans.
public func parseJSON(_ bytes: [UInt8], limits: JSONLimits = .init()) throws(JSONError) -> JSONValue {
  try bytes.withSpan { bytes throws(JSONError) in try parseJSON(bytes, limits: limits) }
}

/// The state of one reading. The bytes are passed along because a span cannot be stored.
struct JSONParser {
  let limits: JSONLimits
  var position = 0
  private var depth = 0
  private var members = 0

  init(limits: JSONLimits) { self.limits = limits }

  mutating func document(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    let value = try value(bytes)
    skipSpace(bytes)
    guard position == bytes.count else { throw .trailingBytes(at: position) }
    return value
  }

  private mutating func value(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    switch try peek(bytes) {
    case UInt8(ascii: "{"): return try object(bytes)
    case UInt8(ascii: "["): return try array(bytes)
    case UInt8(ascii: "\""): return .string(try string(bytes))
    case UInt8(ascii: "t"): return try literal(bytes, "true", .bool(true))
    case UInt8(ascii: "f"): return try literal(bytes, "false", .bool(false))
    case UInt8(ascii: "n"): return try literal(bytes, "null", .null)
    case UInt8(ascii: "-"), 48...57: return .number(try number(bytes))
    default: throw .unexpectedByte(at: position)
    }
  }

  private mutating func object(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    try open()
    var members: [JSONObject.Member] = []
    // Comparing with all keys before is fastest for a few and quadratic for many.
    var seen: Set<[UInt8]> = []
    if try peek(bytes) == UInt8(ascii: "}") { return close(.object(JSONObject())) }
    while true {
      guard try peek(bytes) == UInt8(ascii: "\"") else { throw .unexpectedByte(at: position) }
      let start = position
      try count()
      let key = try string(bytes)
      if members.count < 16 {
        for member in members where member.key.hasSameBytes(as: key) { throw .duplicateKey(at: start) }
      } else {
        if seen.isEmpty { for member in members { seen.insert(Array(member.key.utf8)) } }
        guard seen.insert(Array(key.utf8)).inserted else { throw .duplicateKey(at: start) }
      }
      guard try peek(bytes) == UInt8(ascii: ":") else { throw .unexpectedByte(at: position) }
      position += 1
      members.append(JSONObject.Member(key: key, value: try value(bytes)))
      switch try peek(bytes) {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"): return close(.object(JSONObject(distinct: members)))
      default: throw .unexpectedByte(at: position)
      }
    }
  }

  private mutating func array(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    try open()
    var elements: [JSONValue] = []
    if try peek(bytes) == UInt8(ascii: "]") { return close(.array([])) }
    while true {
      try count()
      elements.append(try value(bytes))
      switch try peek(bytes) {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"): return close(.array(elements))
      default: throw .unexpectedByte(at: position)
      }
    }
  }

  private mutating func open() throws(JSONError) {
    guard depth < limits.maxDepth else { throw .tooDeep(at: position) }
    depth += 1
    position += 1
  }

  private mutating func close(_ value: JSONValue) -> JSONValue {
    depth -= 1
    position += 1
    return value
  }

  private mutating func count() throws(JSONError) {
    members += 1
    guard members <= limits.maxMembers else { throw .tooLarge(at: position) }
  }

  private mutating func literal(
    _ bytes: Span<UInt8>, _ text: StaticString, _ value: JSONValue
  ) throws(JSONError) -> JSONValue {
    for expected in text.description.utf8 {
      guard position < bytes.count else { throw .unexpectedEnd(at: position) }
      guard bytes[position] == expected else { throw .unexpectedByte(at: position) }
      position += 1
    }
    return value
  }

  private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONNumber {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    let leading = position
    try digits(bytes)
    if bytes[leading] == UInt8(ascii: "0"), position > leading + 1 { throw .badNumber(at: leading) }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      try digits(bytes)
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      try digits(bytes)
    }
    return JSONNumber(valid: try text(bytes.extracting(start..<position), at: start))
  }

  /// One digit or more.
  private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
    let start = position
    while position < bytes.count, bytes[position] &- 48 < 10 { position += 1 }
    guard position > start else {
      throw position < bytes.count ? .badNumber(at: position) : .unexpectedEnd(at: position)
    }
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case 32, 10, 13, 9: position += 1
      default: return
      }
    }
  }

  /// The next byte that is not white space.
  private mutating func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
    skipSpace(bytes)
    guard position < bytes.count else { throw .unexpectedEnd(at: position) }
    return bytes[position]
  }
}
