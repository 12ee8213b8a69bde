import BorealisBase
import Channels
import Testing

@testable import Model

/// `options.encryption`: what it makes of a push, and what is refused.
@Suite struct PushEncryptionTests {
  static let key = "0123456789abcdef"
  static let shared = sealed(name: [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef])
  static let forOne = sealed(name: [UInt8](repeating: 7, count: 32))
  static let id = "1a2b3c4d5e6f7081923"

  /// Of the coding's form, which is all that the server sees.
  static func sealed(name: [UInt8], size: Int = 20) -> String {
    let head = [UInt8](repeating: 1, count: 16) + [0, 0, 16, 0, UInt8(name.count)] + name
    return Base64.encode(head + [UInt8](repeating: 9, count: size))
  }

  static func push(
    _ encryption: String, audience: String = "\"all\"", rest: String = "\"notification\":{\"alert\":\"News\"}"
  ) throws -> JSONValue {
    try parseJSON(
      Array(
        """
        {"platform":"all","audience":\(audience),\(rest.isEmpty ? "" : rest + ",")
        "options":{"encryption":\(encryption)}}
        """.utf8))
  }

  static func encryption(_ members: String) -> String {
    "{\"alg\":\"aes128gcm\",\"key\":\"\(key)\",\(members)}"
  }

  @Test func everyPartCarriesItsOwn() throws {
    let json = try Self.push(
      Self.encryption("\"notification\":\"\(Self.shared)\",\"message\":\"\(Self.shared)\""))
    let content = try PushRequest.parse(json, rules: .withAPNs).content
    let carried = "{\"alg\":\"aes128gcm\",\"key\":\"\(Self.key)\",\"data\":\"\(Self.shared)\"}"
    let kept = carried.dropLast() + ",\"ttl\":86400}"
    for platform in [Platform.ios, .android, .hmos] {
      let text = String(decoding: content.deviceJSON(platform: platform), as: UTF8.self)
      #expect(
        text == "{\"notification\":{\"alert\":\"News\",\"encrypted\":\(kept)},"
          + "\"message\":{\"msg_content\":\"\",\"encrypted\":\(kept)}}")
    }
    var payload: [UInt8] = []
    try #require(content.apns).payload.render(messageID: MessageID(5), badge: 0, into: &payload)
    #expect(
      String(decoding: payload, as: UTF8.self)
        == "{\"aps\":{\"alert\":\"News\",\"mutable-content\":1},\"_j_msgid\":5,\"encrypted\":\(carried)}")
  }

  @Test func aMessageAlone() throws {
    let json = try Self.push(Self.encryption("\"message\":\"\(Self.shared)\""), rest: "")
    let content = try PushRequest.parse(json, rules: .withAPNs).content
    #expect(content.parts(for: .android) == .message)
    #expect(content.apns == nil)
  }

  @Test func forOneDevice() throws {
    let one = Self.encryption("\"message\":\"\(Self.forOne)\"")
    _ = try PushRequest.parse(
      Self.push(one, audience: "{\"registration_id\":[\"\(Self.id)\"]}", rest: ""), rules: .withAPNs)
    for audience in [
      "\"all\"", "{\"alias\":[\"a\"]}", "{\"registration_id\":[\"\(Self.id)\",\"1a2b3c4d5e6f7081924\"]}",
      "{\"registration_id\":[\"\(Self.id)\"],\"tag\":[\"a\"]}",
    ] {
      let json = try Self.push(one, audience: audience, rest: "")
      #expect { try PushRequest.parse(json, rules: .withAPNs) } throws: { ($0 as? APIError)?.code == 1003 }
    }
  }

  @Test(arguments: [
    ("{\"alg\":\"aes128gcm\"}", 1002),
    ("{\"alg\":\"rot13\",\"key\":\"0123456789abcdef\"}", 1003),
    ("{\"alg\":\"sm4gcm\",\"key\":\"0123456789ABCDEF\"}", 1003),
    ("{\"alg\":\"sm4gcm\",\"key\":\"0123456789abcdef\"}", 1002),
    (encryption("\"message\":\"AAAA\""), 1003), (encryption("\"message\":\"no base64\""), 1003),
    (encryption("\"message\":\"\(sealed(name: [1, 2, 3, 4, 5, 6, 7, 8]))\""), 1003),
    (encryption("\"message\":\"\(sealed(name: [], size: 2900))\""), 1005),
    (encryption("\"title\":\"x\""), 1009), ("7", 1003),
  ])
  func faultsAreNamed(encryption: String, code: Int) throws {
    let json = try Self.push(encryption)
    #expect { try PushRequest.parse(json, rules: .withAPNs) } throws: { ($0 as? APIError)?.code == code }
  }

  @Test(arguments: [
    ("\"notification\"", "", 1002),
    ("\"notification\"", "\"message\":{\"msg_content\":\"a\"}", 1002),
    ("\"message\"", "\"message\":{\"msg_content\":\"a\"}", 1003),
    ("\"notification\"", "\"notification\":{\"alert\":\"\"}", 1003),
    ("\"notification\"", "\"notification\":{\"alert\":\"a\",\"voip\":{\"a\":1}}", 1003),
    ("\"notification\"", "\"notification\":{\"alert\":\"a\",\"ios\":{\"extras\":{\"encrypted\":1}}}", 1003),
    ("\"notification\"", "\"notification\":{\"alert\":\"a\",\"android\":{\"encrypted\":1}}", 1003),
    ("\"notification\"", "\"live_activity\":{\"ios\":{\"event\":\"start\"}}", 1003),
  ])
  func whatDoesNotGoWithIt(part: String, rest: String, code: Int) throws {
    let json = try Self.push(Self.encryption("\(part):\"\(Self.shared)\""), rest: rest)
    #expect { try PushRequest.parse(json, rules: .withAPNs) } throws: { ($0 as? APIError)?.code == code }
  }

  /// The limits of a part hold for what it carries.
  @Test func sizes() throws {
    let large = Self.sealed(name: [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef], size: 1600)
    let json = try Self.push(Self.encryption("\"notification\":\"\(large)\""))
    #expect { try PushRequest.parse(json, rules: .withAPNs) } throws: { ($0 as? APIError)?.code == 1005 }
    let most = Self.sealed(name: [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef], size: 2850)
    _ = try PushRequest.parse(
      Self.push(Self.encryption("\"message\":\"\(most)\""), rest: ""), rules: .withAPNs)
  }
}
