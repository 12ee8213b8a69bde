/// A wrong setting: one line that names the flag, the variable or the place in the file.
public struct SettingsError: Error, Equatable, CustomStringConvertible {
  /// The line.
  public let description: String
}

/// The settings of one subcommand: a flag overrides the environment, which overrides the configuration file,
/// which overrides the default. Every value was checked against its kind.
public struct Settings: Sendable {
  private var values: [String: String] = [:]

  /// Reads flags (`--name value`, `--name=value`), `BOREALIS_*` variables and the text of a configuration
  /// file. `readFile` returns a secret's file, nil if it cannot be read. Variables outside `definitions`
  /// belong to other subcommands and are ignored; unknown flags and unknown names in the file are errors.
  public init(
    _ definitions: [SettingDefinition], arguments: [String], environment: [String: String],
    file: (name: String, text: String)?, readFile: (String) -> String?
  ) throws(SettingsError) {
    let table = Self.table(definitions)
    var sources: [[String: Given]] = []
    sources.append(try Self.flags(arguments, table))
    var variables: [String: Given] = [:]
    for (name, definition) in table {
      if let value = environment[definition.variable] {
        variables[name] = Given(value: value, origin: definition.variable)
      }
    }
    sources.append(variables)
    if let file { sources.append(try Self.lines(file.name, file.text, table)) }
    for definition in definitions {
      for source in sources {
        guard let given = try Self.pick(definition, source, readFile) else { continue }
        if values[definition.name] == nil { values[definition.name] = given.value }
      }
      if values[definition.name] == nil { values[definition.name] = definition.defaultValue }
    }
  }

  private struct Given {
    let value: String
    let origin: String
  }

  /// With `name-file` for each secret.
  private static func table(_ definitions: [SettingDefinition]) -> [String: SettingDefinition] {
    var table: [String: SettingDefinition] = [:]
    for form in definitions.flatMap(\.forms) { table[form.name] = form }
    return table
  }

  private static func flags(
    _ arguments: [String], _ table: [String: SettingDefinition]
  ) throws(SettingsError) -> [String: Given] {
    var found: [String: Given] = [:]
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        throw SettingsError(description: "unexpected argument \"\(argument)\"")
      }
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts.first ?? "")
      guard let definition = table[name] else { throw SettingsError(description: "unknown flag --\(name)") }
      let before = found[name]?.value
      guard before == nil || definition.kind == .list else {
        throw SettingsError(description: "--\(name) is given twice")
      }
      var value = parts.count > 1 ? String(parts[1]) : nil
      if value == nil { value = definition.kind == .flag ? "true" : rest.popFirst() }
      guard let value else { throw SettingsError(description: "--\(name) needs \(definition.valueName)") }
      found[name] = Given(value: before.map { $0 + "," + value } ?? value, origin: "--\(name)")
    }
    return found
  }

  private static func lines(
    _ file: String, _ text: String, _ table: [String: SettingDefinition]
  ) throws(SettingsError) -> [String: Given] {
    var found: [String: Given] = [:]
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, raw) in lines.enumerated() {
      let origin = "\(file):\(index + 1)"
      let line = raw.withoutOuterWhitespace
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let equals = line.firstIndex(of: "=") else {
        throw SettingsError(description: "\(origin): expected \"name = value\"")
      }
      let name = line[..<equals].withoutOuterWhitespace
      guard table[name] != nil else {
        throw SettingsError(description: "\(origin): unknown name \"\(name)\"")
      }
      guard found[name] == nil else { throw SettingsError(description: "\(origin): \(name) is given twice") }
      let value = line[line.index(after: equals)...].withoutOuterWhitespace
      found[name] = Given(value: value, origin: "\(origin): \(name)")
    }
    return found
  }

  private static func pick(
    _ definition: SettingDefinition, _ source: [String: Given], _ readFile: (String) -> String?
  ) throws(SettingsError) -> Given? {
    let plain = source[definition.name]
    if definition.kind == .secret, let path = source[definition.name + "-file"] {
      if let plain {
        throw SettingsError(
          description: "\(plain.origin) and \(path.origin) exclude each other: pass only one of them")
      }
      guard let text = readFile(path.value) else {
        throw SettingsError(description: "\(path.origin): cannot read \"\(path.value)\"")
      }
      // Blanks may belong to a password; the end of its line does not.
      let value = String(text.reversed().drop { $0.isNewline }.reversed())
      guard value.contains(where: { !$0.isWhitespace }) else {
        throw SettingsError(description: "\(path.origin): \"\(path.value)\" is empty")
      }
      return Given(value: value, origin: path.origin)
    }
    guard let plain else { return nil }
    if let expected = complaint(plain.value, definition.kind) {
      let shown = definition.kind == .secret ? "" : ", not \"\(plain.value)\""
      throw SettingsError(description: "\(plain.origin): expected \(expected)\(shown)")
    }
    return plain
  }

  /// What was expected, nil when the value is valid.
  private static func complaint(_ value: String, _ kind: SettingDefinition.Kind) -> String? {
    switch kind {
    case .text, .secret: value.isEmpty ? "a value" : nil
    case .list: value.contains { $0 != "," } ? nil : "a value"
    case .choice(let words): words.contains(value) ? nil : words.joined(separator: " or ")
    case .number(let range):
      Decimal.read(value).map(range.contains) == true
        ? nil : "a number from \(range.lowerBound) to \(range.upperBound)"
    case .address: HostPort(value) == nil ? "HOST:PORT" : nil
    case .duration: Decimal.milliseconds(value) == nil ? "a duration such as 500ms, 30s, 5m, 2h or 1d" : nil
    case .flag: value == "true" || value == "false" ? nil : "true or false"
    case .size: Decimal.bytes(value) == nil ? "a size such as 4096, 64K, 16M or 1G" : nil
    }
  }

  /// The text of a setting, nil if it is not set.
  public func text(_ name: String) -> String? { values[name] }
  /// The texts of a list, in order; empty if it is not set.
  public func list(_ name: String) -> [String] {
    (values[name] ?? "").split(separator: ",").map { String($0) }
  }
  /// A number.
  public func number(_ name: String) -> Int? { values[name].flatMap { Decimal.read($0) } }
  /// A host and port.
  public func address(_ name: String) -> HostPort? { values[name].flatMap { HostPort($0) } }
  /// A duration in milliseconds.
  public func milliseconds(_ name: String) -> Int? { values[name].flatMap { Decimal.milliseconds($0) } }
  /// A size in bytes.
  public func bytes(_ name: String) -> Int? { values[name].flatMap { Decimal.bytes($0) } }
  /// A flag, false if it is not set.
  public func flag(_ name: String) -> Bool { values[name] == "true" }

  /// The text of `--help`: one entry for each setting.
  public static func help(usage: String, summary: String, _ definitions: [SettingDefinition]) -> String {
    var text = "usage: \(usage)\n\n\(summary)\n\n"
    for definition in definitions {
      text += "  --\(definition.name)" + (definition.kind == .flag ? "" : " \(definition.valueName)") + "\n"
      text += "      \(definition.help)"
      if definition.kind == .list { text += " May be given several times." }
      if let value = definition.defaultValue { text += " Default: \(value)." }
      text += "\n"
      if definition.kind == .secret { text += "      --\(definition.name)-file PATH reads it from a file.\n" }
    }
    guard let first = definitions.first else { return text }
    text += "\nEach setting may also be a variable (--\(first.name): \(first.variable))"
    if definitions.contains(where: { $0.name == "config" }) {
      text += ", or a line of the file that\n--config names (\(first.name) = value)."
      text += " A flag wins over the variable, the variable over the file.\n"
    } else {
      text += ". A flag wins over the variable.\n"
    }
    return text
  }
}
