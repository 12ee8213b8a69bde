/// A moment on the wall clock, in Unix milliseconds. May jump when the operator or NTP sets the clock.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Wraps Unix milliseconds.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
  public var seconds: Int64 { milliseconds.quotientFloored(by: 1000) }

  /// A moment later by some seconds; saturates instead of overflowing.
  public func adding(seconds: Int64) -> Timestamp {
    let (delta, over) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, wrapped) = milliseconds.addingReportingOverflow(over ? (seconds < 0 ? .min : .max) : delta)
    return Timestamp(milliseconds: wrapped ? (seconds < 0 ? .min : .max) : sum)
  }

  /// Orders by time.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

extension Int64 {
  fileprivate func quotientFloored(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

/// Where code gets the time from: the system's clocks, or a test's.
public protocol TimeSource: Sendable {
  /// The wall clock.
  func now() -> Timestamp
  /// Nanoseconds on a clock that never jumps; only differences mean something.
  func monotonic() -> UInt64
  /// The same on a clock that also counts while the machine is suspended.
  func sinceBoot() -> UInt64
}

extension TimeSource {
  /// Of a clock that no machine suspends.
  public func sinceBoot() -> UInt64 { monotonic() }

  /// What the wall clock would have shown, as it goes now, at an earlier moment of the clock since boot.
  public func wall(ofBoot moment: UInt64) -> Timestamp {
    let reading = sinceBoot()
    let age = reading > moment ? reading - moment : 0
    return Timestamp(milliseconds: now().milliseconds - Int64(age / 1_000_000))
  }
}
