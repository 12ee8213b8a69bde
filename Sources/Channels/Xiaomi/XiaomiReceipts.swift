import BorealisBase
import Core
import HTTP
import Model

/// Receipts of Mi Push: a form whose field `data` is JSON by message (dev.mi.com, server API). Without a
/// signature.
struct XiaomiReceipts: ReceiptFormat {
  /// The kinds that this server wants (`extra.callback.type`): arrived, tapped, invalid target, switched off,
  /// filtered, quota of the device, expired.
  static let wanted = 1 + 2 + 16 + 32 + 64 + 128 + 1024

  func read(_ request: ReceiptRequest) -> [ReceiptItem]? {
    guard let text = HTTPForm(request.body, most: 16)?["data"],
      let object = (try? parseJSON(Array(text.utf8)))?.object
    else { return nil }
    var items: [ReceiptItem] = []
    var room = Self.most
    for member in object.members {
      let message = member.value
      guard let type = VendorReply.number(message["type"]),
        let tokens = ReceiptValues.tokens(message["targets"], most: room)
      else { return nil }
      room -= tokens.count
      items.append(
        ReceiptItem(
          tag: message["param"]?.string ?? "", tokens: tokens, Self.receipt(type),
          at: ReceiptValues.moment(message["timestamp"])))
    }
    return items
  }

  static func receipt(_ type: Int64) -> PushReceipt? {
    switch type {
    case 1: .arrived
    case 2: .tapped
    case 16: .tokenReplaced
    case 32: .notificationsOff
    case 64: .notArrived
    case 128: .deviceQuota
    case 1024: .notInTime
    default: nil
    }
  }
}
