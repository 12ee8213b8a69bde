import BorealisBase
import Core
import HTTP
import Model

/// Receipts without a connection: an iOS notification service extension has a few seconds to report that a
/// notification has arrived.
struct DeviceReceiptController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.open, "POST", "/v1/receipts", isForPages: true) { $0.recordReceipts($1) }
  ]

  /// A device's receipts of pushes.
  private struct DeviceReceipts {
    let login: DeviceCredential
    let receipts: [(id: MessageID, isTap: Bool)]

    /// Most receipts in a request, as in a frame of the device protocol.
    static let limit = 256

    init?(_ json: JSONValue) {
      guard let login = DeviceCredential(json), let shown = Self.ids(json["shown"]),
        let tapped = Self.ids(json["tapped"]), (1...Self.limit).contains(shown.count + tapped.count)
      else { return nil }
      self.login = login
      receipts = shown.map { ($0, false) } + tapped.map { ($0, true) }
    }

    /// IDs as numbers or strings; empty if the member is missing, nil if it is invalid.
    private static func ids(_ value: JSONValue?) -> [MessageID]? {
      guard let value else { return [] }
      guard let items = value.array else { return nil }
      let ids = items.compactMap { item in
        (item.string ?? item.number?.text).flatMap { MessageID(decimal: Array($0.utf8)) }
      }
      return ids.count == items.count ? ids : nil
    }
  }

  private func recordReceipts(_ call: GatewayCall) {
    guard let json = call.body() else { return }
    guard let said = DeviceReceipts(json) else {
      call.fail(
        call.api.faults.invalid(
          "app_key, registration_id, secret and 1 to \(DeviceReceipts.limit) IDs in shown and tapped are needed"
        ))
      return
    }
    said.login.admit(call, router) { [router] app, number in
      router.deliveries.note(said.receipts, by: number, in: app)
      call.answerEmpty()
    }
  }
}
