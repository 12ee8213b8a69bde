import PushBase

/// What is wrong with a line of an imported file.
public struct ImportFault: Error, Equatable, Sendable {
  /// For people, without what the line says.
  public let reason: String
}

/// The platform that a file comes from: what its columns are called, and which names it allows.
public enum ImportSource: String, CaseIterable, Sendable {
  /// JPush.
  case jpush
  /// Getui.
  case getui

  /// A column.
  enum Column: Int, CaseIterable {
    case registrationID, platform, alias, tags, token, environment, mobile
  }

  /// The names that the first line may have; the first two are needed.
  public var columns: [String] {
    switch self {
    case .jpush: ["registration_id", "platform", "alias", "tags", "apns_token", "apns_environment", "mobile"]
    case .getui: ["cid", "phone_type", "alias", "custom_tag", "device_token", "apns_environment"]
    }
  }

  /// What separates the tags in their column. No name holds it.
  var tagSeparator: Character {
    switch self {
    case .jpush: ";"
    case .getui: " "
    }
  }

  func platform(_ text: String) -> Platform? {
    switch (self, text) {
    case (.getui, "1"): .android
    case (.getui, "2"): .ios
    case (.getui, "harmony"): .hmos
    default: Platform(name: text)
    }
  }

  /// What is wrong with an alias, nil for a good one.
  func complaint(alias: String, _ rules: PushRules) -> String? {
    switch self {
    case .jpush: NameRules.check(alias, allowHyphen: rules.allowHyphen).complaint
    case .getui: NameRules.checkGetuiAlias(alias).complaint(maximum: NameRules.maximumGetuiAlias)
    }
  }

  /// What is wrong with a tag, nil for a good one.
  func complaint(tag: String, _ rules: PushRules) -> String? {
    switch self {
    case .jpush: NameRules.check(tag, allowHyphen: rules.allowHyphen).complaint
    case .getui: NameRules.checkGetuiTag(tag).complaint(maximum: NameRules.maximumGetuiTag)
    }
  }

  /// Tags of a registration.
  var maximumTags: Int {
    switch self {
    case .jpush: RegistrationLimits.tags
    case .getui: RegistrationLimits.getuiTags
    }
  }
}

/// The columns of an imported file, in the order of its first line. Beside those of its source it may have two for each channel:
/// `token.NAME` with the device's ordinary token, and `service.NAME` with the name of the service that it belongs to.
public struct ImportColumns: Equatable, Sendable {
  typealias Column = ImportSource.Column

  /// The columns of a channel.
  struct ChannelColumns: Equatable, Sendable {
    let info: ChannelInfo
    let kind: TokenKind
    /// Nil for a missing one.
    let token, service: Int?

    static func token(_ info: ChannelInfo) -> String { "token.\(info.name)" }
    static func service(_ info: ChannelInfo) -> String { "service.\(info.name)" }
  }

  /// Where the file comes from.
  let source: ImportSource
  /// The position of each of the source's columns; nil for a missing one.
  private let places: [Int?]
  /// Those of the channels that have any.
  let channels: [ChannelColumns]
  private let count: Int

  /// Reads the first line of a file whose tokens may be of some channels. A byte order mark is ignored.
  public init(
    _ fields: [String], from source: ImportSource = .jpush, channels: [ChannelInfo] = []
  ) throws(ImportFault) {
    let names =
      source.columns
      + channels.filter { !$0.tokens.isEmpty }.flatMap { info in
        [ChannelColumns.token(info)] + (info.services.isEmpty ? [] : [ChannelColumns.service(info)])
      }
    var places: [String: Int] = [:]
    for (place, field) in fields.enumerated() {
      let scalars = field.unicodeScalars.drop { place == 0 && $0 == "\u{FEFF}" }
      let name = String(String.UnicodeScalarView(scalars))
      guard names.contains(name) else {
        throw ImportFault(reason: "column \(place + 1) is none of \(names.joined(separator: ", "))")
      }
      guard places.updateValue(place, forKey: name) == nil else {
        throw ImportFault(reason: "the column \(name) is there twice")
      }
    }
    for name in names.prefix(2) where places[name] == nil {
      throw ImportFault(reason: "the column \(name) is missing")
    }
    self.source = source
    self.places = source.columns.map { places[$0] }
    self.channels = channels.compactMap { info in
      let (token, service) = (places[ChannelColumns.token(info)], places[ChannelColumns.service(info)])
      guard let kind = info.tokens.first, token ?? service != nil else { return nil }
      return ChannelColumns(info: info, kind: kind, token: token, service: service)
    }
    count = fields.count
  }

  /// The fields of a line.
  func values(_ fields: [String]) throws(ImportFault) -> Values {
    guard fields.count == count else {
      throw ImportFault(reason: "the line has \(fields.count) fields instead of \(count)")
    }
    return Values(fields: fields, places: places)
  }

  /// The fields of a line, by column; empty ones are not there.
  struct Values {
    fileprivate let fields: [String]
    fileprivate let places: [Int?]

    subscript(_ column: Column) -> String? {
      guard places.indices.contains(column.rawValue), let place = places[column.rawValue] else { return nil }
      return self[place: place]
    }

    subscript(place place: Int?) -> String? {
      guard let place, fields.indices.contains(place), !fields[place].isEmpty else { return nil }
      return fields[place]
    }
  }
}

/// A registration of another platform from a line of a file, validated by the rules of the device API.
public struct ImportLine: Equatable, Sendable {
  /// The ID that it had: 1 to 58 visible ASCII characters.
  public var registrationID: String
  /// What the device runs.
  public var platform: Platform
  /// Its alias, if it has one.
  public var alias: String?
  /// Its tags; in the file with `;` between them, with a space in a file of Getui's. No name can hold either.
  public var tags: [String]
  /// Its ordinary tokens of channels.
  public var tokens: [PushToken]
  /// Its mobile number, if it has one.
  public var mobile: String?

  /// Checks a line.
  public init(
    _ fields: [String], _ columns: ImportColumns, rules: PushRules = PushRules()
  ) throws(ImportFault) {
    let values = try columns.values(fields)
    let (source, names) = (columns.source, columns.source.columns)
    func name(_ column: ImportColumns.Column) -> String { names[column.rawValue] }
    let id = values[.registrationID] ?? ""
    guard (1...58).contains(id.utf8.count), id.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw ImportFault(reason: "\(name(.registrationID)) must have 1 to 58 visible characters")
    }
    registrationID = id
    guard let platform = values[.platform].flatMap({ source.platform($0) }) else {
      throw ImportFault(reason: "\(name(.platform)) must be one of android, ios, hmos, quickapp")
    }
    self.platform = platform
    alias = values[.alias]
    if let alias, let complaint = source.complaint(alias: alias, rules) {
      throw ImportFault(reason: "alias \(complaint)")
    }
    tags = try Self.tags(values[.tags], source, rules)
    tokens = try Self.ordinaryToken(values, platform, name(.token)).map { [$0] } ?? []
    for channel in columns.channels {
      guard let token = try Self.token(values, channel, platform) else { continue }
      guard !tokens.contains(where: { $0.slot == token.slot }) else {
        throw ImportFault(reason: "\(channel.info.name) has two tokens")
      }
      tokens.append(token)
    }
    mobile = values[.mobile]
    if let mobile, !NameRules.isMobile(mobile) {
      throw ImportFault(reason: "mobile must be a + or a digit, then digits and -, at most 20 characters")
    }
  }

  private static func tags(
    _ text: String?, _ source: ImportSource, _ rules: PushRules
  ) throws(ImportFault) -> [String] {
    var tags: [String] = []
    var seen: Set<ExactName> = []
    for part in (text ?? "").split(separator: source.tagSeparator) {
      let tag = String(part)
      if let complaint = source.complaint(tag: tag, rules) {
        throw ImportFault(reason: "a tag \(complaint)")
      }
      if seen.insert(ExactName(tag)).inserted { tags.append(tag) }
    }
    guard tags.count <= source.maximumTags else {
      throw ImportFault(reason: "there are more than \(source.maximumTags) tags")
    }
    return tags
  }

  /// The token of a channel in its columns.
  private static func token(
    _ values: ImportColumns.Values, _ columns: ImportColumns.ChannelColumns, _ platform: Platform
  ) throws(ImportFault) -> PushToken? {
    let (info, kind) = (columns.info, columns.kind)
    let name = ImportColumns.ChannelColumns.token(info)
    let named = values[place: columns.service]
    guard let text = values[place: columns.token] else {
      guard named == nil else {
        throw ImportFault(reason: "\(ImportColumns.ChannelColumns.service(info)) is given, but no \(name)")
      }
      return nil
    }
    guard info.platforms.contains(platform) else {
      throw ImportFault(reason: "\(info.name) does not reach devices on \(platform.name)")
    }
    guard let bytes = kind.bytes(text), !bytes.isEmpty else {
      let form = kind.form == .hexadecimal ? "hexadecimal digits" : "visible ASCII characters"
      throw ImportFault(reason: "\(name) must be at most \(kind.maximumBytes) bytes as \(form)")
    }
    guard let service = info.service(named: named) else {
      throw ImportFault(
        reason: "\(ImportColumns.ChannelColumns.service(info)) must be one of "
          + info.services.map(\.name).joined(separator: ", "))
    }
    return PushToken(TokenSlot(info.id, kind: kind.number), service, bytes)
  }

  /// The token in the source's own columns, which are older than other channels: of APNs.
  private static func ordinaryToken(
    _ values: ImportColumns.Values, _ platform: Platform, _ name: String
  ) throws(ImportFault) -> PushToken? {
    guard let text = values[.token] else {
      guard values[.environment] == nil else {
        throw ImportFault(reason: "apns_environment is given, but no \(name)")
      }
      return nil
    }
    guard platform == .ios else { throw ImportFault(reason: "only ios has \(name)") }
    guard let token = Hex.decode(text.lowercased()), (1...100).contains(token.count) else {
      throw ImportFault(reason: "\(name) must be 2 to 200 hexadecimal digits")
    }
    switch values[.environment] ?? "production" {
    case "production": return PushToken(.production, token)
    case "sandbox", "development": return PushToken(.sandbox, token)
    default: throw ImportFault(reason: "apns_environment must be production or sandbox")
    }
  }
}
