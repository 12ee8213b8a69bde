import BorealisBase

/// The columns of an imported file, in the order of its first line. Beside those of its source it may have
/// two for each channel: `token.NAME` with the device's ordinary token, and `service.NAME` with the name of
/// the service that it belongs to; and one for each fact that the app asks for, `fact.NAME`.
package struct ImportColumns: Equatable, Sendable {
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
  /// The positions of facts.
  let facts: [DeviceFact: Int]
  private let count: Int

  /// Reads the first line of a file whose tokens may be of some channels, for an app that asks for some
  /// facts. Upper case and blanks around a name do not count.
  package init(
    _ fields: [String], from source: ImportSource = .jpush, channels: [ChannelInfo] = [],
    facts asked: DeviceFactSet = []
  ) throws(ImportFault) {
    let names =
      source.columns
      + channels.filter { !$0.tokens.isEmpty }.flatMap { info in
        [ChannelColumns.token(info)] + (info.services.isEmpty ? [] : [ChannelColumns.service(info)])
      } + asked.facts.map(Self.name(of:))
    var places: [String: Int] = [:]
    for (place, field) in fields.enumerated() {
      let name = field.trimmed.lowercased()
      if let fact = DeviceFact.allCases.first(where: { Self.name(of: $0) == name }), !asked.contains(fact) {
        throw ImportFault(
          reason: "column \(place + 1) is named \(name), but the app does not ask its devices for this fact")
      }
      guard names.contains(name) else {
        throw ImportFault(reason: Self.complaint(name: field, column: place + 1, of: fields.count, names))
      }
      guard places.updateValue(place, forKey: name) == nil else {
        throw ImportFault(reason: "two columns are named \(name)")
      }
    }
    for name in names.prefix(2) where places[name] == nil {
      throw ImportFault(reason: "no column is named \(name); the first line must name the columns")
    }
    self.source = source
    self.places = source.columns.map { places[$0] }
    self.channels = channels.compactMap { info in
      let (token, service) = (places[ChannelColumns.token(info)], places[ChannelColumns.service(info)])
      guard let kind = info.tokens.first, token ?? service != nil else { return nil }
      return ChannelColumns(info: info, kind: kind, token: token, service: service)
    }
    facts = Dictionary(
      uniqueKeysWithValues: asked.facts.compactMap { fact in places[Self.name(of: fact)].map { (fact, $0) } })
    count = fields.count
  }

  /// The name of a fact's column.
  static func name(of fact: DeviceFact) -> String { "fact.\(fact.name)" }

  /// What is wrong with the name of a column that none has.
  private static func complaint(name: String, column: Int, of count: Int, _ names: [String]) -> String {
    if count == 1, name.contains(where: { $0 == ";" || $0 == "\t" || $0 == "|" }) {
      return "the columns must be separated by commas, not by semicolons, tabs or other characters"
    }
    return "column \(column) is named \"\(name.prefix(64))\"; the first line must name the columns: "
      + "\(names[0]) and \(names[1]), and any of \(names.dropFirst(2).joined(separator: ", "))"
  }

  /// The fields that the file has columns for.
  package var fields: ImportFields {
    var fields: ImportFields = channels.isEmpty && !has(.token) ? [] : .tokens
    if has(.alias) { fields.insert(.alias) }
    if has(.tags) { fields.insert(.tags) }
    if has(.mobile) { fields.insert(.mobile) }
    if !facts.isEmpty { fields.insert(.facts) }
    return fields
  }

  /// The position of a channel's tokens, nil if the file has none.
  package func place(ofTokensOf channel: ChannelID) -> Int? {
    channels.first { $0.info.id == channel }?.token
  }

  private func has(_ column: Column) -> Bool {
    places.indices.contains(column.rawValue) && places[column.rawValue] != nil
  }

  /// The fields of a line.
  func values(_ fields: [String]) throws(ImportFault) -> Values {
    guard fields.count == count else {
      throw ImportFault(
        reason: "the line has \(fields.count) fields, but the first line names \(count) columns")
    }
    return Values(fields: fields, places: places)
  }

  /// The fields of a line, by column, without blanks around them; empty ones are not there.
  struct Values {
    fileprivate let fields: [String]
    fileprivate let places: [Int?]

    subscript(_ column: Column) -> String? {
      guard places.indices.contains(column.rawValue), let place = places[column.rawValue] else { return nil }
      return self[place: place]
    }

    subscript(place place: Int?) -> String? {
      guard let place, fields.indices.contains(place) else { return nil }
      let text = fields[place].trimmed
      return text.isEmpty ? nil : text
    }
  }
}

/// Fields of registrations that an import updates.
package struct ImportFields: OptionSet, Sendable {
  /// One bit for each.
  package let rawValue: UInt8

  /// Some bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The alias; a registration without one loses its own.
  package static let alias = ImportFields(rawValue: 1)
  /// The tags; those that are not named are removed.
  package static let tags = ImportFields(rawValue: 2)
  /// The mobile number.
  package static let mobile = ImportFields(rawValue: 4)
  /// The tokens; those that are not named stay.
  package static let tokens = ImportFields(rawValue: 8)
  /// The facts; those that are not named stay.
  package static let facts = ImportFields(rawValue: 16)
}

extension String {
  /// Without blanks and tabs at both ends.
  var trimmed: String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
    guard let first = utf8.first, let last = utf8.last, isBlank(first) || isBlank(last) else { return self }
    guard let start = utf8.firstIndex(where: { !isBlank($0) }),
      let end = utf8.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[start...end])
  }
}
