import BorealisBase
import BorealisCrypto
import Core
import Model

/// How a device shows over HTTPS which registration it is: `app_key`, `registration_id` and `secret` in the
/// body.
struct DeviceCredential: Sendable {
  private let app: AppKey
  private let device: RegistrationID
  private let secretHash: (UInt64, UInt64)

  /// Nil if a member is missing or has the wrong form.
  init?(_ json: JSONValue) {
    guard let app = json["app_key"]?.string.flatMap({ AppKey($0) }),
      let device = json["registration_id"]?.string.flatMap({ RegistrationID($0) }),
      let secret = json["secret"]?.string.flatMap({ Hex.decode($0) }), secret.count == 16
    else { return nil }
    (self.app, self.device) = (app, device)
    secretHash = SHA256.digest128(secret)
  }

  /// The app that a body names; nil if it has none, or is none.
  static func app(in body: [UInt8]) -> AppKey? {
    guard !body.isEmpty, body.count <= GatewayLimits().openBytes, let json = try? parseJSON(body) else {
      return nil
    }
    return json["app_key"]?.string.flatMap { AppKey($0) }
  }

  /// Finds the registration; answers the call itself if the device cannot be let in.
  func admit(
    _ call: GatewayCall, _ router: Router, _ go: @escaping @Sendable (App, RegistrationNumber) -> Void
  ) {
    router.apps.find(app) { found in
      guard case .success(let app) = found else {
        call.fail(.timeout)
        return
      }
      // Unknown and wrong look alike from outside, so that nobody can search for registration IDs.
      guard let app, !app.isDisabled, let number = app.directory.authenticate(device, secretHash: secretHash)
      else {
        call.fail(.authenticationFailed)
        return
      }
      go(app, number)
    }
  }

  /// The same for calls that a registration makes rarely: beyond so many in a minute it is refused.
  func admit(
    _ call: GatewayCall, _ gateway: Gateway, callsPerMinute: Int,
    _ go: @escaping @Sendable (App, RegistrationNumber) -> Void
  ) {
    admit(call, gateway.router) { app, number in
      // A registration that shares its place with another shares the calls as well.
      let place = Hasher.place(app.id.rawValue, number.rawValue)
      if let limiter = gateway.rates[.open] {
        let budget = limiter.consume(place, quota: callsPerMinute, at: gateway.time.monotonic())
        guard budget.isGranted else { return call.fail(.rateExceeded) }
      }
      go(app, number)
    }
  }
}

extension Hasher {
  /// A number for two, which nobody can aim for from outside.
  fileprivate static func place(_ first: UInt32, _ second: UInt32) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(first)
    hasher.combine(second)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }
}
