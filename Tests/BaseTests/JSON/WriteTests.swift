import BorealisBase
import Testing

/// Numbers that look random and are the same in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}

@Suite struct WriteTests {
  @Test func commasAndNesting() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("sendno", 0)
    writer.member("msg_id", "18100287008546390")
    writer.key("list")
    writer.beginArray()
    writer.value(true)
    writer.null()
    writer.beginObject()
    writer.endObject()
    writer.beginArray()
    writer.endArray()
    writer.value(-1.5)
    writer.value(Double.nan)
    writer.value(UInt64.max)
    writer.endArray()
    writer.key("raw")
    writer.raw("{\"x\":1}".utf8)
    writer.member("last", false)
    writer.endObject()
    let expected =
      "{\"sendno\":0,\"msg_id\":\"18100287008546390\",\"list\":[true,null,{},[],-1.5,null,"
      + "18446744073709551615],\"raw\":{\"x\":1},\"last\":false}"
    #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
  }

  @Test func literals() throws {
    let value: JSONValue = ["a": [1, nil, true, "x"], "a\n": -5, "a": 2]
    #expect(String(decoding: JSONWriter.serialize(value), as: UTF8.self) == "{\"a\":2,\"a\\n\":-5}")
    #expect(JSONNumber(Double.infinity) == nil)
  }

  /// Every character below U+0800 survives in a key and in a value.
  @Test func everyCharacter() throws {
    for number in UInt32(0)..<0x800 {
      let text = try "x" + String(#require(Unicode.Scalar(number)))
      var object = JSONObject()
      object.set(text, .string(text))
      let bytes = JSONWriter.serialize(.object(object))
      #expect(bytes.allSatisfy { $0 >= 0x20 })
      let member = try parseJSON(bytes).object?.members.first
      #expect(member.map { Array($0.key.utf8) } == Array(text.utf8))
      #expect(member?.value.string.map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  /// What the writer wrote, the parser reads as the same value.
  @Test(arguments: 1...200) func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    let value = Self.value(depth: 0, &random)
    let bytes = JSONWriter.serialize(value)
    #expect(try parseJSON(bytes) == value)
    #expect(JSONWriter.serialize(try parseJSON(bytes)) == bytes)
  }

  static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth < 6 ? 8 : 5), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return .number(JSONNumber(Int64.random(in: .min ... .max, using: &random)))
    case 3: return JSONNumber(Double(bitPattern: random.next())).map { .number($0) } ?? .null
    case 4: return .string(text(&random))
    case 5:
      return .array((0..<Int.random(in: 0..<6, using: &random)).map { _ in value(depth: depth + 1, &random) })
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0..<24, using: &random) {
        object.set(text(&random), depth < 2 ? value(depth: depth + 1, &random) : 1)
      }
      return .object(object)
    }
  }

  static func text(_ random: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0..<20, using: &random) {
      let bound: UInt32 = [0x80, 0x800, 0x1_0000, 0x11_0000].randomElement(using: &random) ?? 0x80
      text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 0..<bound, using: &random)) ?? "\u{fffd}")
    }
    return text
  }
}
