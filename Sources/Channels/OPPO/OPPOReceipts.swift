import BorealisBase
import Core
import Model

/// Receipts of OPPO's service: a JSON array (open.oppomobile.com 11235). Without a signature.
struct OPPOReceipts: ReceiptFormat {
  func read(_ request: ReceiptRequest) -> [ReceiptItem]? {
    guard let list = (try? parseJSON(request.body))?.array else { return nil }
    var items: [ReceiptItem] = []
    var room = Self.most
    for message in list {
      guard let type = message["eventType"]?.string,
        let tokens = ReceiptValues.tokens(message["registrationIds"], most: room)
      else { return nil }
      room -= tokens.count
      items.append(
        ReceiptItem(
          tag: message["param"]?.string ?? "", tokens: tokens, Self.receipt(type),
          at: ReceiptValues.moment(message["eventTime"])))
    }
    return items
  }

  static func receipt(_ type: String) -> PushReceipt? {
    switch type {
    case "push_arrive": .arrived
    case "regid_invalid": .tokenReplaced
    case "user_daily_limit": .deviceQuota
    default: nil
    }
  }
}
