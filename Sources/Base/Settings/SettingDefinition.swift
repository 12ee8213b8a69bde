/// One setting of a subcommand. The name `data-dir` is the flag `--data-dir`, the variable
/// `BOREALIS_DATA_DIR` and the line `data-dir = ...` of the configuration file.
public struct SettingDefinition: Sendable {
  /// The kind of a setting's values.
  public enum Kind: Equatable, Sendable {
    /// Any text but the empty one.
    case text
    /// Texts separated by commas; the flag may be given several times.
    case list
    /// One of some words.
    case choice([String])
    /// A decimal number in a range.
    case number(ClosedRange<Int>)
    /// `HOST:PORT`, see `HostPort`.
    case address
    /// A number with ms, s, m, h or d; read as milliseconds.
    case duration
    /// `true` or `false`; as a flag it needs no value.
    case flag
    /// A number of bytes, with K, M or G for powers of 1024.
    case size
    /// A secret that may be in a file: `name-file` and `BOREALIS_NAME_FILE` name the file. Never shown.
    case secret
  }

  /// Lower-case words with hyphens.
  public let name: String
  /// The placeholder of the value in help, such as `HOST:PORT`.
  public let valueName: String
  /// One sentence for help.
  public let help: String
  /// The default, in the notation of the kind; nil for none.
  public let defaultValue: String?
  /// The kind of its values.
  public let kind: Kind

  /// Describes a setting.
  public init(name: String, valueName: String, help: String, default defaultValue: String? = nil, kind: Kind)
  {
    self.name = name
    self.valueName = valueName
    self.help = help
    self.defaultValue = defaultValue
    self.kind = kind
  }

  /// What the names of all variables begin with.
  static let prefix = "BOREALIS_"

  /// The environment variable.
  public var variable: String {
    Self.prefix + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
  }

  /// The environment variables: a secret may also be in a file that a second one names.
  public var variables: [String] { forms.map(\.variable) }

  /// The setting, and for a secret also the one that names its file.
  public var forms: [SettingDefinition] {
    guard kind == .secret else { return [self] }
    return [self, SettingDefinition(name: name + "-file", valueName: "PATH", help: help, kind: .text)]
  }
}

/// A host and a port as in `127.0.0.1:8080`, `localhost:0` or `[::1]:0`.
public struct HostPort: Equatable, Sendable {
  /// A name or an address, without brackets.
  public let host: String
  /// The port; 0 lets the system choose.
  public let port: UInt16

  /// Reads `HOST:PORT`; an IPv6 address is in brackets. Nil for anything else.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"),
      let port = Decimal.read(text[text.index(after: colon)...]).flatMap({ UInt16(exactly: $0) })
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("[") {
      guard host.hasSuffix("]") else { return nil }
      host = host.dropFirst().dropLast()
      guard host.contains(":"), host.utf8.allSatisfy({ !Array("[]/ ".utf8).contains($0) }) else { return nil }
    } else {
      guard host.utf8.allSatisfy({ $0 > 32 && !Array(":[]/".utf8).contains($0) }) else { return nil }
    }
    guard !host.isEmpty else { return nil }
    self.host = String(host)
    self.port = port
  }
}

/// Numbers in settings.
enum Decimal {
  /// Decimal digits only: no sign, no spaces.
  static func read(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(text)
  }

  /// Digits and one of the units; nil on overflow.
  static func read(_ text: String, units: KeyValuePairs<String, Int>) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard let number = read(digits), let factor = units.first(where: { $0.key == unit })?.value else {
      return nil
    }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }

  static func milliseconds(_ text: String) -> Int? {
    read(text, units: ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000])
  }

  static func bytes(_ text: String) -> Int? {
    read(text, units: ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30])
  }
}
