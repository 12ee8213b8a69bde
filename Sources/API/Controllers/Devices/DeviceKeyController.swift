import BorealisBase
import Core
import HTTP
import Model

/// Keys for end-to-end encryption (Docs/encryption.md).
struct DeviceKeyController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.device, "GET", "/v1/devices/keys") { $0.listKeys($1) },
    route(.device, "PUT", "/v1/keys/{key}", body: .batch) { $0.shareKey($1) },
  ]

  /// `GET /v1/devices/keys`: the public keys of an audience, a page at a time.
  private func listKeys(_ call: GatewayCall) {
    guard let app = call.app else { return }
    func number(_ key: String, _ range: ClosedRange<UInt32>, absent: UInt32) -> UInt32? {
      guard let text = call.target[key] else { return absent }
      guard let number = UInt32(text), range.contains(number) else {
        call.fail(.deviceInvalid("\(key) must be \(range.lowerBound) to \(range.upperBound)"))
        return nil
      }
      return number
    }
    let most = UInt32(DeviceKeys.mostInCall)
    guard let limit = number("limit", 1...most, absent: most),
      let start = number("from", 0...(.max), absent: 0)
    else { return }
    var filter = AudienceFilter()
    for (key, part) in [
      ("registration_id", \AudienceFilter.registrationIDs), ("alias", \AudienceFilter.aliases),
      ("tag", \AudienceFilter.tags),
    ] {
      let names = (call.target[key] ?? "").split(separator: ",").map(String.init)
      guard names.count <= Audience.maximumDevices else {
        return call.fail(.deviceInvalid("\(key) has more than \(Audience.maximumDevices) values"))
      }
      filter[keyPath: part] = names
      guard call.target[key] == nil || !names.isEmpty else {
        return call.fail(.deviceInvalid("\(key) is empty"))
      }
    }
    let audience: Audience = filter.isEmpty ? .all : .filter(filter)
    router.deviceKeys.list(audience, of: app, from: start, limit: Int(limit)) { result in
      guard case .success(let page) = result else { return call.fail(.deviceBusy) }
      var writer = JSONWriter(capacity: 64 + 160 * page.keys.count)
      writer.beginObject()
      writer.key("keys")
      writer.beginArray()
      for key in page.keys { Self.write(key, to: &writer) }
      writer.endArray()
      writer.key("next")
      if let next = page.next { writer.value(Int64(next)) } else { writer.null() }
      writer.endObject()
      call.answer(200, writer.bytes)
    }
  }

  private static func write(_ key: DeviceKeys.PublicKey, to writer: inout JSONWriter) {
    let point = Array(key.bytes.prefix(key.kind.pointSize))
    writer.beginObject()
    writer.member("registration_id", key.registrationID.text)
    writer.member("kind", key.kind.name)
    writer.member("point", Base64.encode(point))
    writer.member("auth", Base64.encode(Array(key.bytes.dropFirst(point.count))))
    writer.endObject()
  }

  /// `PUT /v1/keys/{key}`: a key that is shared with devices, encrypted for each of them.
  private func shareKey(_ call: GatewayCall) {
    guard let app = call.app, let json = call.body() else { return }
    guard let id = ContentKeyID(call.captures["key"] ?? "") else {
      return call.fail(.deviceInvalid("The key's ID must be 16 lower-case hexadecimal digits"))
    }
    guard let devices = json["devices"]?.object, !devices.members.isEmpty else {
      return call.fail(.deviceInvalid("devices must be an object with a value for each registration ID"))
    }
    guard devices.members.count <= DeviceKeys.mostInCall else {
      return call.fail(.deviceInvalid("devices has more than \(DeviceKeys.mostInCall) values"))
    }
    var sealed: [(RegistrationID, [UInt8])] = []
    for member in devices.members {
      guard let registration = RegistrationID(member.key) else {
        return call.fail(.deviceInvalid("devices.\(member.key.prefix(64)) is not a valid registration ID"))
      }
      guard let bytes = member.value.string.flatMap({ Base64.decode($0.utf8) }),
        (1...DeviceKeys.mostBytes).contains(bytes.count)
      else {
        return call.fail(
          .deviceInvalid("devices.\(member.key) must be 1 to \(DeviceKeys.mostBytes) bytes in Base64"))
      }
      sealed.append((registration, bytes))
    }
    let count = sealed.count
    router.deviceKeys.share(id, sealed, of: app) { result in
      guard case .success(let unknown) = result else { return call.fail(.deviceBusy) }
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("stored", Int64(count - unknown.count))
      writer.key("unknown")
      writer.beginArray()
      for registration in unknown { writer.value(registration.text) }
      writer.endArray()
      writer.endObject()
      call.answer(200, writer.bytes)
    }
  }
}
