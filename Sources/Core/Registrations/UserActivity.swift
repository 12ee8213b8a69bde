import BorealisBase
import Model
import Storage
import Synchronization

/// Users of an app in one period. A platform that has none of something is left out.
package struct UserCounts: Sendable, Equatable {
  /// New registrations.
  package var new: [Platform: Int] = [:]
  /// Registrations that were connected, and that had the app in the foreground.
  package var online: [Platform: Int] = [:], active: [Platform: Int] = [:]

  /// Nothing.
  package init() {}

  /// Adds the users of another app.
  package mutating func add(_ other: UserCounts) {
    new.merge(other.new, uniquingKeysWith: +)
    online.merge(other.online, uniquingKeysWith: +)
    active.merge(other.active, uniquingKeysWith: +)
  }
}

/// Registrations of an app that were there since this was last taken.
struct Activity: Sendable {
  var online = NumberSet()
  var active = NumberSet()
}

extension AppDirectory {
  /// The registrations that were connected, and that had the app in the foreground, since the last call, by
  /// platform.
  func drainActivity() -> [ActivityKind: NumberSet] {
    state.withLock { state in
      var taken = state.activity
      state.activity = Activity()
      taken.online.formUnion(state.onlineSet)
      taken.active.formUnion(state.foregroundSet)
      var found: [ActivityKind: NumberSet] = [:]
      for platform in Platform.allCases {
        let members = state.table.members(platforms: PlatformSet(platform))
        found[ActivityKind(platform, isActive: false)] = taken.online.intersection(members)
        found[ActivityKind(platform, isActive: true)] = taken.active.intersection(members)
      }
      return found.filter { !$0.value.isEmpty }
    }
  }

  /// Adds registrations again that could not be stored.
  func giveBack(_ activity: [ActivityKind: NumberSet]) {
    state.withLock { state in
      for (kind, targets) in activity {
        if kind.isActive {
          state.activity.active.formUnion(targets)
        } else {
          state.activity.online.formUnion(targets)
        }
      }
    }
  }
}

/// Who used the apps, by hour and day.
package struct UserActivity: Sendable {
  let store: Store
  let zone: any Zone

  /// Hours by which those of activity are kept, days, and the hours of other counts.
  private static let hoursKept: Int64 = 72
  private static let daysKept: Int64 = 93
  private static let statisticsKept: Int64 = 400 * 24

  /// Whether two moments are in different hours.
  func isOtherHour(_ one: Timestamp, _ other: Timestamp) -> Bool {
    zone.hour(of: one) != zone.hour(of: other)
  }

  /// Stores who used the apps since the last call, for this hour and this day.
  func flush(_ apps: [App], at now: Timestamp) {
    let (hour, day) = (zone.hour(of: now), zone.day(of: now))
    for app in apps {
      let activity = app.directory.drainActivity()
      guard !activity.isEmpty else { continue }
      store.write(of: app.id) { transaction throws(StorageError) in
        for (kind, targets) in activity {
          for (unit, period) in [(ActivityUnit.hour, hour), (.day, day)] {
            let stored = try transaction.activity.find(app: app.id, unit, period, kind)
            let all = stored.flatMap { NumberSet(serialized: $0) }?.union(targets) ?? targets
            try transaction.activity.save(app: app.id, unit, period, kind, targets: all.serialized())
          }
        }
      } completion: { result in
        if case .failure = result { app.directory.giveBack(activity) }
      }
    }
  }

  /// Deletes old data, one step; returns whether there may be more.
  func sweep(
    at now: Timestamp, limit: Int, of rows: AppRows, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    let (hour, day) = (zone.hour(of: now), zone.day(of: now))
    return try transaction.activity.sweep(
      hours: hour - Self.hoursKept, days: day - Self.daysKept, statistics: hour - Self.statisticsKept,
      limit: limit, in: rows)
  }

  // MARK: Reading

  /// Users of an app in each of some consecutive hours, counted from 1970-01-01 by the zone's calendar.
  package func users(
    of app: App, hours: Range<Int64>, reply: @escaping @Sendable (Result<[UserCounts], DeviceFailure>) -> Void
  ) {
    users(of: app, .hour, hours.map { $0..<$0 + 1 }, hoursInPeriod: 1, reply: reply)
  }

  /// Users of an app in each of some ranges of days, counted from 1970-01-01 by the zone's calendar.
  package func users(
    of app: App, days: [Range<Int64>],
    reply: @escaping @Sendable (Result<[UserCounts], DeviceFailure>) -> Void
  ) {
    users(of: app, .day, days, hoursInPeriod: 24, reply: reply)
  }

  private func users(
    of app: App, _ unit: ActivityUnit, _ periods: [Range<Int64>], hoursInPeriod hours: Int64,
    reply: @escaping @Sendable (Result<[UserCounts], DeviceFailure>) -> Void
  ) {
    store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      var found: [UserCounts] = []
      for period in periods {
        var sets: [ActivityKind: NumberSet] = [:]
        for row in try transaction.activity.find(app: app.id, unit, period) {
          guard let targets = NumberSet(serialized: row.targets) else { continue }
          sets[row.kind, default: NumberSet()].formUnion(targets)
        }
        var counts = UserCounts()
        for (kind, targets) in sets {
          if kind.isActive {
            counts.active[kind.platform] = targets.count
          } else {
            counts.online[kind.platform] = targets.count
          }
        }
        let range = period.lowerBound * hours..<period.upperBound * hours
        for row in try transaction.statistics.newcomers(app: app.id, hours: range) {
          counts.new[row.platform, default: 0] += row.count
        }
        found.append(counts)
      }
      return found
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }

  /// Counts of an app's hours that have any; hours are counted from 1970-01-01 by the zone's calendar.
  package func statistics(
    of app: App, hours: Range<Int64>,
    reply: @escaping @Sendable (Result<[(hour: Int64, row: StatisticsRow)], DeviceFailure>) -> Void
  ) {
    store.read(inTurnOf: app.id) { transaction throws(StorageError) in
      try transaction.statistics.find(app: app.id, hours: hours)
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }
}
