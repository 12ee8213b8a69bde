import BorealisBase

/// What a browser says in the autopush protocol: a JSON object for each message.
enum AutopushRequest: Equatable {
  /// The first one, with the UAID that an earlier one was answered with.
  case hello(uaid: String?)
  /// Asks for the address of a subscription, at which only the owner of a key may send if one is named.
  case register(channel: String, key: String?)
  case unregister(channel: String)
  /// Messages have arrived, whether the browser could read them or not.
  case acknowledge([MessageID])
  case ping
  /// Asks for nothing that is served here: `nack`, `broadcast_subscribe`, and what may come.
  case other

  /// Messages that one acknowledgement may name.
  private static let mostAcknowledged = 512
  private static let limits = JSONLimits(maxDepth: 8, maxBytes: 1 << 17, maxMembers: 8192)

  /// Reads a message; nil if it is none of the protocol.
  init?(_ text: [UInt8]) {
    guard !text.isEmpty else {
      self = .ping
      return
    }
    guard let message = try? parseJSON(text, limits: Self.limits), message.object != nil else { return nil }
    let channel = message["channelID"]?.string
    switch message["messageType"]?.string {
    case nil where message["messageType"] == nil: self = .ping
    case nil: return nil
    case "ping": self = .ping
    case "hello": self = .hello(uaid: message["uaid"]?.string)
    case "register":
      guard let channel else { return nil }
      self = .register(channel: channel, key: message["key"]?.string)
    case "unregister":
      guard let channel else { return nil }
      self = .unregister(channel: channel)
    case "ack":
      guard let ids = Self.acknowledged(message["updates"]) else { return nil }
      self = .acknowledge(ids)
    default: self = .other
    }
  }

  private static func acknowledged(_ updates: JSONValue?) -> [MessageID]? {
    guard let updates = updates?.array, updates.count <= mostAcknowledged else { return nil }
    let ids = updates.compactMap { update in
      update["version"]?.string.flatMap { MessageID(decimal: Array($0.utf8)) }
    }
    // No push has an ID of 2^53 or more.
    return ids.count == updates.count && ids.allSatisfy { $0.rawValue < 1 << 53 } ? ids : nil
  }
}
