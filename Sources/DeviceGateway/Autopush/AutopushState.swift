import BorealisBase
import BorealisCrypto
import BorealisProtocol

/// How the autopush protocol is served: browsers are registrations of one app. Shared by all connections.
package final class AutopushOptions: Sendable {
  /// The app.
  package let app: AppKey
  /// Where subscriptions have their addresses, such as `https://push.example.com`.
  package let origin: String

  /// `origin` has no slash at its end.
  package init(app: AppKey, origin: String) {
    self.app = app
    self.origin = origin
  }
}

/// Which registration a browser is, and its secret: together the UAID that it keeps.
struct AutopushIdentity: Equatable {
  let id: RegistrationID
  let secret: DeviceSecret

  init(id: RegistrationID, secret: DeviceSecret) {
    self.id = id
    self.secret = secret
  }

  /// Reads a UAID; nil for one that no server of this kind has given.
  init?(uaid: String) {
    let digits = 2 * WireLimits.secretBytes
    guard uaid.utf8.count > digits, uaid.utf8.count <= 64,
      let secret = Hex.decode(String(uaid.suffix(digits))).flatMap({ DeviceSecret($0) }),
      let id = RegistrationID(String(uaid.dropLast(digits)))
    else { return nil }
    self.init(id: id, secret: secret)
  }

  /// The UAID. A secret.
  var uaid: String { id.text + Hex.encode(secret.bytes) }
  /// What the server keeps of the secret.
  var secretHash: (UInt64, UInt64) { SHA256.digest128(secret.bytes) }
}

/// What the session of a browser has beside that of any device.
struct AutopushState {
  /// A request whose operation is under way.
  struct Request {
    /// The member `messageType` of its answer.
    let type: String
    let channel: String
    /// The address of a new subscription.
    var endpoint: String?
  }

  /// Requests of a browser under way at a time.
  static let mostRequests = 32

  let options: AutopushOptions
  /// Nil before `hello`, and until it is registered.
  var identity: AutopushIdentity?
  /// Whether the server may not know the registration, since the browser named it.
  var mayBeUnknown = false
  /// Whether it was asked if it is there, and has not answered.
  var isPinged = false
  /// By the sequence numbers of their operations.
  var requests: [UInt32: Request] = [:]
  var sequence: UInt32 = 0
}
