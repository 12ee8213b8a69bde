import BorealisBase
import Core
import HTTP
import Model

/// Tokens that a device tells over HTTPS, of any channel that the server has.
struct DeviceTokenController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.open, "POST", "/v1/tokens", isForPages: true) { $0.setTokens($1) }
  ]

  /// Most tokens in a request.
  private static let limit = 16

  /// `POST /v1/tokens`: all of them or nothing.
  private func setTokens(_ call: GatewayCall) {
    guard let json = call.body() else { return }
    let faults = call.api.faults
    guard let login = DeviceCredential(json) else {
      return call.fail(faults.invalid("app_key, registration_id and secret are needed"))
    }
    guard let items = json["tokens"]?.array, (1...Self.limit).contains(items.count) else {
      return call.fail(faults.invalid("tokens must be an array of 1 to \(Self.limit) tokens"))
    }
    login.admit(call, gateway, callsPerMinute: DeviceFactController.callsPerMinute) { [self] app, number in
      guard let platform = app.directory.identity(number)?.platform else {
        return call.fail(.authenticationFailed)
      }
      var tokens: [PushToken] = []
      for item in items {
        switch token(item, of: platform) {
        case .failure(let fault): return call.fail(faults.invalid(fault.message))
        case .success(let token):
          let isTwice = tokens.contains { other in
            other.slot == token.slot
              || !token.bytes.isEmpty && other.slot.channel == token.slot.channel
                && other.bytes == token.bytes
          }
          guard !isTwice else {
            return call.fail(faults.invalid("tokens has two tokens of one kind, or one token twice"))
          }
          tokens.append(token)
        }
      }
      router.registrations.setTokens(tokens, of: number, in: app) { result in
        switch result {
        case .success: call.answerEmpty()
        case .failure(.unknownRegistration): call.fail(.authenticationFailed)
        case .failure: call.fail(.timeout)
        }
      }
    }
  }

  /// What is wrong with a token.
  private struct Fault: Error {
    let message: String

    init(_ message: String) { self.message = "tokens: \(message)" }
  }

  private func token(_ item: JSONValue, of platform: Platform) -> Result<PushToken, Fault> {
    func text(_ name: String) throws(Fault) -> String? {
      guard let value = item[name] else { return nil }
      guard let text = value.string else { throw Fault("\(name) must be a string") }
      return text
    }
    do throws(Fault) {
      guard let token = try text("token") else { throw Fault("token is missing") }
      let told = ReportedToken(
        channel: try text("channel") ?? "", kind: try text("kind") ?? "", name: try text("name") ?? "",
        service: try text("service") ?? "", token: token)
      return router.channels.token(told, of: platform).mapError { Fault($0.message) }
    } catch {
      return .failure(error)
    }
  }
}
