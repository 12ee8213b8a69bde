import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Channels

/// What receipts of makers' services say, and what they are believed by.
@Suite struct ReceiptFormatTests {
  private func read(_ format: some ReceiptFormat, _ body: String) -> [ReceiptItem]? {
    format.read(ReceiptRequest(body: Array(body.utf8)))
  }

  private func item(
    _ receipt: PushReceipt?, _ tokens: [String] = ["t"], tag: String = "g", at: Int64? = 1_700_000_000_123
  ) -> ReceiptItem {
    ReceiptItem(
      tag: tag, tokens: tokens.map { Array($0.utf8) }, receipt, at: at.map { Timestamp(milliseconds: $0) })
  }

  @Test func huawei() {
    let format = HuaweiReceipts(isHarmony: false)
    let table: [(Int, PushReceipt?)] = [
      (0, .arrived), (2, .appRemoved), (5, .tokenReplaced), (6, .notificationsOff), (10, .deviceInactive),
      (14, .notArrived), (15, .superseded), (27, nil), (31, .contentRefused), (51, nil),
      (102, .deviceQuota), (144, .notArrived), (201, .deviceQuota), (256, .deviceQuota),
      (259, .contentRefused), (9999, .notArrived),
    ]
    for (code, receipt) in table {
      let status =
        #"{"biTag":"g","appid":"1","token":"t","status":\#(code),"timestamp":1700000000123,"requestId":"r"}"#
      #expect(read(format, #"{"statuses":[\#(status)]}"#) == [item(receipt)])
    }
    let text = #"{"statuses":[{"token":"t","status":"0"},{"biTag":"g","token":"u","status":2}]}"#
    #expect(
      read(format, text) == [item(.arrived, tag: "", at: nil), item(.appRemoved, ["u"], at: nil)])
    let one = #"{"token":"t","status":0}"#
    for bad in [
      "", "[]", "{}", #"{"statuses":{}}"#, #"{"statuses":[{"status":0}]}"#, #"{"statuses":[{"token":"t"}]}"#,
      #"{"statuses":[{"token":"","status":0}]}"#, #"{"statuses":[7]}"#,
      #"{"statuses":["# + Array(repeating: one, count: 101).joined(separator: ",") + "]}",
    ] {
      #expect(read(format, bad) == nil, "\(bad.prefix(60))")
    }
    #expect(String(decoding: format.answer, as: UTF8.self) == #"{"code":"0","message":"success"}"#)
  }

  @Test func harmony() {
    let format = HuaweiReceipts(isHarmony: true)
    func status(_ member: String) -> String {
      #"{"statuses":[{"token":"t","pushType":0,"appPackageName":"p","biTag":"g","requestId":"r",\#(member)}]}"#
    }
    let good = status(#""deliveryStatus":{"result":0,"timestamp":1700000000123}"#)
    #expect(read(format, good) == [item(.arrived)])
    let off = status(#""deliveryStatus":{"result":6,"timestamp":1700000000}"#)
    #expect(read(format, off) == [item(.notificationsOff, at: 1_700_000_000_000)])
    // What became of a card says nothing of a notification.
    let card = status(#""formStatus":{"formId":"f","result":2,"timestamp":1700000000123}"#)
    #expect(read(format, card) == [item(nil)])
    #expect(read(format, status(#""status":0"#)) == nil)
  }

  @Test func huaweiSignature() {
    let format = HuaweiReceipts(isHarmony: false)
    let secret = Array("a secret".utf8)
    let key = ReceiptKey(user: "user", secret: Base64.encode(secret))
    let now = Timestamp(milliseconds: 1_700_000_300_000)
    func header(_ sent: Int64, _ user: String = "user", key: [UInt8]? = nil) -> String {
      let value = HMAC.sha256(key: key ?? secret, Array("\(sent)n-1\(user)".utf8))
      return "timestamp=\(sent); nonce=n-1; value=\(Base64.encode(value))"
    }
    func check(_ header: String?, _ key: ReceiptKey?) -> ReceiptSignature {
      let request = ReceiptRequest(body: []) { $0 == "x-huawei-callback-id" ? header : nil }
      return format.signature(of: request, with: key, at: now)
    }
    #expect(check(nil, nil) == .unsigned)
    #expect(check(nil, key) == .forged)
    #expect(check(header(1_700_000_000_000), key) == .good(nonce: "n-1"))
    #expect(check(header(1_700_000_600_000), key) == .good(nonce: "n-1"))
    #expect(check(header(1_699_999_999_999), key) == .stale)
    #expect(check(header(1_700_000_600_001), key) == .stale)
    #expect(check(header(Int64.min), key) == .stale)
    #expect(check(header(1_700_000_300_000, "other"), key) == .forged)
    #expect(check(header(1_700_000_300_000, key: [1]), key) == .forged)
    // The text itself is the key of older configurations.
    let old = ReceiptKey(user: "user", secret: "no base64!")
    #expect(check(header(1_700_000_300_000, key: Array("no base64!".utf8)), old) == .good(nonce: "n-1"))
    for bad in ["", "value=", "timestamp=x; nonce=n; value=YQ==", String(repeating: "a", count: 600)] {
      #expect(check(bad, key) == .forged)
    }
  }

  @Test func honor() {
    let format = HonorReceipts()
    for (code, receipt) in [(0, PushReceipt.arrived), (40_000_002, .arrived), (7, nil)]
      as [(Int, PushReceipt?)]
    {
      let text =
        #"{"statuses":[{"token":"t","biTag":"g","status":\#(code),"timestamp":1700000000123,"requestId":"r"}]}"#
      #expect(read(format, text) == [item(receipt)])
    }
    #expect(read(format, #"{"statuses":[{"biTag":"g","status":0}]}"#) == nil)
  }

  @Test func xiaomi() {
    let format = XiaomiReceipts()
    func body(_ json: String) -> String { "data=" + VendorFields.escaped(json) }
    let table: [(Int, PushReceipt?)] = [
      (1, .arrived), (2, .tapped), (16, .tokenReplaced), (32, .notificationsOff), (64, .notArrived),
      (128, .deviceQuota), (1024, .notInTime), (3, nil),
    ]
    for (type, receipt) in table {
      let text =
        #"{"m1":{"param":"g","type":\#(type),"targets":"t, u","jobkey":"","barStatus":"","timestamp":1700000000123}}"#
      #expect(read(format, body(text)) == [item(receipt, ["t", "u"])])
    }
    #expect(table.reduce(0) { $1.1 == nil ? $0 : $0 + $1.0 } == XiaomiReceipts.wanted)
    let many = Array(repeating: "t", count: 1001).joined(separator: ",")
    for bad in [
      "", "data=", "data=%7B", body("[]"), body(#"{"m":{"param":"g","type":1}}"#),
      body(#"{"m":{"targets":"t"}}"#), body(#"{"m":{"type":1,"targets":""}}"#),
      body(#"{"m":{"type":1,"targets":"\#(many)"}}"#),
    ] {
      #expect(read(format, bad) == nil, "\(bad.prefix(60))")
    }
  }

  @Test func oppo() {
    let format = OPPOReceipts()
    let table: [(String, PushReceipt?)] = [
      ("push_arrive", .arrived), ("regid_invalid", .tokenReplaced), ("user_daily_limit", .deviceQuota),
      ("new", nil),
    ]
    for (type, receipt) in table {
      let text =
        #"[{"messageId":"m","taskId":"k","registrationIds":"t,u","param":"g","eventTime":1700000000123,"eventType":"\#(type)"}]"#
      #expect(read(format, text) == [item(receipt, ["t", "u"])])
    }
    #expect(read(format, "{}") == nil && read(format, "[{}]") == nil && read(format, "[]") == [])
  }

  @Test func vivo() {
    let format = VivoReceipts()
    func body(_ type: String) -> String {
      #"{"k1":{"param":"g","targets":"t","ackTime":"1700000000123","ackType":"\#(type)"}}"#
    }
    #expect(read(format, body("0")) == [item(.arrived)])
    #expect(read(format, body("1")) == [item(nil)])
    #expect(read(format, body("x")) == nil && read(format, "[]") == nil)
  }

  @Test func meizu() {
    let format = MeizuReceipts()
    func body(_ json: String) -> String { "access_token=x&cb=" + VendorFields.escaped(json) }
    #expect(
      read(format, body(#"{"m-1":{"param":"g","type":1,"targets":["t","u"]}}"#))
        == [item(.arrived, ["t", "u"], at: nil)])
    #expect(
      read(format, body(#"{"m-2":{"param":"g","type":2,"targets":["t"]}}"#)) == [item(.tapped, at: nil)])
    #expect(
      read(format, body(#"{"m-3":{"param":"g","type":3,"targets":["t"]}}"#)) == [item(nil, at: nil)])
    let many = Array(repeating: #""t""#, count: 1001).joined(separator: ",")
    for bad in [
      "", "cb=", "cb=%7B", #"{"m-1":{}}"#, body("[]"), body(#"{"m-1":{"type":1,"targets":[7]}}"#),
      body(#"{"m-1":{"param":"g","targets":["t"]}}"#), body(#"{"m-1":{"type":1,"targets":[]}}"#),
      body(#"{"m-1":{"type":1,"targets":[\#(many)]}}"#),
    ] {
      #expect(read(format, bad) == nil, "\(bad.prefix(60))")
    }
    // It wants what it understands, and no more.
    #expect(MeizuReceipts.wanted == 1 + 2)
  }

  /// A path has 47 bytes.
  @Test(
    arguments: [
      (nil, 0, "Set --public-url"), (56, 128, "Sent to the service with each push"),
      (57, 0, "longer than the service's limit of 128 bytes"),
    ] as [(Int?, Int, String)])
  func `Services are told of addresses that they have room for`(
    length: Int?, passed: Int, note: String
  ) async throws {
    let site = length.map { "https://" + String(repeating: "a", count: $0 - 8) }
    let scene = try await VendorScene(site: site) { _ in .status(200) }
    defer { scene.end() }
    let key = scene.app.key
    let marks = ReceiptMarks(secret: [1], of: scene.app.id, on: .vivo)
    let path = VendorParts.receiptPath(of: .vivo, marks, in: key)
    let address = scene.parts.passedReceiptAddress(of: Vivo(), marks, in: key)
    #expect(address?.utf8.count ?? 0 == passed && address.map { $0 == (site ?? "") + path } != false)
    #expect(scene.parts.receiptFact(of: Vivo(), marks, in: key).note?.english.contains(note) == true)
    // Nothing is passed where the address is entered in a console.
    #expect(scene.parts.passedReceiptAddress(of: Huawei(), marks, in: key) == nil)
  }

  /// Its path has 73 bytes.
  @Test(arguments: [(55, "as well"), (56, "Not sent")])
  func `Meizu's console has to know the address that pushes name`(length: Int, note: String) async throws {
    let scene = try await VendorScene(site: "https://" + String(repeating: "a", count: length - 8)) { _ in
      .status(200)
    }
    defer { scene.end() }
    let key = scene.app.key
    let marks = ReceiptMarks(secret: [1], of: scene.app.id, on: .meizu)
    #expect((scene.parts.passedReceiptAddress(of: Meizu(), marks, in: key) != nil) == (length == 55))
    #expect(scene.parts.receiptFact(of: Meizu(), marks, in: key).note?.english.contains(note) == true)
  }

  @Test func marks() throws {
    let (push, app) = (MessageID(403_926_205_595_649), AppID(7))
    let fields = #"{"app_id":"1","receipt_secret":"a","receipt_user":"b","secret":"s"}"#
    let marks = ReceiptMarks(secret: Array(fields.utf8), of: app, on: .huawei)
    let (t, u) = (Array("t".utf8), Array("u".utf8))
    #expect(marks.code.utf8.count == 22 && marks.isCode(marks.code) && !marks.isCode(marks.code + "x"))
    let tag = marks.tag(push)
    #expect(
      tag.hasPrefix("403926205595649.") && tag.utf8.count <= ReceiptPassing.longest(push).tag.utf8.count)
    #expect(marks.read(tag, for: [t]) == .own(push) && marks.read(tag, for: [t, u]) == .own(push))
    // One that is for a token is good for no other, and for no group.
    let bound = marks.tag(push, for: t)
    #expect(marks.read(bound, for: [t]) == .own(push))
    #expect(marks.read(bound, for: [u]) == .forged && marks.read(bound, for: [t, t]) == .forged)
    // Another push, another app, another channel, another secret.
    let other = "403926205595650" + tag.dropFirst(15)
    #expect(marks.read(other, for: [t]) == .forged)
    let others = [
      ReceiptMarks(secret: Array(fields.utf8), of: AppID(8), on: .huawei),
      ReceiptMarks(secret: Array(fields.utf8), of: app, on: .honor),
      ReceiptMarks(secret: Array(#"{"app_id":"1","secret":"z"}"#.utf8), of: app, on: .huawei),
      ReceiptMarks(secret: [1, 2, 3], of: app, on: .huawei),
    ]
    for foreign in others {
      #expect(foreign.code != marks.code && foreign.read(tag, for: [t]) == .forged)
    }
    // What the service signs with changes nothing: it is entered when the address is known.
    let without = Array(#"{"app_id":"1","secret":"s"}"#.utf8)
    #expect(ReceiptMarks(secret: without, of: app, on: .huawei) == marks)
    for text in ["", "403926205595649", "campaign-7", ".", "x.y", "403926205595649.AAAA", tag + ".x"] {
      #expect(marks.read(text, for: [t]) == .foreign, "\(text)")
    }
  }
}
