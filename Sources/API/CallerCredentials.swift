import BorealisBase
import HTTP
import Model

/// The key and the secret with which a request is made, as they are in its `Authorization` header.
struct CallerCredentials {
  let key: AppKey
  let secret: [UInt8]
  /// Whether it is the key of a group of apps.
  let isGroup: Bool

  enum Kind {
    case app, group, developer
  }

  /// Reads `Basic base64(key:secret)` (RFC 7617). A group has `group-` before its key.
  init?(_ header: String) {
    let bytes = Array(header.utf8)
    guard bytes.count > 6, bytes.count < 200,
      String(decoding: bytes[..<6], as: UTF8.self).lowercased() == "basic "
    else { return nil }
    let coded = bytes[6...].drop { $0 == 32 }
    guard let plain = Base64.decode(coded), let colon = plain.firstIndex(of: 58) else { return nil }
    isGroup = plain.starts(with: "group-".utf8)
    guard let key = AppKey(hex: plain[(isGroup ? min(6, colon) : 0)..<colon]) else { return nil }
    self.key = key
    secret = Array(plain[(colon + 1)...])
  }

  /// Throws what the call answers if the header is missing or malformed, or its key is one with which nobody
  /// may make this call.
  init(of call: GatewayCall) throws(APIError) {
    let faults = call.api.faults
    let failed = faults.authenticationFailed
    guard let header = call.request.headers["authorization"] else {
      throw faults.unauthorized.saying(
        "The Authorization header is missing: send Basic with key and secret")
    }
    guard let credentials = CallerCredentials(header) else {
      throw failed.saying(
        "The Authorization header must be Basic and, in Base64, a key of 24 hexadecimal digits, a colon and the secret"
      )
    }
    self = credentials
    guard call.callers != (isGroup ? .app : .group) else {
      throw failed.saying(
        isGroup
          ? "This call needs the key of an app, not that of a group"
          : "This call needs the key of a group after group-, not that of an app")
    }
  }

  /// Whose key it is. The admin API is for developers.
  func kind(at api: Gateway.API) -> Kind { isGroup ? .group : api == .admin ? .developer : .app }
}
