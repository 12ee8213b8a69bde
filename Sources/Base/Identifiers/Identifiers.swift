/// Row number of an app in the database; small and never reused, so it also indexes arrays.
public struct AppID: Hashable, Sendable {
  /// The database's row number, from 1.
  public let rawValue: UInt32

  /// Wraps a row number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// Row number of an account in the database; never reused.
public struct AccountID: Hashable, Sendable {
  /// The database's row number, from 1.
  public let rawValue: UInt32

  /// Wraps a row number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// The operator's account; apps belong to it by default.
  public static let standard = AccountID(1)
}

/// The public key of an app: 24 lower-case hexadecimal digits (12 bytes), as JPush issues them.
public struct AppKey: Hashable, Sendable {
  /// The first 16 digits.
  public let high: UInt64
  /// The last 8 digits.
  public let low: UInt32

  /// Makes a key from its two halves.
  public init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// A new key from the kernel's random numbers.
  public static func random() -> AppKey {
    AppKey(high: SystemRandom.next(), low: UInt32(truncatingIfNeeded: SystemRandom.next()))
  }

  /// Reads 24 lower-case hexadecimal digits; anything else gives nil.
  @inlinable
  public init?(hex text: some Collection<UInt8>) {
    guard text.count == 24, let high = Hex.value(text.prefix(16)), let low = Hex.value(text.dropFirst(16))
    else { return nil }
    self.init(high: high, low: UInt32(low))
  }

  /// Reads 24 lower-case hexadecimal digits; anything else gives nil.
  public init?(_ text: String) { self.init(hex: Array(text.utf8)) }

  /// The 24 digits.
  public var text: String { Hex.digits(high, count: 16) + Hex.digits(UInt64(low), count: 8) }
}

/// Names one install of one app on one device: 19 lower-case hexadecimal digits (76 bits), as JPush issues
/// them. Opaque and random; unique over the whole installation.
public struct RegistrationID: Hashable, Sendable {
  /// The first 16 digits.
  public let high: UInt64
  /// The last 3 digits: only the low 12 bits are used.
  public let low: UInt16

  /// Makes an ID from its two halves; only 12 bits of `low` count.
  public init(high: UInt64, low: UInt16) {
    self.high = high
    self.low = low & 0xfff
  }

  /// Reads 19 hexadecimal digits, or the 11 of JPush's oldest IDs, in either case; anything else gives nil.
  /// Lists of a thousand are read for a push.
  public init?(_ text: String) {
    var (high, low): (UInt64, UInt16) = (0, 0)
    let isValid = text.withUTF8Span { bytes in
      guard bytes.count == 19 || bytes.count == Self.shortLength else { return false }
      // Looked at once at the end: a branch for each digit costs more than the rest.
      var isValid = true
      let split = bytes.count - 3
      for index in 0..<split { high = high << 4 | UInt64(Hex.digit(bytes[index], &isValid)) }
      for index in split..<bytes.count { low = low << 4 | UInt16(Hex.digit(bytes[index], &isValid)) }
      return isValid
    }
    guard isValid else { return nil }
    self.init(high: high, low: low)
  }

  /// Digits of JPush's oldest IDs, such as 0207870f1b8. One is the 19 digits with eight zeros before it.
  static let shortLength = 11

  /// The 19 digits, or the 11 of an ID whose first eight are zeros.
  public var text: String {
    Hex.digits(high, count: high >> 32 == 0 ? Self.shortLength - 3 : 16) + Hex.digits(UInt64(low), count: 3)
  }
}

/// Compact number of a registration within its app: counts up from 0 and is never reused, so that audiences
/// are sets of small integers. Never leaves the server.
public struct RegistrationNumber: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt32

  /// Wraps a number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// Orders by age: the older registration first.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names one accepted push. Grows with time over the whole installation and stays below 2^53, so that it
/// survives JSON numbers in JavaScript and Java's `long`.
public struct MessageID: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt64

  /// Wraps a number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// 2024-01-01T00:00:00Z in Unix milliseconds: where the time part of an ID starts counting.
  public static let epochMilliseconds: Int64 = 1_704_067_200_000

  /// The smallest ID that a push accepted at the given time can have: 41 bits of milliseconds, 12 bits of
  /// counter. Of the counter, seven bits are a slot where several processes give IDs.
  public init(firstAt time: Timestamp) {
    rawValue = UInt64(max(0, time.milliseconds - Self.epochMilliseconds)) << 12
  }

  /// The time that the ID carries: when its push was accepted, unless the clock had jumped back.
  public var time: Timestamp {
    Timestamp(milliseconds: Int64(rawValue >> 12) + Self.epochMilliseconds)
  }

  /// The ID after this one, never earlier than the given time: strictly growing even when the clock jumps
  /// back.
  public func next(at time: Timestamp) -> MessageID {
    MessageID(max(rawValue + 1, MessageID(firstAt: time).rawValue))
  }

  /// Reads a decimal number of 1 to 19 digits.
  @inlinable
  public init?(decimal text: some Collection<UInt8>) {
    guard (1...19).contains(text.count) else { return nil }
    var value: UInt64 = 0
    for byte in text {
      guard (48...57).contains(byte) else { return nil }
      value = value * 10 + UInt64(byte - 48)
    }
    self.init(value)
  }

  /// The same among the IDs of a slot. Those of two slots are never equal; those of one follow in steps of
  /// 128, 32 in a millisecond: more run ahead of the clock.
  public func next(at time: Timestamp, in slot: MessageSlot) -> MessageID {
    let first = next(at: time).rawValue
    let own = first & ~MessageSlot.mask | UInt64(slot.rawValue)
    return MessageID(own < first ? own + MessageSlot.mask + 1 : own)
  }

  /// The decimal digits.
  public var text: String { String(rawValue) }

  /// Orders by time of acceptance.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The lower seven bits of the IDs that one of several processes gives, so that they never give the same.
public struct MessageSlot: Hashable, Sendable {
  /// The bits, 0 to 127.
  public let rawValue: UInt8

  /// No bit.
  public static let first = MessageSlot()

  /// The bits of an ID that are a slot.
  static let mask: UInt64 = 127

  private init() { rawValue = 0 }

  /// Nil for a number over 127.
  public init?(_ number: Int) {
    guard (0...Int(Self.mask)).contains(number) else { return nil }
    rawValue = UInt8(number)
  }
}

/// The platform of a device. The raw values are used on the wire and in the database.
public enum Platform: UInt8, CaseIterable, Sendable {
  /// Apple's iOS and iPadOS.
  case ios = 1
  /// Android.
  case android = 2
  /// HarmonyOS.
  case hmos = 3
  /// Quick apps.
  case quickapp = 4

  /// The name used by JPush's API.
  public var name: String {
    switch self {
    case .ios: "ios"
    case .android: "android"
    case .hmos: "hmos"
    case .quickapp: "quickapp"
    }
  }

  /// Finds a platform by JPush's name for it.
  public init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

/// A set of platforms in one byte.
public struct PlatformSet: OptionSet, Hashable, Sendable {
  /// One bit for each platform: `1 << platform.rawValue`.
  public let rawValue: UInt8

  /// Wraps the bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The set of one platform.
  public init(_ platform: Platform) { rawValue = 1 << platform.rawValue }

  /// Every platform.
  public static let all = PlatformSet(rawValue: 0b11110)

  /// Whether the set contains a platform.
  public func contains(_ platform: Platform) -> Bool { contains(PlatformSet(platform)) }
}

/// The APNs environment of a token. The raw values are used on the wire and in the database.
public enum APNsEnvironment: UInt8, Sendable {
  /// The device has no token.
  case none = 0
  /// App Store, TestFlight and ad-hoc builds.
  case production = 1
  /// Builds started from Xcode.
  case sandbox = 2
}

extension APNsEnvironment {
  /// `production` or `sandbox`, as in settings, metrics and logs.
  public var name: String {
    switch self {
    case .none: "none"
    case .production: "production"
    case .sandbox: "sandbox"
    }
  }
}
