import BorealisBase

/// What a channel is and what it can do. Whatever shows or counts channels reads it here, and knows no
/// channel by name.
package struct ChannelInfo: Hashable, Sendable {
  /// Its number.
  package let id: ChannelID
  /// Its name in APIs, callbacks and metrics.
  package let name: String
  /// Its name for people, in English.
  package let english: String
  /// Its name for people, in Chinese.
  package let chinese: String
  /// The platforms whose devices it reaches.
  package let platforms: PlatformSet
  /// The parts of a push that it carries.
  package let parts: PushParts
  /// What else it can do.
  package let abilities: ChannelAbilities
  /// The kinds of tokens that devices have for it; empty only for the direct connection, which needs none.
  package let tokens: [TokenKind]
  /// Its services, of number 1 and on; empty if it has only one. At most eight.
  package let services: [ChannelService]
  /// What the answers of its services mean.
  package let words: ChannelWords
  /// What senders may wish of it alone; nil if nothing.
  package let options: ChannelOptions?

  package init(
    id: ChannelID, name: String, english: String, chinese: String, platforms: PlatformSet, parts: PushParts,
    abilities: ChannelAbilities = [], tokens: [TokenKind] = [], services: [ChannelService] = [],
    words: ChannelWords = ChannelWords(), options: ChannelOptions? = nil
  ) {
    self.id = id
    self.name = name
    self.english = english
    self.chinese = chinese
    self.platforms = platforms
    self.parts = parts
    self.abilities = abilities
    self.tokens = tokens
    self.services = services
    self.words = words
    self.options = options
  }

  /// A service by its name; nil if the channel has no such service. Without a name the first is meant.
  package func service(named name: String?) -> ServiceID? {
    guard let name else { return .only }
    return services.firstIndex { $0.name == name }.map {
      ServiceID(rawValue: UInt8(truncatingIfNeeded: $0 + 1))
    }
  }

  /// What a service is called; nil for a channel that has only one.
  package func service(_ id: ServiceID) -> ChannelService? {
    let place = Int(id.rawValue) - 1
    return services.indices.contains(place) ? services[place] : nil
  }

  /// The direct connection.
  package static let passthrough = ChannelInfo(
    id: .passthrough, name: "connection", english: "Direct connection", chinese: "长连接", platforms: .all,
    parts: .all, abilities: .confirmsArrival)

  /// A channel that this program does not have, of which the database knows something.
  package static func unknown(_ id: ChannelID) -> ChannelInfo {
    let name = "channel-\(id.rawValue)"
    return ChannelInfo(id: id, name: name, english: name, chinese: name, platforms: [], parts: [])
  }
}

/// What a service of a channel is called.
package struct ChannelService: Hashable, Sendable {
  /// In APIs and metrics.
  package let name: String
  /// For people, in English.
  package let english: String
  /// For people, in Chinese.
  package let chinese: String

  package init(_ name: String, english: String, chinese: String) {
    self.name = name
    self.english = english
    self.chinese = chinese
  }
}

/// What some channels can do and others cannot.
package struct ChannelAbilities: OptionSet, Hashable, Sendable {
  /// The bits.
  package let rawValue: UInt8

  /// Makes a set of its bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// "Delivered" means that the device has the push, not only that a service took it.
  package static let confirmsArrival = ChannelAbilities(rawValue: 1)
  /// Its service tells of each device whether a push has arrived, once it knows where to. "Delivered" means
  /// that the service took it until then.
  package static let sendsReceipts = ChannelAbilities(rawValue: 2)
}
