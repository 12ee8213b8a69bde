import BorealisBase
import Model
import Storage

/// The clocks by which schedules fire: the server's, and those of devices.
///
/// A schedule that follows the clocks of devices fires at each moment at which those of some zone show its
/// time, whatever zones its app's devices are in then. Moment and time together are in order: in the evening
/// of one day in the west it is the next day in the east, so that two occurrences may take turns.
package struct ScheduleClocks: Sendable {
  package let server: any Zone
  /// Nil for those of the system.
  private let known: TimeZones?
  private var zones: TimeZones { known ?? .system }

  /// Seconds by which no clock is further from UTC.
  private static let span: Int64 = 86_400

  package init(server: any Zone, zones: TimeZones?) { (self.server, known) = (server, zones) }

  /// Reads the zones of the system if some of these apps have quiet hours, since these are looked up where
  /// nothing may block. The first time it blocks.
  func load(for apps: [AppRow]) { if apps.contains(where: { $0.quietHours != nil }) { _ = zones.count } }

  /// The zone that a device reports; the server's if it reports none, or one that is not known.
  func zone(_ name: String?) -> any Zone { name.flatMap { zones[$0] } ?? server }

  /// The moments at which some clock begins to show a time: the earliest first, each once.
  func moments(of local: LocalTime) -> [Timestamp] {
    var moments: Set<Timestamp> = [server.moment(of: local)]
    for zone in zones.all { moments.insert(zone.moment(of: local)) }
    return moments.sorted()
  }

  /// Whether clocks everywhere have shown the time of an occurrence by its moment.
  func isLast(_ occurrence: ScheduleRow.Occurrence) -> Bool {
    server.moment(of: occurrence.local) <= occurrence.at
      && zones.all.allSatisfy { $0.moment(of: occurrence.local) <= occurrence.at }
  }

  // MARK: Occurrences

  /// The first occurrence of a trigger that is set now. Throws 8100 if all have passed everywhere, or if a
  /// single one is more than a year away.
  package func first(of trigger: ScheduleTrigger, from now: Timestamp) throws(APIError)
    -> ScheduleRow.Occurrence
  {
    switch trigger.clocks {
    case .server: return server.occurrence(try trigger.first(from: now, in: server))
    case .device:
      let first = earliest(of: trigger, from: now) { moment, _ in moment > now }
      let local = try trigger.checked(first?.local, on: server.local(now).date)
      return first ?? server.occurrence(local)
    }
  }

  /// The occurrence after another one; nil if that was the last.
  func next(of trigger: ScheduleTrigger, after last: ScheduleRow.Occurrence) -> ScheduleRow.Occurrence? {
    switch trigger.clocks {
    case .server: return trigger.next(after: last.local).map { server.occurrence($0) }
    case .device:
      return earliest(of: trigger, from: last.at) { ($0, $1) > (last.at, last.local) }
    }
  }

  /// The last occurrence of a trigger, where clocks show it last.
  func last(of trigger: ScheduleTrigger, first: ScheduleRow.Occurrence) -> ScheduleRow.Occurrence {
    let local = trigger.last ?? first.local
    switch trigger.clocks {
    case .server: return server.occurrence(local)
    case .device:
      return ScheduleRow.Occurrence(local: local, at: moments(of: local).last ?? server.moment(of: local))
    }
  }

  /// The earliest of those occurrences from a moment on that are wanted.
  private func earliest(
    of trigger: ScheduleTrigger, from start: Timestamp, _ isWanted: (Timestamp, LocalTime) -> Bool
  ) -> ScheduleRow.Occurrence? {
    var best: ScheduleRow.Occurrence?
    var next = trigger.next(after: LocalTime(count: start.seconds - Self.span))
    while let local = next {
      if let best, local.count - Self.span > best.at.seconds { break }
      if let moment = moments(of: local).first(where: { isWanted($0, local) }) {
        if best.map({ (moment, local) < ($0.at, $0.local) }) ?? true {
          best = ScheduleRow.Occurrence(local: local, at: moment)
        }
      }
      next = trigger.next(after: local)
    }
    return best
  }

  /// The times of occurrences that have come somewhere by now, and not everywhere.
  func underWay(of trigger: ScheduleTrigger, at now: Timestamp) -> [LocalTime] {
    var found: [LocalTime] = []
    var next = trigger.next(after: LocalTime(count: now.seconds - Self.span))
    while let local = next, local.count <= now.seconds + Self.span {
      let moments = moments(of: local)
      if let first = moments.first, let last = moments.last, first <= now, now < last { found.append(local) }
      next = trigger.next(after: local)
    }
    return found
  }
}
