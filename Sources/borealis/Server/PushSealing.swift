import BorealisBase
import BorealisCrypto

/// Pushes of `borealis push --encrypt`: one for each device, which alone reads it.
struct PushSealing {
  /// The text to show where a notification cannot be decrypted.
  static let neutralText = "You have a new message"

  let api: PushAPI
  let settings: Settings

  /// The push for a registration, encrypted with its key.
  func push(for name: String) throws(Failure) -> JSONObject {
    guard let id = RegistrationID(name) else {
      throw .usage("--registration-id: \"\(name)\" is not a valid registration ID")
    }
    let key = try key(of: id)
    var encryption = JSONObject()
    encryption.set("alg", .string(key.kind.coding.rawValue))
    encryption.set("key", .string(key.id.text))
    var push = JSONObject()
    push.set("audience", ["registration_id": [.string(id.text)]])
    let title = settings.text("title")
    if let alert = settings.text("alert") {
      push.set("notification", ["alert": .string(settings.text("neutral") ?? Self.neutralText)])
      encryption.set("notification", .string(try seal(["alert": alert, "title": title], key)))
    }
    if let message = settings.text("message") {
      encryption.set("message", .string(try seal(["msg_content": message, "title": title], key)))
    }
    var options = JSONObject()
    options.set("encryption", .object(encryption))
    push.set("options", .object(options))
    return push
  }

  private func seal(
    _ members: KeyValuePairs<String, String?>, _ key: DevicePublicKey
  ) throws(Failure) -> String {
    var content = JSONObject()
    for (name, text) in members { if let text { content.set(name, .string(text)) } }
    do throws(ContentError) {
      return Base64.encode(try key.seal(JSONWriter.serialize(.object(content))))
    } catch {
      throw .failed("the device's key \(key.id.text) is not valid")
    }
  }

  private func key(of id: RegistrationID) throws(Failure) -> DevicePublicKey {
    let answer = try api.call("GET", "/v1/devices/keys?registration_id=\(id.text)")
    let found = answer["keys"]?.array?.first
    guard let found, let kind = found["kind"]?.string.flatMap({ DeviceKeyKind(name: $0) }),
      let point = found["point"]?.string.flatMap({ Base64.decode($0.utf8) }),
      let auth = found["auth"]?.string.flatMap({ Base64.decode($0.utf8) }),
      let key = DevicePublicKey(kind: kind, point: point, auth: auth)
    else { throw .failed("the device \(id.text) has no key") }
    return key
  }
}
