import BorealisBase
import BorealisCrypto
import Model
import Storage

/// Batches for URLs with Getui's format: they are stored in Borealis' format and converted when they are
/// sent.
struct GetuiReceipts: Sendable {
  /// The content type of a body: lines of JSON.
  static let contentType = "text/plain;charset=utf-8"

  let app: AppKey
  /// The master secret for Getui's API, sealed; nil if the app has none.
  let secret: [UInt8]?
  /// The tasks of pushes, by push.
  var tasks: [MessageID: String] = [:]
  /// The CIDs that imported devices had at Getui, by registration ID.
  var cids: [String: String] = [:]

  /// The pushes in a stored body.
  static func pushes(of body: [UInt8]) -> [MessageID] {
    (try? parseJSON(body))?.array?.compactMap { $0["msg_id"]?.string.flatMap { MessageID(decimal: $0.utf8) } }
      ?? []
  }

  /// The devices in a stored body.
  static func devices(of body: [UInt8]) -> [RegistrationID] {
    (try? parseJSON(body))?.array?.compactMap {
      $0["registration_id"]?.string.flatMap { RegistrationID($0) }
    } ?? []
  }

  /// The body that is sent; empty if Getui has no receipt for any of its events.
  func body(
    _ stored: [UInt8], of id: AppID, with keys: SealingKeys
  ) throws(CallbackKeys.Failure) -> [UInt8] {
    let receipts = ((try? parseJSON(stored))?.array ?? []).compactMap { GetuiReceipt($0) }
    return try body(receipts, of: id, with: keys)
  }

  /// Signed lines.
  func body(
    _ receipts: [GetuiReceipt], of id: AppID, with keys: SealingKeys
  ) throws(CallbackKeys.Failure) -> [UInt8] {
    guard let secret else { throw CallbackKeys.Failure("the app has no master secret for Getui's API") }
    let plain: [UInt8]
    do throws(SealError) { plain = try GetuiSecret.open(secret, app: id, with: keys) } catch {
      throw CallbackKeys.Failure("the secret cannot be opened: \(error)")
    }
    var body: [UInt8] = []
    for stored in receipts {
      var receipt = stored
      if let cid = cids[receipt.cid] { receipt.cid = cid }
      let task = MessageID(decimal: receipt.messageID.utf8).flatMap { tasks[$0] } ?? ""
      guard let sign = MD5.digest(Array(receipt.signed(app: app, task: task).utf8) + plain) else {
        throw CallbackKeys.Failure("this system has no MD5")
      }
      receipt.write(app: app, task: task, sign: Hex.encode(sign), to: &body)
    }
    return body
  }
}
