import BorealisBase
import Model
import Storage

/// A segment: devices that meet a condition, under a name.
package struct Segment: NamedThing, Equatable {
  package typealias Failure = SegmentFailure

  /// Its number, by which pushes name it.
  package let id: Int64
  /// What people call it.
  package let name: String
  /// Who is in it.
  package let condition: DeviceCondition
  /// When it was made.
  package let createdAt: Timestamp
  /// When name or condition were changed last.
  package let changedAt: Timestamp

  package init?(_ row: SegmentRow) {
    guard let json = try? parseJSON(row.condition), let condition = try? DeviceCondition.parse(json) else {
      return nil
    }
    (id, name, self.condition) = (row.id, row.name, condition)
    (createdAt, changedAt) = (row.createdAt, row.changedAt)
  }
}

/// Why a segment was not kept, or nobody can say who is in it.
package enum SegmentFailure: NamedThingFailure {
  /// The app has no segment of the number.
  case unknown(Int64)
  /// Another segment of the app has the name.
  case nameTaken
  /// The app has as many as it may.
  case full
  /// It is in use: some of what uses it, and how many there are.
  case inUse([NamedUse], count: Int)
  /// The condition names a push that is not kept: nobody would have received it, and everybody would not.
  case pushNotKept(MessageID)
  /// The condition needs facts that the app does not ask its devices for: nobody would have one.
  case factsNotWanted(DeviceFactSet)
  /// The database failed.
  case storage(StorageError)

  /// The error for callers of the push API.
  package var apiError: APIError {
    switch self {
    case .unknown(let id): .invalidValue("The app has no segment \(id)")
    case .nameTaken: .invalidValue("name is used by another segment")
    case .full: .overLimit("The app has \(Segments.most) segments, and may not have more")
    case .inUse(let uses, let count):
      .invalidValue("The segment is in use by \(uses.text(count: count))")
    case .pushNotKept(let id): .invalidValue("The condition names push \(id.rawValue), which is not kept")
    case .factsNotWanted(let facts):
      .notPermitted(
        "The condition needs what the app does not ask its devices for (\(facts.text)): select it in the app's "
          + "settings, or with PUT /v1/facts/wanted")
    case .storage(let error): error.apiError
    }
  }
}

/// The segments of apps. Which devices are in one is found anew at every use: nothing is kept of it.
package struct Segments: NamedThings {
  /// How an answer comes.
  package typealias Reply<Value> = @Sendable (Result<Value, SegmentFailure>) -> Void

  /// The most segments of an app.
  package static let most = 200

  let store: Store
  let time: any TimeSource
  let zone: any Zone

  // MARK: Keeping

  /// An app's segments, by name.
  package func list(of app: App, reply: @escaping Reply<[Segment]>) {
    store.read { transaction throws(StorageError) in
      try transaction.segments.list(app: app.id)
    } completion: { result in
      reply(result.mapError { .storage($0) }.map { $0.compactMap { Segment($0) } })
    }
  }

  /// A segment of an app and how many devices are in it now.
  package func find(_ id: Int64, of app: App, reply: @escaping Reply<(segment: Segment, devices: Int)>) {
    read(of: app, reply) { transaction throws(StorageError) in
      guard let segment = try transaction.segments.find(id, app: app.id).flatMap({ Segment($0) }) else {
        return .failure(.unknown(id))
      }
      return try members(segment.condition, in: app, transaction).map { (segment, $0.count) }
    }
  }

  /// How many devices of an app meet a condition now.
  package func count(_ condition: DeviceCondition, of app: App, reply: @escaping Reply<Int>) {
    read(of: app, reply) { transaction throws(StorageError) in
      try members(condition, in: app, transaction).map(\.count)
    }
  }

  /// Adds a segment. `entry` makes the audit log entry of the person who does so.
  package func add(
    _ name: String, _ condition: DeviceCondition, to app: App,
    noting entry: @escaping @Sendable (Segment) -> AuditRow? = { _ in nil }, reply: @escaping Reply<Segment>
  ) {
    if let fault = Self.fault(condition, app) { return reply(.failure(fault)) }
    let now = time.now()
    store.keep(0, of: app.id, noting: entry, reply: reply) { transaction throws(StorageError) in
      try transaction.segments.add(
        app: app.id, name: name, condition: JSONWriter.serialize(condition.json), limit: Self.most, at: now)
    }
  }

  /// Changes name and condition of a segment; pushes of schedules that are still to come use the new ones,
  /// and need to be approved anew.
  package func change(
    _ id: Int64, to name: String, _ condition: DeviceCondition, of app: App,
    noting entry: @escaping @Sendable (Segment) -> AuditRow? = { _ in nil }, reply: @escaping Reply<Segment>
  ) {
    if let fault = Self.fault(condition, app) { return reply(.failure(fault)) }
    let now = time.now()
    store.keep(id, of: app.id, noting: entry, reply: reply) { transaction throws(StorageError) in
      let stored = try transaction.segments.change(
        id, app: app.id, name: name, condition: JSONWriter.serialize(condition.json), at: now)
      if case .stored = stored { try transaction.schedules.forgetApprovals(ofSegment: id) }
      return stored
    }
  }

  /// Deletes a segment that no schedule will push to any more and no A/B test is for.
  package func delete(
    _ id: Int64, of app: App, noting entry: @escaping @Sendable (Segment) -> AuditRow? = { _ in nil },
    reply: @escaping Reply<Void>
  ) {
    let now = time.now()
    store.remove(id, of: app.id, noting: entry, reply: reply) { transaction throws(StorageError) in
      try transaction.segments.delete(id, app: app.id, at: now)
    }
  }

  // MARK: Who is in one

  /// The devices on some platforms that meet all conditions of an audience, that of its segment included.
  /// `found` is called on a reader's thread, or on this one if it has none.
  func find(
    _ filter: AudienceFilter, platforms: PlatformSet, in app: App, _ found: @escaping Reply<Recipients>
  ) {
    guard let id = filter.segment else {
      return found(.success(app.directory.resolve(filter, platforms: platforms)))
    }
    var rest = filter
    rest.segment = nil
    let others: Audience = rest.isEmpty ? .all : .filter(rest)
    read(of: app, found) { transaction throws(StorageError) in
      try members(of: id, in: app, transaction).map {
        app.directory.resolve(others, platforms: platforms)?.intersection($0) ?? .few([])
      }
    }
  }

  /// The devices in a segment of an app now. On a reader's thread.
  func members(
    of id: Int64, in app: App, _ transaction: ReadTransaction
  ) throws(StorageError) -> Result<NumberSet, SegmentFailure> {
    guard let segment = try transaction.segments.find(id, app: app.id).flatMap({ Segment($0) }) else {
      return .failure(.unknown(id))
    }
    return try members(segment.condition, in: app, transaction)
  }

  private func members(
    _ condition: DeviceCondition, in app: App, _ transaction: ReadTransaction
  ) throws(StorageError) -> Result<NumberSet, SegmentFailure> {
    if let fault = Self.fault(condition, app) { return .failure(fault) }
    let now = time.now()
    var pushes: [MessageID: PushTargets] = [:]
    for id in condition.pushes {
      guard try transaction.deliveries.audience(of: id)?.app == app.id,
        let targets = try transaction.deliveries.targets(of: id).flatMap({ PushTargets($0, at: now) })
      else { return .failure(.pushNotKept(id)) }
      pushes[id] = targets
    }
    return .success(app.directory.find(condition, pushes: pushes, at: now, in: zone))
  }

  // MARK: Helpers

  private func read<Value: Sendable>(
    of app: App, _ reply: @escaping Reply<Value>,
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Result<Value, SegmentFailure>
  ) {
    store.read(inTurnOf: app.id, body) { result in
      reply(result.mapError { .storage($0) }.flatMap { $0 })
    }
  }

  private static func fault(_ condition: DeviceCondition, _ app: App) -> SegmentFailure? {
    let missing = condition.facts.subtracting(app.facts)
    return missing.isEmpty ? nil : .factsNotWanted(missing)
  }
}

extension AppDirectory {
  /// Registrations that are looked at before the lock is let go.
  private static let slice = ChunkedArray<RegistrationTable.Record>.chunkCount

  /// The registrations that meet a condition now; `pushes` has the targets of each push that it names. Holds
  /// the lock for a few thousand registrations at a time at most.
  func find(
    _ condition: DeviceCondition, pushes: [MessageID: PushTargets], at now: Timestamp, in zone: any Zone
  ) -> NumberSet {
    let (facts, registered, everybody, end) = state.withLock { state in
      (
        state.table.facts, state.table.registered, state.table.members(platforms: .all),
        state.table.records.count
      )
    }
    var search = ConditionSearch(condition, in: facts) {
      switch $0 {
      case .tag(let name): return .set(state.withLock { $0.table.tags.members(name) })
      case .platform(let platform):
        return .set(state.withLock { $0.table.members(platforms: PlatformSet(platform)) })
      case .hasAlias: return .set(numbers(below: end) { $0.hasAlias })
      case .lastSeen(let window):
        let seconds = window.seconds(at: now, in: zone)
        return .set(
          numbers(below: end) { seconds.contains($0.isOnline ? now.seconds : Int64($0.lastSeen)) })
      case .registered(let window):
        let seconds = window.seconds(at: now, in: zone)
        return .moments(
          registered, UInt32(clamping: seconds.lowerBound)..<UInt32(clamping: seconds.upperBound))
      case .push(.received, let id): return .set(pushes[id]?.delivered ?? NumberSet())
      case .push(.shown, let id): return .set(pushes[id]?.shown ?? NumberSet())
      case .push(.tapped, let id): return .set(pushes[id]?.tapped ?? NumberSet())
      // The search itself knows.
      case .all, .any, .not, .known, .compare: return .set(NumberSet())
      }
    }
    return search.numbers(below: end).intersection(everybody)
  }

  /// The registrations of which something is true.
  private func numbers(below end: Int, _ isWanted: (RegistrationTable.Record) -> Bool) -> NumberSet {
    var found = RoaringWriter()
    for chunk in 0..<end / Self.slice {
      found.append(state.withLock { $0.table.records.words(ofChunk: chunk, where: isWanted) })
    }
    return found.finish()
  }
}
