import PushBase

/// What a channel is and what it can do. Whatever shows or counts channels reads it here, and knows no channel by name.
public struct ChannelInfo: Hashable, Sendable {
  /// Its number.
  public let id: ChannelID
  /// Its name in APIs, callbacks and metrics.
  public let name: String
  /// Its name for people, in English.
  public let english: String
  /// Its name for people, in Chinese.
  public let chinese: String
  /// The platforms whose devices it reaches.
  public let platforms: PlatformSet
  /// The parts of a push that it carries.
  public let parts: PushParts
  /// What else it can do.
  public let abilities: ChannelAbilities
  /// The kinds of tokens that devices have for it; empty only for the direct connection, which needs none.
  public let tokens: [TokenKind]
  /// Its services, of number 1 and on; empty if it has only one. At most eight.
  public let services: [ChannelService]
  /// What the answers of its services mean.
  public let words: ChannelWords
  /// What senders may wish of it alone; nil if nothing.
  public let options: ChannelOptions?

  /// All fields.
  public init(
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
  public func service(named name: String?) -> ServiceID? {
    guard let name else { return .only }
    return services.firstIndex { $0.name == name }.map {
      ServiceID(rawValue: UInt8(truncatingIfNeeded: $0 + 1))
    }
  }

  /// What a service is called; nil for a channel that has only one.
  public func service(_ id: ServiceID) -> ChannelService? {
    let place = Int(id.rawValue) - 1
    return services.indices.contains(place) ? services[place] : nil
  }

  /// The direct connection.
  public static let passthrough = ChannelInfo(
    id: .passthrough, name: "connection", english: "Direct connection", chinese: "长连接", platforms: .all,
    parts: .all, abilities: .confirmsArrival)

  /// A channel that this program does not have, of which the database knows something.
  public static func unknown(_ id: ChannelID) -> ChannelInfo {
    let name = "channel-\(id.rawValue)"
    return ChannelInfo(id: id, name: name, english: name, chinese: name, platforms: [], parts: [])
  }
}

/// What a service of a channel is called.
public struct ChannelService: Hashable, Sendable {
  /// In APIs and metrics.
  public let name: String
  /// For people, in English.
  public let english: String
  /// For people, in Chinese.
  public let chinese: String

  /// All fields.
  public init(_ name: String, english: String, chinese: String) {
    self.name = name
    self.english = english
    self.chinese = chinese
  }
}

/// What some channels can do and others cannot.
public struct ChannelAbilities: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// Makes a set of its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// "Delivered" means that the device has the push, not only that a service took it.
  public static let confirmsArrival = ChannelAbilities(rawValue: 1)
  /// Its service tells of each device whether a push has arrived, once it knows where to. "Delivered" means that the service took
  /// it until then.
  public static let sendsReceipts = ChannelAbilities(rawValue: 2)
}
