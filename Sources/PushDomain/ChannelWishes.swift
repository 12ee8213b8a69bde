import PushBase
import PushJSON

/// What `options.third_party_channel` and `options.classification` say of single channels. The names of objects and members are those
/// that the plugged-in channels describe (`ChannelInfo.options`).
public struct ChannelWishes: Equatable, Sendable {
  /// The way that the sender chose; nil for none.
  let rule: Strategy.Rule?
  /// What each channel is told: the members of its object that are not about the way, and `classification`.
  private let wishes: [ChannelID: JSONObject]

  /// None.
  init() {
    rule = nil
    wishes = [:]
  }

  /// JPush's names for its vendors. Those without a channel here reach no device: their objects are without effect.
  private static let vendors = [
    "xiaomi", "huawei", "honor", "meizu", "oppo", "vivo", "fcm", "nio", "asus", "hmos",
  ]
  /// JPush's names for strategies in the object of a vendor. `pns` are the services of phone makers.
  private static let distributions: [String: Strategy.Rule] = [
    "jpush": .ownOnly, "secondary_push": .jpush, "first_ospush": .vendorThenOwn, "ospush": .vendorIfAny,
  ]
  private static let distributionsFCM: [String: Strategy.Rule] = [
    "jpush": .ownOnly, "fcm": .vendorIfAny, "secondary_fcm_push": .jpush, "pns": .jpush,
    "secondary_pns_push": .jpush,
  ]
  private static let ways: Set<String> = ["distribution", "distribution_fcm", "distribution_customize"]

  /// Reads the members of `options`.
  init(_ options: Fields, rules: PushRules) throws(APIError) {
    let classification = try options.integer("classification", in: 0...1)
    let objects = try options.fields("third_party_channel").flatMap { $0.present.isEmpty ? nil : $0 }
    guard classification != nil || objects != nil else {
      (rule, wishes) = (nil, [:])
      return
    }
    let plugged = rules.channels.compactMap { info in info.options.map { (info.id, $0) } }
    for member in objects?.present ?? [] {
      guard plugged.contains(where: { $0.1.key == member.key }) || Self.vendors.contains(member.key) else {
        guard rules.strictKeys else { continue }
        throw .unsupportedKey("options.third_party_channel.\(member.key.prefix(64)) is not supported")
      }
      _ = try objects?.fields(member.key)
    }
    var first: (path: String, rule: Strategy.Rule)?
    var wishes: [ChannelID: JSONObject] = [:]
    for (channel, known) in plugged {
      var told = JSONObject()
      if let own = try objects?.fields(known.key) {
        if let (key, rule) = try Self.way(own) {
          // One push has one way on all Android devices: two would be one too many.
          if let first, first.rule != rule {
            throw own.invalid(key, "must be the same as \(first.path)")
          }
          first = first ?? (own.name(key), rule)
        }
        try own.allow(Self.ways.union(known.fields.keys))
        for member in own.present {
          guard let kind = known.fields[member.key] else { continue }
          try kind.check(member.key, member.value, in: own)
          told.set(member.key, member.value)
        }
      }
      // It has the last word over what the object says.
      if let classification, known.hasClasses {
        told.set("classification", .number(JSONNumber(classification)))
      }
      if !told.isEmpty { wishes[channel] = told }
    }
    rule = first?.rule
    self.wishes = wishes
  }

  /// The way that an object chooses, and the member that does.
  private static func way(_ own: Fields) throws(APIError) -> (key: String, rule: Strategy.Rule)? {
    func rule(_ key: String, _ known: [String: Strategy.Rule]) throws(APIError) -> (String, Strategy.Rule)? {
      guard let name = try own.string(key), !name.isEmpty else { return nil }
      guard let rule = known[name] else {
        throw own.invalid(key, "must be one of \(known.keys.sorted().joined(separator: ", "))")
      }
      return (key, rule)
    }
    let (first, second) = (
      try rule("distribution", distributions), try rule("distribution_fcm", distributionsFCM)
    )
    // Messages stay with the connection.
    if let name = try own.string("distribution_customize"), !name.isEmpty, name != "jpush" {
      throw own.notPermitted("distribution_customize")
    }
    return first ?? second
  }

  /// What channels store of it: JSON, for those that have a notification to bring.
  func contents(_ channels: [ChannelInfo], for platforms: PlatformSet) -> [ChannelContent] {
    channels.compactMap { info in
      guard let told = wishes[info.id], !platforms.isDisjoint(with: info.platforms) else { return nil }
      return ChannelContent(
        info.id, for: info.platforms.intersection(platforms), JSONWriter.serialize(.object(told)))
    }
  }
}
