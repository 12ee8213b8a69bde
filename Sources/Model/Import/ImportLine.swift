import BorealisBase

/// The reason why a line of an imported file is refused.
package struct ImportFault: Error, Equatable, Sendable {
  /// For people.
  package let reason: String

  /// Makes a fault.
  package init(reason: String) { self.reason = reason }
}

/// A registration of another platform from a line of a file, validated by the rules of the device API. A
/// field that is wrong is left out, and does not keep the device from being imported; only a line without a
/// device is refused.
package struct ImportLine: Equatable, Sendable {
  /// The ID that it had: 1 to 58 visible ASCII characters.
  package var registrationID: String
  /// What the device runs.
  package var platform: Platform
  /// Its alias, if it has one.
  package var alias: String?
  /// Its tags; in the file with `;` between them, with a space in a file of Getui's. No name can hold either.
  package var tags: [String] = []
  /// Its ordinary tokens of channels.
  package var tokens: [PushToken] = []
  /// Its mobile number, if it has one.
  package var mobile: String?
  /// Its facts.
  package var facts: [DeviceFact: String] = [:]
  /// What was left out, and why; for people.
  package var leftOut: [String] = []

  /// The most reasons that are listed for one kind of field.
  private static let listedReasons = 20

  /// Checks a line.
  package init(
    _ fields: [String], _ columns: ImportColumns, rules: PushRules = PushRules()
  ) throws(ImportFault) {
    let values = try columns.values(fields)
    let (source, names) = (columns.source, columns.source.columns)
    func name(_ column: ImportColumns.Column) -> String { names[column.rawValue] }
    let id = values[.registrationID] ?? ""
    guard (1...58).contains(id.utf8.count), id.utf8.allSatisfy({ (33...126).contains($0) }) else {
      throw ImportFault(reason: "\(name(.registrationID)) must have 1 to 58 visible ASCII characters")
    }
    registrationID = id
    guard let platform = values[.platform].flatMap({ source.platform($0) }) else {
      throw ImportFault(reason: "\(name(.platform)) must be one of \(source.platforms)")
    }
    self.platform = platform
    alias = values[.alias]
    if let alias, let complaint = source.complaint(alias: alias, rules) {
      leftOut.append("alias \"\(alias.prefix(64))\" \(complaint)")
      self.alias = nil
    }
    readTags(values[.tags], source, rules)
    readTokens(values, columns, name(.token))
    mobile = values[.mobile]
    if let mobile, !NameRules.isMobile(mobile) {
      leftOut.append("mobile must be a + or a digit, then digits and -, at most 20 characters")
      self.mobile = nil
    }
    for (fact, place) in columns.facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let value = values[place: place] else { continue }
      if fact.accepts(value) {
        facts[fact] = value
      } else {
        leftOut.append("\(ImportColumns.name(of: fact)) must \(Self.rule(of: fact))")
      }
    }
  }

  private static func rule(of fact: DeviceFact) -> String {
    fact.values.map { "be one of \($0.joined(separator: ", "))" }
      ?? "have at most \(DeviceFact.maximumBytes) bytes and no control characters"
  }

  private mutating func readTags(_ text: String?, _ source: ImportSource, _ rules: PushRules) {
    var seen: Set<ExactName> = []
    var complaints: [String] = []
    var excess = 0
    for part in (text ?? "").split(separator: source.tagSeparator) {
      let tag = String(part).trimmed
      guard !tag.isEmpty, seen.insert(ExactName(tag)).inserted else { continue }
      if let complaint = source.complaint(tag: tag, rules) {
        complaints.append("tag \"\(tag.prefix(64))\" \(complaint)")
      } else if tags.count < source.maximumTags {
        tags.append(tag)
      } else {
        excess += 1
      }
    }
    leftOut += complaints.prefix(Self.listedReasons)
    if complaints.count > Self.listedReasons {
      leftOut.append("\(complaints.count - Self.listedReasons) more tags are not valid")
    }
    if excess > 0 {
      leftOut.append("\(excess) tags are more than the \(source.maximumTags) of a device")
    }
  }

  private mutating func readTokens(
    _ values: ImportColumns.Values, _ columns: ImportColumns, _ ownName: String
  ) {
    do throws(ImportFault) {
      if let token = try Self.ordinaryToken(values, platform, ownName) { tokens.append(token) }
    } catch {
      leftOut.append(error.reason)
    }
    for channel in columns.channels {
      do throws(ImportFault) {
        guard let token = try Self.token(values, channel, platform) else { continue }
        guard !tokens.contains(where: { $0.slot == token.slot }) else {
          throw ImportFault(reason: "\(channel.info.name) has two tokens; the first one counts")
        }
        tokens.append(token)
      } catch {
        leftOut.append(error.reason)
      }
    }
  }

  /// The token of a channel in its columns. A service without a token means nothing.
  private static func token(
    _ values: ImportColumns.Values, _ columns: ImportColumns.ChannelColumns, _ platform: Platform
  ) throws(ImportFault) -> PushToken? {
    let (info, kind) = (columns.info, columns.kind)
    guard let text = values[place: columns.token] else { return nil }
    guard info.platforms.contains(platform) else {
      throw ImportFault(reason: "\(info.name) does not reach devices on \(platform.name)")
    }
    guard let bytes = kind.bytes(text), !bytes.isEmpty else {
      throw ImportFault(
        reason:
          "\(ImportColumns.ChannelColumns.token(info)) must be at most \(kind.maximumBytes) bytes as \(kind.form.english)"
      )
    }
    guard let service = info.service(named: values[place: columns.service]) else {
      throw ImportFault(
        reason: "\(ImportColumns.ChannelColumns.service(info)) must be one of "
          + info.services.map(\.name).joined(separator: ", "))
    }
    return PushToken(TokenSlot(info.id, kind: kind.number), service, bytes)
  }

  /// The token in the source's own columns, which are older than other channels: of APNs. An environment
  /// without a token means nothing.
  private static func ordinaryToken(
    _ values: ImportColumns.Values, _ platform: Platform, _ name: String
  ) throws(ImportFault) -> PushToken? {
    guard let text = values[.token] else { return nil }
    guard platform == .ios else { throw ImportFault(reason: "only ios has \(name)") }
    guard let token = Hex.decode(text.lowercased()), (1...100).contains(token.count) else {
      throw ImportFault(reason: "\(name) must be 2 to 200 hexadecimal digits")
    }
    switch (values[.environment] ?? "production").lowercased() {
    case "production": return PushToken(.production, token)
    case "sandbox", "development": return PushToken(.sandbox, token)
    default: throw ImportFault(reason: "apns_environment must be production or sandbox")
    }
  }
}
