import BorealisBase
import Glibc
import Testing

@testable import Model

/// Docs/api/jpush.md against the options that are read: nothing is missing there, nothing is made up.
@Suite struct OptionsPageTests {
  /// A value for each option that asks for something.
  private static let values: [String: JSONValue] = [
    "sendno": 7, "time_to_live": 60, "override_msg_id": "5", "apns_collapse_id": "x",
    "apns_production": true,
    "apns_priority": 5, "strategy": 2, "big_push_duration": 10, "fallback_after": 30, "test_model": true,
    "business_operation_code": "spring", "active_push": true, "target_event": ["jg_app_show"],
    "geofence": ["id": 1], "alternate_set": true, "notification_switch_filter": true,
    "quiet_hours": "ignore", "canary": ["share": 10],
    "third_party_channel": ["fcm": ["distribution": "first_ospush"]], "classification": 1,
    "notification_3rd_ver": "v2", "auto_truncation": true, "mkt_enable": true, "test_message": true,
    "receipt_id": "r", "need_backup": true, "portal_extra": ["a": 1],
    "encryption": [
      "alg": "aes128gcm", "key": "0123456789abcdef",
      "notification": .string(
        PushEncryptionTests.sealed(name: [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef])),
    ],
  ]

  /// The names in the rows of the page's table, and what it says of them.
  private static let rows: [(name: String, kind: Substring)] = {
    let lines = page().split(separator: "\n", omittingEmptySubsequences: false)
    let table = lines.drop { $0 != "### Options" }.prefix { !$0.hasPrefix("#### ") }
    return table.filter { $0.hasPrefix("| `") }.flatMap { line in
      let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
      let names = cells[0].split(separator: "`").filter { !$0.contains(",") && $0 != " " }
      return names.map { (String($0), cells[1].prefix { $0 != " " }) }
    }
  }()

  private static func page() -> String {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    guard let file = fopen(root + "/Docs/api/jpush.md", "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func parse(_ options: JSONObject) throws -> PushRequest {
    var push = JSONObject()
    push.set("platform", "all")
    push.set("audience", "all")
    push.set("notification", ["alert": "x"])
    push.set("options", .object(options))
    var rules = PushRules.withAPNs
    rules.channels = [
      ChannelInfo(
        id: ChannelID(rawValue: 77), name: "fcm", english: "", chinese: "", platforms: PlatformSet(.android),
        parts: .notification, options: ChannelOptions("fcm", hasClasses: true))
    ]
    return try PushRequest.parse(.object(push), rules: rules)
  }

  @Test func `The page lists every option once`() {
    let names = Self.rows.map(\.name)
    #expect(Set(names) == PushOptions.known.union(PushOptions.withoutEffect))
    #expect(Set(names).count == names.count)
    #expect(Set(names) == Set(Self.values.keys))
  }

  /// What works changes the push, what has no effect does not, and what is refused is refused by name.
  @Test func `Every option does what the page says`() throws {
    let plain = try parse(JSONObject())
    for (name, kind) in Self.rows {
      var options = JSONObject()
      options.set(name, try #require(Self.values[name], "\(name)"))
      switch kind {
      case "works", "extension": #expect(try parse(options) != plain, "\(name)")
      case "no":
        var found = try parse(options)
        // Kept for a device that does not say to which service its token belongs, though all do.
        found.options.apnsProduction = nil
        #expect(found.ignored == (name == "apns_production" ? [] : ["options.\(name)"]))
        found.ignored = []
        #expect(found == plain, "\(name)")
      case "refused":
        let error = #expect(throws: APIError.self, "\(name)") { try parse(options) }
        #expect(error?.code == 2007 && error?.httpStatus == 403, "\(name)")
        #expect(error?.message.contains(name) == true, "\(name)")
      default: Issue.record("\(name) is called \(kind)")
      }
    }
  }

  /// JPush's clients send these, and they ask for nothing.
  @Test(arguments: [
    #"{"active_push":false}"#, #"{"target_event":[]}"#, #"{"geofence":{}}"#, #"{"alternate_set":false}"#,
    #"{"notification_switch_filter":0}"#, #"{"big_push_duration":0}"#, #"{"newer":0}"#,
  ])
  func `Whoever asks for nothing is not refused`(options: String) throws {
    let object = try #require(try parseJSON(Array(options.utf8)).object)
    #expect(try parse(object) == parse(JSONObject()))
  }
}
