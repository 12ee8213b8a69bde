import BorealisBase
import Core
import HTTP
import Model

/// Receipts of Meizu's service: a form whose field `cb` is JSON by message and kind
/// (github.com/MEIZUPUSH/PushAPI). How its `access_token` is made is not documented, so that it proves
/// nothing here.
struct MeizuReceipts: ReceiptFormat {
  /// The kinds that this server wants (`callback.type`): arrived and tapped.
  static let wanted = 3

  func read(_ request: ReceiptRequest) -> [ReceiptItem]? {
    guard let text = HTTPForm(request.body, most: 16)?["cb"],
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
      let receipt: PushReceipt? =
        switch type {
        case 1: .arrived
        case 2: .tapped
        default: nil
        }
      items.append(
        ReceiptItem(tag: message["param"]?.string ?? "", tokens: tokens, receipt, at: nil))
    }
    return items
  }
}
