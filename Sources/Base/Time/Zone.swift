import CLinux

/// The local time of a region. Calendar arithmetic needs only its offset.
public protocol Zone: Sendable {
  /// Seconds by which the region's clocks are ahead of UTC at a moment, given in seconds since
  /// 1970-01-01T00:00:00Z.
  func offset(at second: Int64) -> Int64
}

extension Zone {
  /// The local time at a moment.
  public func local(_ moment: Timestamp) -> LocalTime {
    LocalTime(count: moment.seconds &+ offset(at: moment.seconds))
  }

  /// The offset from UTC at a moment, such as `+08:00`.
  public func offsetText(at moment: Timestamp) -> String {
    let minutes = offset(at: moment.seconds) / 60
    func digits(_ value: Int64) -> String { value < 10 ? "0\(value)" : String(value) }
    let (hours, rest) = (abs(minutes) / 60, abs(minutes) % 60)
    return "\(minutes < 0 ? "-" : "+")\(digits(hours)):\(digits(rest))"
  }

  /// The moment at which the clocks show a time. The first of two if they are set back over it; if they are
  /// set forward over it and never show it, the first moment after that.
  public func moment(of time: LocalTime) -> Timestamp {
    let count = time.count
    // Clocks are never set twice within two days.
    let before = offset(at: count - 86_400)
    let after = offset(at: count + 86_400)
    let earlier = count - max(before, after)
    let later = count - min(before, after)
    let shown = [earlier, later].first { offset(at: $0) == count - $0 }
    let second = shown ?? firstSecond(of: after, from: earlier, to: later)
    return Timestamp(milliseconds: 0).adding(seconds: second)
  }

  /// The first second with an offset, between one with another and one with it.
  private func firstSecond(of offset: Int64, from earlier: Int64, to later: Int64) -> Int64 {
    var (low, high) = (earlier, later)
    while low < high {
      let middle = low + (high - low) / 2
      if self.offset(at: middle) == offset { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A zone with a constant offset.
public struct FixedZone: Zone {
  private let seconds: Int64

  /// Seconds ahead of UTC.
  public init(secondsEast: Int64) { seconds = secondsEast }

  /// The same at every moment.
  public func offset(at second: Int64) -> Int64 { seconds }

  /// UTC+8, which JPush runs on.
  public static let china = FixedZone(secondsEast: 8 * 3600)
}

/// The zone of this process, as the C library reads it from the system's zone files. UTC unless it was set.
public struct ProcessZone: Zone {
  /// The zone that was set, or UTC.
  public init() {}

  /// Sets the zone of the whole process to one such as `Asia/Shanghai`. Before the first thread starts: the C
  /// library reads the environment. Nil if the system has no such zone.
  public init?(settingTo name: String) {
    let isPlain = name.utf8.allSatisfy {
      switch $0 {
      case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "/"):
        true
      default: false
      }
    }
    // Without a full stop and with a leading name, the path stays in the folder of zones.
    guard isPlain, let first = name.utf8.first, first != UInt8(ascii: "/"),
      cl_set_zone("/usr/share/zoneinfo/" + name) == 0
    else { return nil }
  }

  /// The C library's offset; 0 for moments outside its calendar.
  public func offset(at second: Int64) -> Int64 { cl_utc_offset(second) }
}
