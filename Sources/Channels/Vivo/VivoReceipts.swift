import BorealisBase
import Core
import Model

/// Receipts of vivo's service: JSON by task. Without a signature. Only that a push arrived is documented.
struct VivoReceipts: ReceiptFormat {
  func read(_ request: ReceiptRequest) -> [ReceiptItem]? {
    guard let object = (try? parseJSON(request.body))?.object else { return nil }
    var items: [ReceiptItem] = []
    var room = Self.most
    for member in object.members {
      let task = member.value
      guard let type = VendorReply.number(task["ackType"]),
        let tokens = ReceiptValues.tokens(task["targets"], most: room)
      else { return nil }
      room -= tokens.count
      items.append(
        ReceiptItem(
          tag: task["param"]?.string ?? "", tokens: tokens, type == 0 ? .arrived : nil,
          at: ReceiptValues.moment(task["ackTime"])))
    }
    return items
  }
}
