import CLinux

/// The system's clocks.
public struct SystemTime: TimeSource {
  /// Nothing to set up.
  public init() {}

  /// CLOCK_REALTIME.
  public func now() -> Timestamp { Timestamp(milliseconds: cl_wall_ms()) }

  /// CLOCK_MONOTONIC.
  public func monotonic() -> UInt64 { cl_monotonic_ns() }

  /// CLOCK_BOOTTIME.
  public func sinceBoot() -> UInt64 { cl_boottime_ns() }
}
