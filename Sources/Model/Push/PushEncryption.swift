import BorealisBase

/// Contents of a push that the app server has enciphered: only devices that have the key read them. The
/// server carries them and knows neither key nor content.
package struct PushEncryption: Equatable, Sendable {
  /// The member of a notification, a message and a payload for Apple that holds an enciphered content.
  package static let member = "encrypted"
  /// Most bytes of an enciphered content. In Base64 it must also fit into what its part may have.
  package static let maximumBytes = 2900
  /// Salt, size of a record, an empty key name, one byte and its tag.
  private static let minimumBytes = 38
  /// The position of the key name's length in the coding.
  private static let nameCount = 20

  /// How the contents are coded.
  package let cipher: ContentCipher
  /// The key that opens them.
  package let key: ContentKeyID
  /// What is to be shown, in Base64; nil if nothing of it is enciphered.
  package let notification: String?
  /// The encrypted message, in Base64; nil if there is none.
  package let message: String?

  /// Reads `options.encryption`; nil if it is not there.
  static func parse(_ options: Fields) throws(APIError) -> PushEncryption? {
    guard options.wish("encryption") != nil, let fields = try options.fields("encryption") else { return nil }
    try fields.allow(["alg", "key", "notification", "message"])
    guard let name = try fields.string("alg") else { throw fields.missing("alg") }
    guard let cipher = ContentCipher(rawValue: name) else {
      throw fields.invalid("alg", "must be aes128gcm or sm4gcm")
    }
    guard let text = try fields.string("key") else { throw fields.missing("key") }
    guard let key = ContentKeyID(text) else {
      throw fields.invalid("key", "must be 16 lower-case hexadecimal digits")
    }
    for part in ["notification", "message"] {
      guard let content = try fields.string(part) else { continue }
      try check(content, part, key, in: fields)
    }
    let encryption = PushEncryption(
      cipher: cipher, key: key, notification: try fields.string("notification"),
      message: try fields.string("message"))
    guard encryption.notification != nil || encryption.message != nil else {
      throw fields.missing("notification or message")
    }
    return encryption
  }

  /// Checks what can be seen without the key.
  private static func check(
    _ content: String, _ part: String, _ key: ContentKeyID, in fields: Fields
  ) throws(APIError) {
    guard content.utf8.count <= (maximumBytes + 2) / 3 * 4 else {
      throw fields.faults.tooLarge("\(fields.name(part)) has more than \(maximumBytes) bytes")
    }
    guard let bytes = Base64.decode(content.utf8), bytes.count >= minimumBytes,
      bytes.count >= minimumBytes + Int(bytes[nameCount])
    else { throw fields.invalid(part, "must be an enciphered content in Base64") }
    guard let name = name(in: bytes), name.count != 8 || ContentKeyID(bytes: name) == key else {
      throw fields.invalid(part, "is enciphered with another key than key")
    }
  }

  private static func name(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let end = nameCount + 1 + Int(bytes[nameCount])
    return end <= bytes.count ? bytes[(nameCount + 1)..<end] : nil
  }

  /// Whether only one device can read it: its key's name is a point or an enciphered secret, not a key that
  /// is shared.
  var isForOneDevice: Bool {
    [notification, message].contains { content in
      guard let content, let bytes = Base64.decode(content.utf8) else { return false }
      return Self.name(in: bytes)?.count != 8
    }
  }

  /// Refuses an audience that could not read it.
  func check(_ audience: Audience) throws(APIError) {
    guard isForOneDevice else { return }
    guard let filter = audience.filter, filter == AudienceFilter(registrationIDs: filter.registrationIDs),
      filter.registrationIDs.count == 1
    else {
      throw .invalidValue(
        "options.encryption is for one device: audience must be one registration_id and nothing else")
    }
  }

  /// The member that carries a content; over the direct connection with the seconds for which the push is
  /// kept, so that a device knows for how long to wait for a key.
  package func value(_ content: String, timeToLive: Int? = nil) -> JSONValue {
    var object = JSONObject()
    object.set("alg", .string(cipher.rawValue))
    object.set("key", .string(key.text))
    object.set("data", .string(content))
    if let timeToLive { object.set("ttl", .number(JSONNumber(Int64(timeToLive)))) }
    return .object(object)
  }
}
