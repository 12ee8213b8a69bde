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

/// The columns of an imported file, in the order of its first line.
public struct ImportColumns: Equatable, Sendable {
  typealias Column = ImportSource.Column

  /// Where the file comes from.
  let source: ImportSource
  /// The position of each of the source's columns; nil for a missing one.
  private let places: [Int?]
  private let count: Int

  /// Reads the first line. A byte order mark is ignored.
  public init(_ fields: [String], from source: ImportSource = .jpush) throws(ImportFault) {
    let names = source.columns
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
    self.places = names.map { places[$0] }
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
      guard places.indices.contains(column.rawValue), let place = places[column.rawValue],
        fields.indices.contains(place)
      else { return nil }
      return fields[place].isEmpty ? nil : fields[place]
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
  /// The APNs device token, empty for none.
  public var token: [UInt8]
  /// The APNs environment of the token.
  public var environment: APNsEnvironment
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
    (token, environment) = try Self.token(values, platform, name(.token))
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

  private static func token(
    _ values: ImportColumns.Values, _ platform: Platform, _ name: String
  ) throws(ImportFault) -> ([UInt8], APNsEnvironment) {
    guard let text = values[.token] else {
      guard values[.environment] == nil else {
        throw ImportFault(reason: "apns_environment is given, but no \(name)")
      }
      return ([], .none)
    }
    guard platform == .ios else { throw ImportFault(reason: "only ios has \(name)") }
    guard let token = Hex.decode(text.lowercased()), (1...100).contains(token.count) else {
      throw ImportFault(reason: "\(name) must be 2 to 200 hexadecimal digits")
    }
    switch values[.environment] ?? "production" {
    case "production": return (token, .production)
    case "sandbox", "development": return (token, .sandbox)
    default: throw ImportFault(reason: "apns_environment must be production or sandbox")
    }
  }
}
