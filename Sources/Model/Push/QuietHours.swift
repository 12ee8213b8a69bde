import BorealisBase

/// The hours of a day in which devices are to get no notifications, by their own clocks: from one minute of
/// the day to another, over midnight if that is earlier.
package struct QuietHours: Sendable, Equatable {
  /// What becomes of a notification that would reach a device in these hours.
  package enum Action: String, CaseIterable, Sendable {
    /// It waits until they end.
    case hold
    /// The device does not get it.
    case drop
  }

  /// Minutes since midnight, which differ: the first that is quiet, and the first that is not any more.
  package let from, until: Int
  package let action: Action

  /// Minutes of a day.
  private static let day = 1440

  /// Nil unless both are minutes of a day, and differ.
  package init?(from: Int, until: Int, _ action: Action = .hold) {
    let day = 0..<Self.day
    guard from != until, day.contains(from), day.contains(until) else { return nil }
    (self.from, self.until, self.action) = (from, until, action)
  }

  /// When the hours end that a moment is in, by the clocks of a zone; nil if it is in none. That is the first
  /// moment at which the clocks show the end, or have passed over it. If they are set back over the end, the
  /// hours begin again, and end when the clocks show it for the second time.
  package func end(at now: Timestamp, in zone: any Zone) -> Timestamp? {
    let local = zone.local(now)
    let minute = local.secondOfDay / 60
    let isOverMidnight = from > until
    guard isOverMidnight ? minute >= from || minute < until : (from..<until).contains(minute) else {
      return nil
    }
    let date = isOverMidnight && minute >= from ? local.date.adding(days: 1) : local.date
    let end = LocalTime(date: date, secondOfDay: until * 60)
    let moment = zone.moment(of: end)
    guard moment <= now else { return moment }
    return Timestamp(milliseconds: 0).adding(seconds: now.seconds + end.count - local.count)
  }

  /// The hours of a zone that some of the moments between two are in: from the first of these moments until
  /// the hours end, the earliest first. Clocks that are set back into the hours long after these have ended
  /// begin no span.
  package func spans(
    from first: Timestamp, through last: Timestamp, in zone: any Zone
  ) -> [Range<Timestamp>] {
    var spans: [Range<Timestamp>] = []
    var moment = first
    while moment <= last {
      if let end = end(at: moment, in: zone) {
        spans.append(moment..<end)
        moment = end
      } else {
        moment = start(after: moment, in: zone)
      }
    }
    return spans
  }

  /// The next moment at which the clocks of a zone show the first minute of the hours, or pass over it.
  private func start(after now: Timestamp, in zone: any Zone) -> Timestamp {
    var date = zone.local(now).date
    while true {
      let moment = zone.moment(of: LocalTime(date: date, secondOfDay: from * 60))
      if moment > now { return moment }
      date = date.adding(days: 1)
    }
  }

  /// Reads a time of day such as `22:30` as minutes since midnight; nil for anything else.
  package static func minute(_ text: String) -> Int? { LocalTime.secondOfDay("\(text):00").map { $0 / 60 } }

  /// Writes a minute of the day, such as `22:30`.
  package static func text(_ minute: Int) -> String {
    func digits(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
    return "\(digits(minute / 60)):\(digits(minute % 60))"
  }
}

extension PushRequest {
  /// Whether devices in their quiet hours do not get it then: a notification of which the sender does not say
  /// that it is a system notification, or that it ignores quiet hours.
  package var keepsQuietHours: Bool { shownClass != nil && !options.ignoresQuietHours }
}

extension PushContent {
  /// The platforms on which it asks to break through what keeps devices quiet: iOS, for notifications that
  /// are time-sensitive or critical.
  package var urgentPlatforms: PlatformSet {
    let isUrgent = variants.contains { variant in
      variant.platforms.contains(.ios) && Self.isUrgent(variant.notification)
    }
    return isUrgent ? PlatformSet(.ios) : []
  }

  private static func isUrgent(_ notification: [UInt8]) -> Bool {
    guard !notification.isEmpty, let json = try? parseJSON(notification) else { return false }
    return ["time-sensitive", "critical"].contains(json["interruption-level"]?.string ?? "")
  }
}
