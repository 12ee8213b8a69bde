import PushBase
import PushDomain
import PushHTTP
import PushRouter

/// Receipts of makers' services, at addresses that only they were told. A request to any other address is refused before its body
/// is read.
struct VendorReceiptController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    Gateway.Route(
      .open, "POST", "/v1/vendor-receipts/{channel}/{code}", body: .ordinary,
      admits: { Self(gateway: $0).status(of: $1) }
    ) { Self(gateway: $0).take($1) }
  ]

  private func channel(_ call: GatewayCall) -> (any ChannelReceipts)? {
    call.captures["channel"].flatMap { router.channels.receipts(of: $0) }
  }

  /// Whether anybody has the address.
  private func status(of call: GatewayCall) -> CallerStatus<APIError> {
    owner(of: call) == nil ? .refused(Self.error(.unknown)) : .known
  }

  private func owner(of call: GatewayCall) -> AppID? {
    call.captures["code"].flatMap { channel(call)?.app(of: $0) }
  }

  private func take(_ call: GatewayCall) {
    guard let channel = channel(call), let code = call.captures["code"], let owner = owner(of: call) else {
      return call.fail(Self.error(.unknown))
    }
    let headers = call.request.headers
    let request = ReceiptRequest(body: call.request.body) { headers[$0] }
    let isTaken = gateway.background.run(for: owner.rawValue) {
      channel.take(request, at: code) { reply in
        switch reply {
        case .taken(let body): call.answer(200, body)
        case .refused(let refusal): call.fail(Self.error(refusal))
        case .later: call.fail(.timeout)
        }
      }
    }
    if !isTaken { call.fail(.timeout) }
  }

  private static func error(_ refusal: ReceiptRefusal) -> APIError {
    let (status, text) =
      switch refusal {
      case .unknown: (404, "There is no such address for receipts")
      case .signature: (401, "The signature is missing, wrong, too old or was used before")
      case .malformed: (400, "The body is not in the form of the service's receipts")
      }
    return APIError(code: APIError.invalidValue(text).code, httpStatus: status, message: text)
  }
}
