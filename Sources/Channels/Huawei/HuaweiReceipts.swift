import BorealisBase
import BorealisCrypto
import Core
import Model

/// Receipts of Huawei's Push Kit: for Android, and version 2 of those for HarmonyOS (developer.huawei.com,
/// push-msg-receipt). A request has at most 100 statuses, and is signed if its receiver has set a user name
/// and a secret.
struct HuaweiReceipts: ReceiptFormat {
  /// How old a signature may be, and how far ahead, in milliseconds.
  static let window: Int64 = 300_000
  /// The most statuses of a request.
  static let mostStatuses = 100

  /// `isHarmony`: the result stands in an object of its own.
  let isHarmony: Bool

  var answer: [UInt8] { Array(#"{"code":"0","message":"success"}"#.utf8) }

  func read(_ request: ReceiptRequest) -> [ReceiptItem]? {
    guard let statuses = (try? parseJSON(request.body))?["statuses"]?.array,
      statuses.count <= Self.mostStatuses
    else { return nil }
    var items: [ReceiptItem] = []
    for status in statuses {
      guard let token = status["token"]?.string, !token.isEmpty else { return nil }
      let result: JSONValue?
      let moment: JSONValue?
      if isHarmony {
        // A status of a card has another object, and no result of a notification.
        let delivery = status["deliveryStatus"] ?? status["formStatus"]
        guard let object = delivery?.object else { return nil }
        (result, moment) = (object["result"], object["timestamp"])
      } else {
        (result, moment) = (status["status"], status["timestamp"])
      }
      guard let code = VendorReply.number(result) else { return nil }
      items.append(
        ReceiptItem(
          tag: status["biTag"]?.string ?? "", tokens: [Array(token.utf8)],
          isHarmony && status["deliveryStatus"] == nil ? nil : Self.receipt(code),
          at: ReceiptValues.moment(moment)))
    }
    return items
  }

  /// What a result means; nil for those that leave it open.
  static func receipt(_ code: Int64) -> PushReceipt? {
    switch code {
    case 0: .arrived
    case 2: .appRemoved
    case 5: .tokenReplaced
    case 6: .notificationsOff
    case 10: .deviceInactive
    case 15: .superseded
    // Kept until the app runs, or until the device is unlocked.
    case 27, 51: nil
    case 31, 259: .contentRefused
    case 102, 201, 256: .deviceQuota
    default: .notArrived
    }
  }

  func signature(of request: ReceiptRequest, with key: ReceiptKey?, at now: Timestamp) -> ReceiptSignature {
    guard let key else { return .unsigned }
    guard let header = request.header("x-huawei-callback-id"), header.utf8.count <= 512 else {
      return .forged
    }
    var fields: [Substring: Substring] = [:]
    for pair in header.split(separator: ";") {
      let sides = pair.drop { $0 == " " }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if sides.count == 2 { fields[sides[0]] = sides[1] }
    }
    guard let timestamp = fields["timestamp"], let nonce = fields["nonce"], let value = fields["value"],
      let sent = Int64(timestamp), (1...64).contains(nonce.utf8.count),
      let signature = Base64.decode(Array(value.utf8))
    else { return .forged }
    let message = Array((timestamp + nonce + key.user).utf8)
    // Newer configurations have a secret in base64, of which older ones take the text.
    let secrets = [Base64.decode(Array(key.secret.utf8)), Array(key.secret.utf8)].compactMap { $0 }
    let isGood = secrets.reduce(false) { isGood, secret in
      constantTimeEquals(HMAC.sha256(key: secret, message), signature) || isGood
    }
    guard isGood else { return .forged }
    // The difference cannot overflow: a number that far away is stale.
    let age = now.milliseconds.subtractingReportingOverflow(sent)
    guard !age.overflow, (-Self.window...Self.window).contains(age.partialValue) else { return .stale }
    return .good(nonce: String(nonce))
  }
}

/// Values as services write them.
enum ReceiptValues {
  /// Milliseconds since 1970, or in a number of ten digits seconds.
  static func moment(_ value: JSONValue?) -> Timestamp? {
    guard let number = VendorReply.number(value), number > 0, number < 100_000_000_000_000 else { return nil }
    return Timestamp(milliseconds: number < 100_000_000_000 ? number * 1000 : number)
  }

  /// Tokens in one text, separated by commas, or in a list; nil for something else, or too many.
  static func tokens(_ value: JSONValue?, most: Int) -> [[UInt8]]? {
    let texts: [String]?
    if let text = value?.string {
      texts = text.split(separator: ",").map { String($0.drop { $0 == " " }) }
    } else {
      texts = value?.array.flatMap { list in
        let texts = list.compactMap(\.string)
        return texts.count == list.count ? texts : nil
      }
    }
    guard let texts, (1...most).contains(texts.count) else { return nil }
    return texts.map { Array($0.utf8) }
  }
}
