import BorealisBase
import Testing

@Suite struct ParseTests {
  static let push = """
    {"platform":["android","ios"],"audience":{"tag":["深圳","a\\"b"],"registration_id":["4312kjklfds2"]},\
    "notification":{"android":{"alert":"Hi, \\u4f60\\ud83d\\ude00!","builder_id":1,"extras":{"n":-1.5e3}}},\
    "message":null,"options":{"time_to_live":60,"apns_production":false,"sendno":9223372036854775807}}
    """

  /// What each document means, told by its normal form.
  @Test(arguments: [
    ("null", "null"), (" true\t\r\n", "true"), ("false", "false"), ("0", "0"), ("-0", "-0"),
    ("1e400", "1e400"),
    ("-9223372036854775808", "-9223372036854775808"), ("1.50E+07", "1.50E+07"), ("0.1e-2", "0.1e-2"),
    ("\"\"", "\"\""), ("[]", "[]"), ("{}", "{}"), (" [ 1 , [ ] , { } ] ", "[1,[],{}]"),
    ("{\"b\":1,\"a\":{\"b\":2}}", "{\"b\":1,\"a\":{\"b\":2}}"), ("\"\\u0041\\/\\u00e9\"", "\"A/é\""),
    ("\"\\ud83d\\ude00\\uFFFF\\u007f\"", "\"😀\u{ffff}\u{7f}\""),
    ("\"\\b\\f\\n\\r\\t\\\\\\\"\"", "\"\\b\\f\\n\\r\\t\\\\\\\"\""),
    ("\"\\u0000\\u001f\"", "\"\\u0000\\u001f\""), ("{\"\":0}", "{\"\":0}"),
    // A Kelvin sign and a K are one text to Swift's comparison and two keys to JSON.
    ("{\"K\":1,\"\\u212a\":2}", "{\"K\":1,\"\u{212a}\":2}"),
    ("{\"\\u00e9\":1,\"e\\u0301\":2}", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
  ]) func valid(text: String, normal: String) throws {
    let value = try parseJSON(Array(text.utf8))
    #expect(JSONWriter.serialize(value) == Array(normal.utf8))
    #expect(JSONWriter.serialize(try parseJSON(Array(normal.utf8))) == Array(normal.utf8))
  }

  @Test(
    arguments: [
      ("", .unexpectedEnd(at: 0)), ("  ", .unexpectedEnd(at: 2)), ("[1", .unexpectedEnd(at: 2)),
      ("{\"a\"", .unexpectedEnd(at: 4)), ("\"a", .unexpectedEnd(at: 2)), ("\"\\", .unexpectedEnd(at: 2)),
      ("\"\\\"", .unexpectedEnd(at: 3)), ("nul", .unexpectedEnd(at: 3)), ("-", .unexpectedEnd(at: 1)),
      ("1.", .unexpectedEnd(at: 2)), ("1e+", .unexpectedEnd(at: 3)), ("\u{feff}1", .unexpectedByte(at: 0)),
      ("nulL", .unexpectedByte(at: 3)), ("[1,]", .unexpectedByte(at: 3)), ("[,1]", .unexpectedByte(at: 1)),
      ("[1 2]", .unexpectedByte(at: 3)), ("{\"a\":1,}", .unexpectedByte(at: 7)),
      ("{a:1}", .unexpectedByte(at: 1)),
      ("{\"a\" 1}", .unexpectedByte(at: 5)), ("{\"a\":1]", .unexpectedByte(at: 6)),
      ("'a'", .unexpectedByte(at: 0)),
      ("+1", .unexpectedByte(at: 0)), (".5", .unexpectedByte(at: 0)), ("NaN", .unexpectedByte(at: 0)),
      ("[1]/**/", .trailingBytes(at: 3)), ("1 2", .trailingBytes(at: 2)), ("0x10", .trailingBytes(at: 1)),
      ("1\u{0}", .trailingBytes(at: 1)), ("01", .badNumber(at: 0)), ("-01", .badNumber(at: 1)),
      ("-a", .badNumber(at: 1)), ("1.e1", .badNumber(at: 2)), ("1ee", .badNumber(at: 2)),
      ("\"\n\"", .badString(at: 1)), ("\"a\u{0}\"", .badString(at: 2)), ("\"\\\n\"", .badEscape(at: 1)),
      ("\"\\x41\"", .badEscape(at: 1)), ("\"\\u12\"", .badEscape(at: 1)), ("\"\\u12g4\"", .badEscape(at: 1)),
      ("\"\\ud800\"", .badEscape(at: 1)), ("\"a\\udc00\"", .badEscape(at: 2)),
      ("\"\\ud800\\ud800\"", .badEscape(at: 1)), ("\"\\ud800\\n0041\"", .badEscape(at: 1)),
      ("\"\\ud800\\u00\"", .badEscape(at: 1)), ("{\"a\":1,\"a\":1}", .duplicateKey(at: 7)),
      ("{\"a\":1,\"\\u0061\":1}", .duplicateKey(at: 7)),
    ] as [(String, JSONError)]) func invalid(text: String, error: JSONError)
  {
    #expect(throws: error) { try parseJSON(Array(text.utf8)) }
  }

  @Test(
    arguments: [
      [0x80], [0xff], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf],
      [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc3], [0xe4, 0xbd],
      [0xf0, 0x9f, 0x98],
    ] as [[UInt8]]) func badUTF8(bytes: [UInt8])
  {
    #expect(throws: JSONError.badUTF8(at: 1)) { try parseJSON([34] + bytes + [34]) }
    #expect(throws: JSONError.badUTF8(at: 3)) { try parseJSON([34, 92, 110] + bytes + [34]) }
    #expect(throws: JSONError.badUTF8(at: 2)) { try parseJSON([123, 34] + bytes + Array("\":1}".utf8)) }
  }

  /// No document that was cut short is taken for a whole one, and no single wrong byte traps.
  @Test func truncationAndDamage() {
    let bytes = Array(Self.push.utf8)
    for count in 0..<bytes.count {
      #expect(throws: JSONError.self) { try parseJSON(Array(bytes[..<count])) }
      for byte in [0, 34, 92, 125, 0x80, 0xff] as [UInt8] {
        var damaged = bytes
        damaged[count] = byte
        do { _ = try parseJSON(damaged) } catch { #expect((0...bytes.count).contains(error.offset)) }
      }
    }
  }

  @Test func limits() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
    }
    _ = try parseJSON(nested(32))
    #expect(throws: JSONError.tooDeep(at: 32)) { try parseJSON(nested(33)) }
    #expect(throws: JSONError.tooDeep(at: 32)) { try parseJSON(nested(500_000)) }
    _ = try parseJSON(nested(512), limits: JSONLimits(maxDepth: .max))
    #expect(throws: JSONError.tooDeep(at: 512)) {
      try parseJSON(nested(513), limits: JSONLimits(maxDepth: .max))
    }
    let wide = Array("{\"a\":[1,2,3]}".utf8)
    _ = try parseJSON(wide, limits: JSONLimits(maxBytes: 13, maxMembers: 4))
    #expect(throws: JSONError.tooLarge(at: 10)) { try parseJSON(wide, limits: JSONLimits(maxMembers: 3)) }
    #expect(throws: JSONError.tooLarge(at: 12)) { try parseJSON(wide, limits: JSONLimits(maxBytes: 12)) }
  }

  /// Many members cost no quadratic time and duplicates are found at any distance.
  @Test func manyKeys() throws {
    let members = (0..<50_000).map { "\"k\($0)\":0" }.joined(separator: ",")
    #expect(try parseJSON(Array("{\(members)}".utf8)).object?.count == 50_000)
    for key in ["k0", "k15", "k16", "k49999"] {
      let error = #expect(throws: JSONError.self) { try parseJSON(Array("{\(members),\"\(key)\":0}".utf8)) }
      #expect(error == .duplicateKey(at: members.utf8.count + 2))
    }
  }

  @Test func access() throws {
    let value = try parseJSON(Array(Self.push.utf8))
    #expect(
      value.object?.members.map(\.key) == ["platform", "audience", "notification", "message", "options"])
    #expect(value["platform"]?.array?.compactMap(\.string) == ["android", "ios"])
    #expect(value["audience"]?["tag"]?.array?.first?.string == "深圳")
    #expect(value["notification"]?["android"]?["alert"]?.string == "Hi, 你😀!")
    #expect(value["notification"]?["android"]?["extras"]?["n"]?.double == -1500)
    #expect(value["options"]?["sendno"]?.int64 == .max)
    #expect(value["options"]?["apns_production"]?.bool == false)
    #expect(value["message"]?.isNull == true)
    #expect(value["none"] == nil && value["platform"]?["x"] == nil && value["options"]?.string == nil)
  }

  @Test(
    arguments: [
      ("-9223372036854775808", Int64.min, -9223372036854775808.0), ("9223372036854775807", Int64.max, 0x1p63),
      ("9223372036854775808", nil, 0x1p63), ("-0", 0, 0), ("1e400", nil, nil), ("1.0", nil, 1),
      ("1e2", nil, 100),
      ("5e-324", nil, .leastNonzeroMagnitude), ("1e-400", nil, 0),
    ] as [(String, Int64?, Double?)]) func numbers(text: String, integer: Int64?, double: Double?) throws
  {
    let number = try #require(JSONNumber(text: text))
    #expect(number.int64 == integer)
    #expect(number.double == double)
    #expect(number.text == text)
  }

  @Test(arguments: ["", " 1", "1 ", "+1", "01", "1,2", "\"1\"", "inf"]) func notNumbers(text: String) {
    #expect(JSONNumber(text: text) == nil)
  }
}
