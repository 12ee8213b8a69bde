import BorealisBase

/// What `options.third_party_channel`, `classification` and `auto_truncation` say of single channels. The
/// names of objects and members are those that the plugged-in channels describe (`ChannelInfo.options`).
package struct ChannelWishes: Equatable, Sendable {
  /// The ways that the sender chose for channels. Devices of other channels have JPush's default.
  private(set) var ways: [ChannelID: Strategy.Rule] = [:]
  /// The ways that the sender chose for devices that FCM reaches as well (`distribution_fcm`).
  private var waysForBoth: [ChannelID: WayForBoth] = [:]
  /// What each channel is told: the members of its object that are not about the way, `classification` and
  /// `auto_truncation`.
  private var wishes: [ChannelID: JSONObject] = [:]

  /// The member of a channel's content with the number of its way.
  private static let way = "way"
  /// Set if the sender wants texts shortened that a service does not take.
  package static let truncates = "auto_truncation"
  /// That with the way for devices that FCM reaches as well.
  private static let wayForBoth = "way_for_both"

  /// None.
  init() {}

  /// Whether the sender said nothing of single channels, as most do not.
  var isEmpty: Bool { ways.isEmpty && waysForBoth.isEmpty && wishes.isEmpty }

  /// JPush's names for its vendors. Those without a channel here reach no device: their objects are without
  /// effect.
  private static let vendors = [
    "xiaomi", "huawei", "honor", "meizu", "oppo", "vivo", "fcm", "nio", "asus", "hmos",
  ]
  /// JPush's names for strategies in the object of a vendor. `pns` are the services of phone makers.
  private static let distributions: [String: Strategy.Rule] = [
    "jpush": .ownOnly, "secondary_push": .jpush, "first_ospush": .vendorThenOwn, "ospush": .vendorIfAny,
  ]
  private static let distributionsFCM: [String: Strategy.Rule] = [
    "jpush": .ownOnly, "fcm": .vendorIfAny, "secondary_fcm_push": .jpush, "pns": .vendorIfAny,
    "secondary_pns_push": .jpush,
  ]
  /// The values with which devices that both services reach get the push over FCM.
  private static let preferringFCM: Set<String> = ["fcm", "secondary_fcm_push"]
  private static let wayMembers: Set<String> = ["distribution", "distribution_fcm", "distribution_customize"]

  /// Reads the members of `options`.
  init(_ options: Fields, rules: PushRules) throws(APIError) {
    let classification = try options.integer("classification", in: 0...1)
    let truncates = try options.flag(Self.truncates) == true
    let objects = try options.fields("third_party_channel").flatMap { $0.present.isEmpty ? nil : $0 }
    guard classification != nil || truncates || objects != nil else { return }
    let plugged = rules.channels.compactMap { info in info.options.map { (info.id, $0) } }
    for member in objects?.present ?? [] {
      guard plugged.contains(where: { $0.1.key == member.key }) || Self.vendors.contains(member.key) else {
        objects?.ignore(member.key)
        continue
      }
      guard try objects?.fields(member.key) != nil else { continue }
      // JPush has channels of other makers.
      if !plugged.contains(where: { $0.1.key == member.key }) { objects?.ignore(member.key) }
    }
    for (channel, known) in plugged {
      var told = JSONObject()
      if let own = try objects?.fields(known.key) {
        ways[channel] = try Self.way(own)
        if let name = try own.string("distribution_fcm"), let rule = Self.distributionsFCM[name],
          let fcm = plugged.first(where: { $0.1.key == "fcm" })?.0
        {
          waysForBoth[channel] = WayForBoth(
            other: fcm, rule: rule, isOverOther: Self.preferringFCM.contains(name))
        }
        own.ignoreOthers(than: Self.wayMembers.union(known.fields.keys))
        for member in own.present {
          guard let kind = known.fields[member.key] else { continue }
          if try kind.check(member.key, member.value, in: own) { told.set(member.key, member.value) }
        }
      }
      // It has the last word over what the object says.
      if let classification, known.hasClasses {
        told.set("classification", .number(JSONNumber(classification)))
      }
      if truncates { told.set(Self.truncates, true) }
      if !told.isEmpty { wishes[channel] = told }
    }
  }

  /// Whether the sender set a member of a channel's object.
  func sets(_ member: String, for channel: ChannelID) -> Bool {
    wishes[channel]?[member].map { $0 != "" } ?? false
  }

  /// Drops the ways, since a strategy for all channels says more.
  mutating func dropWays() { (ways, waysForBoth) = ([:], [:]) }

  /// The way that an object chooses.
  private static func way(_ own: Fields) throws(APIError) -> Strategy.Rule? {
    func rule(_ key: String, _ known: [String: Strategy.Rule]) throws(APIError) -> Strategy.Rule? {
      guard let name = try own.string(key), !name.isEmpty else { return nil }
      guard let rule = known[name] else {
        throw own.invalid(key, "must be one of \(known.keys.sorted().joined(separator: ", "))")
      }
      return rule
    }
    let (first, second) = (
      try rule("distribution", distributions), try rule("distribution_fcm", distributionsFCM)
    )
    // Messages stay with the connection.
    if let name = try own.string("distribution_customize"), name != "jpush" {
      own.ignore("distribution_customize")
    }
    return first ?? second
  }

  /// What channels store of it: JSON, for those that have a notification to bring.
  func contents(_ channels: [ChannelInfo], for platforms: PlatformSet) -> [ChannelContent] {
    guard !isEmpty else { return [] }
    return channels.compactMap { info in
      var told = wishes[info.id] ?? JSONObject()
      if let rule = ways[info.id] { told.set(Self.way, .number(JSONNumber(rule.rawValue))) }
      if let way = waysForBoth[info.id] { told.set(Self.wayForBoth, way.json) }
      guard !told.isEmpty, !platforms.isDisjoint(with: info.platforms) else { return nil }
      return ChannelContent(
        info.id, for: info.platforms.intersection(platforms), JSONWriter.serialize(.object(told)))
    }
  }

  /// The way in what a channel stores; nil if the sender chose none.
  fileprivate static func way(in content: [UInt8]) -> Strategy.Rule? {
    guard content.first == UInt8(ascii: "{"), let number = (try? parseJSON(content))?[way]?.int64 else {
      return nil
    }
    return UInt8(exactly: number).flatMap { Strategy.Rule(rawValue: $0) }
  }

  /// The same for devices that FCM reaches as well.
  fileprivate static func wayForBoth(in content: [UInt8]) -> WayForBoth? {
    guard content.first == UInt8(ascii: "{") else { return nil }
    return (try? parseJSON(content))?[wayForBoth].flatMap { WayForBoth(json: $0) }
  }
}

/// Which way a push goes to devices of a maker's channel that have a token of FCM as well: JPush's
/// `distribution_fcm`.
package struct WayForBoth: Equatable, Sendable {
  /// FCM's channel.
  package let other: ChannelID
  /// The rule for these devices.
  package let rule: Strategy.Rule
  /// Whether FCM brings it, and not the maker's service.
  package let isOverOther: Bool

  init(other: ChannelID, rule: Strategy.Rule, isOverOther: Bool) {
    self.other = other
    self.rule = rule
    self.isOverOther = isOverOther
  }

  fileprivate init?(json: JSONValue) {
    guard let other = json["other"]?.int64.flatMap({ UInt8(exactly: $0) }),
      let rule = json["rule"]?.int64.flatMap({ UInt8(exactly: $0) }).flatMap({ Strategy.Rule(rawValue: $0) }),
      let isOverOther = json["over_other"]?.bool
    else { return nil }
    self.init(other: ChannelID(rawValue: other), rule: rule, isOverOther: isOverOther)
  }

  fileprivate var json: JSONValue {
    var object = JSONObject()
    object.set("other", .number(JSONNumber(other.rawValue)))
    object.set("rule", .number(JSONNumber(rule.rawValue)))
    object.set("over_other", .bool(isOverOther))
    return .object(object)
  }
}

extension PushContent {
  /// The way for devices of a channel that FCM reaches as well, if the sender chose one in its object or in
  /// FCM's.
  package func wayForBoth(of channel: ChannelID) -> WayForBoth? {
    let own = content(for: channel).flatMap { ChannelWishes.wayForBoth(in: $0) }
    if let own { return own }
    return forChannels.lazy.compactMap { one in
      ChannelWishes.wayForBoth(in: one.bytes).flatMap { $0.other == one.channel ? $0 : nil }
    }.first
  }

  /// The strategy for devices of a channel: the sender may have chosen a way for it alone. `common` is that
  /// of the push.
  package func strategy(of channel: ChannelID, else common: Strategy) -> Strategy {
    guard let rule = content(for: channel).flatMap({ ChannelWishes.way(in: $0) }) else { return common }
    return Strategy(rule, ios: common.ios)
  }
}
