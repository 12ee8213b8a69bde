import CLinux

/// The severity of a log line.
public enum LogLevel: Int, Comparable, Sendable, CaseIterable {
  case debug, info, warning, error

  /// The word in the log.
  public var name: String {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    }
  }

  /// Orders by severity.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A value beside a log line.
public enum LogValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  case text(String)
  case number(Int64)
  case flag(Bool)

  /// A text value.
  public init(stringLiteral value: String) { self = .text(value) }
  /// A number.
  public init(integerLiteral value: Int64) { self = .number(value) }
  /// A flag.
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

/// Structured log lines: text for people or one JSON object a line, to standard error. A line about a call
/// that belongs to a trace ends with the trace's ID, under `trace`.
/// Never pass a secret, a token or the body of a push.
public struct Log: Sendable {
  /// How lines look.
  public enum Format: Sendable { case text, json }

  private let level: LogLevel
  private let format: Format
  private let write: @Sendable ([UInt8]) -> Void

  /// Writes lines of `level` and above to standard error, or to `write`, whole lines at a time.
  public init(
    level: LogLevel = .info, format: Format = .text,
    write: @escaping @Sendable ([UInt8]) -> Void = { OutputQueue.standardError.write($0) }
  ) {
    self.level = level
    self.format = format
    self.write = write
  }

  /// A log that writes nothing.
  public static let silent = Log(level: .error, write: { _ in })

  /// Logs details for debugging.
  public func debug(
    _ message: StaticString, _ values: @autoclosure () -> KeyValuePairs<String, LogValue> = [:],
    trace: @autoclosure () -> String? = nil
  ) {
    if level <= .debug { emit(.debug, message, values(), trace()) }
  }

  /// Logs normal events that an operator wants to see.
  public func info(
    _ message: StaticString, _ values: @autoclosure () -> KeyValuePairs<String, LogValue> = [:],
    trace: @autoclosure () -> String? = nil
  ) {
    if level <= .info { emit(.info, message, values(), trace()) }
  }

  /// Logs events that need attention.
  public func warning(
    _ message: StaticString, _ values: @autoclosure () -> KeyValuePairs<String, LogValue> = [:],
    trace: @autoclosure () -> String? = nil
  ) {
    if level <= .warning { emit(.warning, message, values(), trace()) }
  }

  /// Logs a failure.
  public func error(
    _ message: StaticString, _ values: @autoclosure () -> KeyValuePairs<String, LogValue> = [:],
    trace: @autoclosure () -> String? = nil
  ) {
    emit(.error, message, values(), trace())
  }

  private func emit(
    _ level: LogLevel, _ message: StaticString, _ values: KeyValuePairs<String, LogValue>, _ trace: String?
  ) {
    write(line(level, message, values, trace: trace))
  }

  /// A line as the log has it, with its end, for those who write it themselves.
  public func line(
    _ level: LogLevel, _ message: StaticString, _ values: KeyValuePairs<String, LogValue>,
    trace: String? = nil
  ) -> [UInt8] {
    var line = ""
    let time = Self.iso8601(cl_wall_ms())
    switch format {
    case .text:
      line += "\(time) \(level.name) \(message)"
      for (key, value) in values { line += " \(key)=\(Self.text(value))" }
      if let trace { line += " trace=\(Self.text(.text(trace)))" }
    case .json:
      line += "{\"time\":\"\(time)\",\"level\":\"\(level.name)\",\"message\":\(Self.quoted("\(message)"))"
      for (key, value) in values { line += ",\(Self.quoted(key)):\(Self.json(value))" }
      if let trace { line += ",\"trace\":\(Self.quoted(trace))" }
      line += "}"
    }
    line += "\n"
    return Array(line.utf8)
  }

  private static func text(_ value: LogValue) -> String {
    switch value {
    case .number(let number): return String(number)
    case .flag(let flag): return flag ? "true" : "false"
    case .text(let text):
      let plain = text.utf8.allSatisfy { $0 > 32 && $0 != 34 && $0 != 61 && $0 != 92 && $0 < 127 }
      return plain && !text.isEmpty ? text : quoted(text)
    }
  }

  private static func json(_ value: LogValue) -> String {
    switch value {
    case .number(let number): String(number)
    case .flag(let flag): flag ? "true" : "false"
    case .text(let text): quoted(text)
    }
  }

  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      default: append(scalar, to: &out)
      }
    }
    return out + "\""
  }

  /// The text with `\uXXXX`, as in JSON, for each character that a terminal would not just show.
  public static func visible(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars { append(scalar, to: &out) }
    return out
  }

  private static func append(_ scalar: Unicode.Scalar, to out: inout String) {
    guard isHidden(scalar) else { return out.unicodeScalars.append(scalar) }
    for unit in String(scalar).utf16 { out += "\\u" + Hex.digits(UInt64(unit), count: 4) }
  }

  /// Whether a terminal interprets a character, or hides or reorders text because of it, instead of showing
  /// it.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// UTC time with milliseconds, e.g. `2026-01-31T09:15:00.123Z`.
  public static func iso8601(_ milliseconds: Int64) -> String {
    let (days, inDay) = floorDivide(milliseconds, 86_400_000)
    let (year, month, day) = civil(days)
    func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(inDay / 3_600_000, 2)):"
      + "\(padded(inDay / 60_000 % 60, 2)):\(padded(inDay / 1000 % 60, 2)).\(padded(inDay % 1000, 3))Z"
  }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
    let remainder = (value % divisor + divisor) % divisor
    return ((value - remainder) / divisor, remainder)
  }

  /// Days since 1970-01-01 to year, month and day of the proleptic Gregorian calendar.
  private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}
