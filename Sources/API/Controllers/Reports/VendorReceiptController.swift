import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Receipts of makers' services, at addresses that only they were told. A request to any other address is
/// refused before its body is read.
struct VendorReceiptController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    Gateway.Route(
      .open, "POST", "/v1/vendor-receipts/{channel}/{code}", body: .ordinary,
      admits: { Self(gateway: $0).status(of: $1) }
    ) { Self(gateway: $0).handle($1) }
  ]

  private func channel(_ call: GatewayCall) -> (any ChannelReceipts)? {
    call.captures["channel"].flatMap { router.channels.receipts(of: $0) }
  }

  private func address(_ call: GatewayCall) -> ReceiptCode { ReceiptCode(call.captures["code"] ?? "") }

  /// Whether anybody has the address. Of those of other homes' apps only the database knows anything.
  private func status(of call: GatewayCall) -> CallerStatus<APIError> {
    if owner(of: call) != nil { return .known }
    // An app of this home does not have it.
    let isOwn = address(call).app.map { router.apps.loaded($0) != nil } ?? false
    let channel = channel(call)
    guard channel == nil || router.scope.assigned == nil || isOwn else { return .unknown }
    channel?.countUnknown()
    return .refused(Self.error(.unknown))
  }

  private func owner(of call: GatewayCall) -> AppID? {
    let address = address(call)
    guard let owner = channel(call)?.app(of: address.code) else { return nil }
    return address.app.map { router.apps.loaded(owner)?.key == $0 } == false ? nil : owner
  }

  /// Answers a request to an address that no app of this home has.
  private func refuse(_ call: GatewayCall) {
    let channel = channel(call)
    @Sendable func refuse() {
      channel?.countUnknown()
      call.fail(Self.error(.unknown))
    }
    guard let channel, router.scope.assigned != nil else { return refuse() }
    let address = address(call)
    guard let app = address.app else { return passOn(call, address.code, channel, refuse) }
    router.apps.find(app) { found in
      // Another home's app may have it, and then the service has to try again.
      if case .failure = found { call.fail(.timeout) } else { refuse() }
    }
  }

  /// Passes a request to an address in the old form, which does not say whose it is, on to the home of the
  /// app that has it.
  private func passOn(
    _ call: GatewayCall, _ code: String, _ channel: any ChannelReceipts,
    _ refuse: @escaping @Sendable () -> Void
  ) {
    channel.findOwner(of: code) { owner in
      switch owner {
      case .nobody: refuse()
      case .unknown: call.fail(.timeout)
      case .app(let app):
        guard let passOn = call.reply.passOn else { return call.fail(.timeout) }
        var request = call.request
        let name = call.captures["channel"] ?? ""
        request.target = "/v1/vendor-receipts/\(name)/\(ReceiptCode(app: app, code: code).text)"
        passOn(request)
      }
    }
  }

  private func handle(_ call: GatewayCall) {
    guard let channel = channel(call), let owner = owner(of: call) else { return refuse(call) }
    let code = address(call).code
    let headers = call.request.headers
    let request = ReceiptRequest(body: call.request.body) { headers[$0] }
    let isAccepted = gateway.background.run(for: owner.rawValue) {
      channel.handle(request, at: code) { reply in
        switch reply {
        case .accepted(let body): call.answer(200, body)
        case .refused(let refusal): call.fail(Self.error(refusal))
        case .later: call.fail(.timeout)
        }
      }
    }
    if !isAccepted { call.fail(.timeout) }
  }

  private static func error(_ refusal: ReceiptRefusal) -> APIError {
    let (status, text) =
      switch refusal {
      case .unknown: (404, "There is no such address for receipts")
      case .signature: (401, "The signature is missing, wrong, too old or was used before")
      case .malformed: (400, "The body is not a receipt of the service")
      }
    return APIError(code: APIError.invalidValue(text).code, httpStatus: status, message: text)
  }
}
