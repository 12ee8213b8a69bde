import BorealisBase
import BorealisCrypto

/// A browser's subscription (Push API): where its push service takes messages, and the keys for which they
/// are sealed.
struct WebPushSubscription: Sendable, Equatable {
  let address: WebPushAddress
  let key: DevicePublicKey

  /// Reads what `JSON.stringify` makes of a `PushSubscription`, or what servers store of it: with keys in
  /// either alphabet of base64, padded or not. Nil if it is none. Whether the point is on its curve is
  /// checked by `isUsable`.
  init?(_ token: [UInt8]) {
    guard let object = (try? parseJSON(token))?.object, let keys = object["keys"]?.object,
      let address = object["endpoint"]?.string.flatMap({ WebPushAddress($0) }),
      let point = keys["p256dh"]?.string.flatMap({ Base64.decodeAny($0.utf8) }),
      let auth = keys["auth"]?.string.flatMap({ Base64.decodeAny($0.utf8) }),
      let key = DevicePublicKey(kind: .p256, point: point, auth: auth)
    else { return nil }
    self.address = address
    self.key = key
  }

  /// Whether something can be sealed for it.
  var isUsable: Bool { (try? ES256PublicKey(point: key.point)) != nil }

  /// The same bytes for the same subscription, whatever else the browser says of it.
  var token: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("endpoint", address.url)
    writer.key("keys")
    writer.beginObject()
    writer.member("p256dh", Base64.encodeURL(key.point))
    writer.member("auth", Base64.encodeURL(key.auth))
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }
}
