import BorealisBase
import Core
import Model

/// Where makers' services send receipts to.
extension VendorParts {
  /// The path of an app's receipts.
  package static func receiptPath(of channel: ChannelInfo, _ marks: ReceiptMarks, in app: AppKey) -> String {
    "/v1/vendor-receipts/\(channel.name)/\(ReceiptCode(app: app, code: marks.code).text)"
  }

  /// What requests tell the service; nil if it is told in its console, if nobody has said where this server
  /// is reached, or if the address is longer than the service takes.
  func passedReceiptAddress(
    of vendor: some Vendor, _ marks: ReceiptMarks, in app: AppKey
  ) -> String? {
    guard let receipts = vendor.profile.receipts, receipts.address.contains(.sent),
      let address = receiptAddress(of: vendor.info, marks, in: app),
      address.utf8.count <= receipts.longestAddress
    else { return nil }
    return address
  }

  /// What pages say of it.
  func receiptFact(
    of vendor: some Vendor, _ marks: ReceiptMarks, in app: AppKey
  ) -> StoredCredential.Fact {
    let label = Phrase("Address of receipts", "回执地址")
    guard let address = receiptAddress(of: vendor.info, marks, in: app) else {
      return .init(
        label, Self.receiptPath(of: vendor.info, marks, in: app), isCode: true,
        note: Phrase(
          "Set --public-url to see the full address.",
          "服务器不知道自己的公网地址：请设置 --public-url，之后此处显示完整地址。"))
    }
    let receipts = vendor.profile.receipts
    let note =
      if receipts?.address.contains(.sent) != true {
        Phrase("Enter it in the service's console. Keep it secret.", "请填写到厂商后台的回执配置中，注意保密。")
      } else if passedReceiptAddress(of: vendor, marks, in: app) == nil {
        Phrase(
          "Not sent with pushes: longer than the service's limit of {} bytes. Set a shorter --public-url.",
          "地址超过厂商 {} 字节的上限，推送时未携带该地址：请缩短 --public-url。"
        ).with(String(receipts?.longestAddress ?? 0))
      } else if receipts?.address.contains(.entered) == true {
        Phrase(
          "Register it in the service's console as well: each push names it. Keep it secret.",
          "每次推送时自动携带该地址，同时须在厂商后台登记该地址，注意保密。")
      } else {
        Phrase("Sent to the service with each push.", "每次推送时自动携带该地址。")
      }
    return .init(label, address, isCopied: true, note: note)
  }

  /// The address of an app's receipts; nil if nobody has said where this server is reached.
  private func receiptAddress(
    of channel: ChannelInfo, _ marks: ReceiptMarks, in app: AppKey
  ) -> String? {
    site.map { $0 + Self.receiptPath(of: channel, marks, in: app) }
  }
}
