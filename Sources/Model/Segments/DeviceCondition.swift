import BorealisBase

/// Which devices are meant, by what is known about each. A segment is a condition with a name.
package indirect enum DeviceCondition: Sendable, Equatable {
  /// Devices that meet all of the conditions; every device if there are none.
  case all([DeviceCondition])
  /// Devices that meet at least one of the conditions; none if there are none.
  case any([DeviceCondition])
  /// Devices that do not meet a condition, also because what it asks about is not known.
  case not(DeviceCondition)
  /// Devices that have a tag.
  case tag(String)
  /// Devices that have an alias.
  case hasAlias
  /// Devices on a platform.
  case platform(Platform)
  /// Devices that have reported a fact, whatever it is.
  case known(DeviceFact)
  /// Devices that have reported a fact that compares like this to a value.
  case compare(DeviceFact, Comparison, String)
  /// Devices that were connected last at such a time; those that are connected now are seen now. Devices that
  /// never connected do not meet it.
  case lastSeen(TimeWindow)
  /// Devices that registered at such a time.
  case registered(TimeWindow)
  /// Devices that received a push, showed it, or whose user tapped it.
  case push(PushReaction, MessageID)

  /// How a device's value compares to that of a condition. The order is that of versions.
  package enum Comparison: String, Sendable, CaseIterable {
    case equal = "is"
    case less = "less_than"
    case lessOrEqual = "at_most"
    case greater = "more_than"
    case greaterOrEqual = "at_least"
    case beginsWith = "begins_with"

    /// Whether it holds for a device's value and that of a condition.
    package func holds(_ value: String, _ other: String) -> Bool {
      switch self {
      case .equal: value.utf8.elementsEqual(other.utf8)
      case .beginsWith: value.utf8.starts(with: other.utf8)
      case .less: VersionOrder.isOrdered(value, other)
      case .lessOrEqual: !VersionOrder.isOrdered(other, value)
      case .greater: VersionOrder.isOrdered(other, value)
      case .greaterOrEqual: !VersionOrder.isOrdered(value, other)
      }
    }
  }

  /// What a device did with a push. Who tapped it has shown it, and who showed it has received it.
  package enum PushReaction: String, Sendable, CaseIterable {
    case received, shown, tapped
  }

  /// The pushes that it names, each once.
  package var pushes: Set<MessageID> {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.pushes) }
    case .not(let inner): inner.pushes
    case .push(_, let id): [id]
    default: []
    }
  }

  /// The facts that it names.
  package var facts: DeviceFactSet {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.facts) }
    case .not(let inner): inner.facts
    case .known(let fact), .compare(let fact, _, _): DeviceFactSet(fact)
    default: []
    }
  }
}

/// A stretch of time: in the last days, or between two times of the server's zone. What several of its bounds
/// say has to hold at once.
package struct TimeWindow: Sendable, Equatable {
  /// Days of 24 hours before the evaluation; nil for no such bound.
  package var lastDays: Int?
  /// The first time in it; nil if it has no beginning.
  package var since: LocalTime?
  /// The first time after it; nil if it has no end.
  package var before: LocalTime?

  /// The most days that it may look back: ten years.
  package static let mostDays: Int64 = 3650

  /// Makes a window.
  package init(lastDays: Int? = nil, since: LocalTime? = nil, before: LocalTime? = nil) {
    (self.lastDays, self.since, self.before) = (lastDays, since, before)
  }

  /// The Unix seconds in it, at a moment.
  package func seconds(at now: Timestamp, in zone: any Zone) -> Range<Int64> {
    let first = max(
      lastDays.map { now.adding(seconds: -Int64($0) * 86_400).seconds } ?? 1,
      since.map { zone.moment(of: $0).seconds } ?? 1)
    let end = before.map { zone.moment(of: $0).seconds } ?? .max
    return first..<max(first, end)
  }
}
