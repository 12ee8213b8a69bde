/// A fact about a device that an app may ask for. The raw values are used in the device protocol and in the
/// database.
public enum DeviceFact: UInt8, CaseIterable, Sendable {
  /// The language that the user reads, as a BCP 47 tag.
  case language = 1
  /// The time zone, as a name of the IANA database.
  case timeZone = 2
  /// The name of the operating system.
  case system = 3
  /// Its version.
  case systemVersion = 4
  /// The model of the device, as its maker names it.
  case model = 5
  /// The version of the app.
  case appVersion = 6
  /// The store or the campaign that the app was installed from.
  case storeChannel = 7
  /// Whether the app may show notifications: `on`, `off` or `not_asked`.
  case notificationPermission = 8
  /// Whether the user has opted out of pushes in the app: `yes` or `no`.
  case optedOut = 9

  /// Most bytes of a value.
  public static let maximumBytes = 64

  /// Its name in APIs.
  public var name: String {
    switch self {
    case .language: "language"
    case .timeZone: "time_zone"
    case .system: "system"
    case .systemVersion: "system_version"
    case .model: "model"
    case .appVersion: "app_version"
    case .storeChannel: "store_channel"
    case .notificationPermission: "notification_permission"
    case .optedOut: "opted_out"
    }
  }

  /// The fact with a name in APIs, nil if there is none.
  public init?(name: String) {
    guard let fact = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = fact
  }

  /// The only values that it may have; nil if it may have any text.
  public var values: [String]? {
    switch self {
    case .notificationPermission: ["on", "off", "not_asked"]
    case .optedOut: ["yes", "no"]
    default: nil
    }
  }

  /// Whether it may have a value; an empty one means that the device does not say.
  public func accepts(_ value: String) -> Bool {
    guard !value.isEmpty else { return true }
    if let values { return values.contains(value) }
    return value.utf8.count <= Self.maximumBytes
      && value.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
  }
}

/// Some facts. The raw value has a bit for each, the lowest for the fact 1; it is used in the device protocol
/// and in the database.
public struct DeviceFactSet: OptionSet, Hashable, Sendable {
  /// The bits. Those of unknown facts have no meaning.
  public let rawValue: UInt16

  /// Wraps bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// One fact.
  public init(_ fact: DeviceFact) { rawValue = 1 << UInt16(fact.rawValue - 1) }

  /// All that there are.
  public static let all = DeviceFactSet(DeviceFact.allCases.map { DeviceFactSet($0) })

  /// Its facts, in the order of their numbers.
  public var facts: [DeviceFact] { DeviceFact.allCases.filter(contains) }

  /// The names of its facts, `none` if there are none.
  public var text: String { isEmpty ? "none" : facts.map(\.name).joined(separator: ", ") }

  /// Whether it has a fact.
  public func contains(_ fact: DeviceFact) -> Bool { contains(DeviceFactSet(fact)) }
}
