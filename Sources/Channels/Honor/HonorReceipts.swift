import BorealisBase
import Core
import Model

/// Receipts of Honor's service: Huawei's older form without a signature. What its numbers mean is not
/// documented where this server's authors could read it: 0 and 40000002, which other programs take for
/// "arrived", are; nothing follows from others.
struct HonorReceipts: ReceiptFormat {
  var answer: [UInt8] { Array(#"{"code":0,"message":"success"}"#.utf8) }

  func read(_ request: ReceiptRequest) -> [ReceiptItem]? {
    guard let statuses = (try? parseJSON(request.body))?["statuses"]?.array,
      statuses.count <= Self.most
    else { return nil }
    var items: [ReceiptItem] = []
    for status in statuses {
      guard let token = status["token"]?.string, !token.isEmpty,
        let code = VendorReply.number(status["status"])
      else { return nil }
      items.append(
        ReceiptItem(
          tag: status["biTag"]?.string ?? "", tokens: [Array(token.utf8)],
          code == 0 || code == 40_000_002 ? .arrived : nil, at: ReceiptValues.moment(status["timestamp"])))
    }
    return items
  }
}
