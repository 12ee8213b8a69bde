import BorealisBase
import Model
import Testing

@Suite struct DeviceUpdateTests {
  static let first = "13065ffa4e0b5fb6ba3"
  static let second = "13065ffa4e0b5fb6ba4"

  @Test(arguments: [
    ("{}", DeviceUpdate()), (#"{"tags":null,"alias":null,"mobile":null}"#, DeviceUpdate()),
    (#"{"tags":""}"#, DeviceUpdate(tags: .clear)), (#"{"tags":[]}"#, DeviceUpdate()),
    (#"{"tags":{}}"#, DeviceUpdate()), (#"{"alias":""}"#, DeviceUpdate(alias: .clear)),
    (#"{"alias":"u_1","other":1}"#, DeviceUpdate(alias: .set("u_1"))),
    (#"{"mobile":""}"#, DeviceUpdate(mobile: .clear)),
    (#"{"mobile":"+86-138"}"#, DeviceUpdate(mobile: .set("+86-138"))),
    (
      #"{"tags":{"add":["a","b","a"],"remove":["c"]}}"#,
      DeviceUpdate(tags: .change(add: ["a", "b"], remove: ["c"]))
    ),
    (#"{"tags":{"add":["a"],"remove":["a","c"]}}"#, DeviceUpdate(tags: .change(add: ["a"], remove: ["c"]))),
    (#"{"tags":{"remove":["c"]}}"#, DeviceUpdate(tags: .change(add: [], remove: ["c"]))),
    (
      #"{"tags":{"add":[\#(list(100))]}}"#,
      DeviceUpdate(tags: .change(add: (0..<100).map { "n\($0)" }, remove: []))
    ),
  ])
  func updates(_ text: String, _ expected: DeviceUpdate) throws {
    #expect(try DeviceUpdate.parse(parsed(text)) == expected)
  }

  @Test(arguments: [
    ("[]", "body"), (#"{"tags":"x"}"#, "tags"), (#"{"tags":["x"]}"#, "tags"),
    (#"{"tags":{"add":"x"}}"#, "tags.add"),
    (#"{"tags":{"add":["a b"]}}"#, "tags.add"), (#"{"tags":{"remove":[1]}}"#, "tags.remove"),
    (#"{"tags":{"add":[\#(list(101))]}}"#, "tags.add"), (#"{"alias":1}"#, "alias"),
    (#"{"alias":"a b"}"#, "alias"),
    (#"{"alias":"\#(String(repeating: "a", count: 41))"}"#, "alias"), (#"{"mobile":13800138000}"#, "mobile"),
    (#"{"mobile":"abc"}"#, "mobile"), (#"{"mobile":"123456789012345678901"}"#, "mobile"),
    (
      #"{"tags":{"add":[\#((10..<36).map { "\"\($0)\(String(repeating: "t", count: 37))\"" }.joined(separator: ","))]}}"#,
      "tags"
    ),
  ])
  func faults(_ text: String, _ named: String) throws {
    let json = try parsed(text)
    let error = #expect(throws: APIError.self) { try DeviceUpdate.parse(json) }
    #expect(error?.code == 7002 && error?.httpStatus == 400)
    #expect(error?.message.contains(named) == true)
  }

  @Test func hyphenIfAllowed() throws {
    let update = try DeviceUpdate.parse(parsed(#"{"alias":"a-b"}"#), rules: PushRules(allowHyphen: true))
    #expect(update.alias == .set("a-b"))
  }

  @Test func listsOfDevices() throws {
    let first = try #require(RegistrationID(Self.first))
    let second = try #require(RegistrationID(Self.second))
    let both = try parsed(
      #"{"registration_ids":{"add":["\#(Self.first)"],"remove":["\#(Self.second)","\#(Self.first)"]}}"#)
    #expect(try DeviceListUpdate.parseForTag(both) == DeviceListUpdate(add: [first], remove: [second]))
    let removal = try parsed(#"{"registration_ids":{"remove":["\#(Self.second)"],"add":[]}}"#)
    #expect(try DeviceListUpdate.parseForAlias(removal) == DeviceListUpdate(remove: [second]))
    #expect(throws: APIError.self) { try DeviceListUpdate.parseForAlias(both) }
    // The caller answers, when it knows which of the others are unknown.
    let bad = try parsed(#"{"registration_ids":{"add":["\#(Self.first)","x"],"remove":["y","x"]}}"#)
    #expect(
      try DeviceListUpdate.parseForTag(bad) == DeviceListUpdate(add: [first], malformed: ["x", "y", "x"]))
  }

  @Test(arguments: [
    ("{}", 7002), ("1", 7002), (#"{"registration_ids":{}}"#, 7002), (#"{"registration_ids":[]}"#, 7002),
    (#"{"registration_ids":{"add":[],"remove":null}}"#, 7002), (#"{"registration_ids":{"add":"x"}}"#, 7002),
    (#"{"registration_ids":{"add":[1]}}"#, 7002),
    (#"{"registration_ids":{"add":[\#(list(1001))]}}"#, 7002),
  ])
  func faultyLists(_ text: String, _ code: Int) throws {
    let json = try parsed(text)
    let error = #expect(throws: APIError.self) { try DeviceListUpdate.parseForTag(json) }
    #expect(error?.code == code)
  }
}
