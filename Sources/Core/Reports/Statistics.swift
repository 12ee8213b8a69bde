import BorealisBase
import Model
import Storage
import Synchronization

extension Zone {
  /// Hours since 1970-01-01 by the region's calendar.
  func hour(of moment: Timestamp) -> Int64 {
    let local = local(moment)
    return local.date.dayNumber * 24 + Int64(local.hour)
  }

  /// Days since 1970-01-01 by the region's calendar.
  func day(of moment: Timestamp) -> Int64 { local(moment).date.dayNumber }
}

/// Counts by app and hour. Outcomes of targets are counted in the commit that stores them; pushes are counted
/// once a second, up to a mark of the app from which its next home continues; the rest is approximate after a
/// crash.
final class Statistics: DeliveryObserver {
  private struct Key: Hashable {
    let app: AppID
    let hour: Int64
  }

  private struct Waiting {
    var rows: [Key: StatisticsRow] = [:]
    /// All of an app's pushes up to this one are in `rows`, or stored. Only of apps that have rows to store.
    var through: [AppID: MessageID] = [:]
    /// The most devices of each app that were connected at a time in this hour; in `rows`, or stored.
    var peaks: [AppID: Int] = [:]
    var peakHour: Int64 = -1
    /// Steps are under way.
    var isFlushing = false

    /// Removes and returns what one job stores: all rows that count pushes, which belong into one commit with
    /// the marks, and of the others at most `limit`.
    mutating func popStep(_ limit: Int) -> Step {
      var step = Step(rows: rows, through: through)
      through = [:]
      guard rows.count > limit else {
        rows = [:]
        return step
      }
      step.rows = rows.filter { $0.value.pushes > 0 }
      for (key, row) in rows.lazy.filter({ $0.value.pushes == 0 }).prefix(limit) { step.rows[key] = row }
      for key in step.rows.keys { rows[key] = nil }
      return step
    }

    /// Adds again what could not be stored.
    mutating func giveBack(_ step: Step) {
      for (key, row) in step.rows { rows[key, default: StatisticsRow()].add(row) }
      through.merge(step.through) { max($0, $1) }
    }
  }

  /// What one job stores.
  private struct Step: Sendable {
    var rows: [Key: StatisticsRow]
    let through: [AppID: MessageID]
  }

  /// Rows in one job that has no pushes to count; a job holds up the pushes that share its commit.
  private static let rowsInStep = 64

  private let scope: HomeScope
  private let zone: any Zone
  private let waiting = Mutex(Waiting())
  private let lastHour = Mutex<(quarter: Int64, hour: Int64)>((-1, 0))

  init(scope: HomeScope, zone: any Zone) {
    self.scope = scope
    self.zone = zone
  }

  // MARK: Counting

  /// Counts an accepted push; in the order of the app's IDs.
  func accepted(_ id: MessageID, targets: Int, of app: AppID, at now: Timestamp) {
    let key = Key(app: app, hour: hour(of: now))
    waiting.withLock { waiting in
      waiting.rows[key, default: StatisticsRow()].pushes += 1
      waiting.rows[key]?.targets += targets
      waiting.through[app] = id
    }
  }

  /// Counts the latency of pushes that were accepted while the device was reachable, if the device reports
  /// arrival times: the others are only known to within their acknowledgement's delay.
  func arrived(
    _ taken: AppliedAcknowledgements, _ batch: AcknowledgementBatch, of app: AppID, at now: Timestamp
  ) {
    var steps: [UInt32] = []
    for (place, sender) in taken.awaited {
      let arrival = batch.arrivals[place]
      guard arrival.isExact, arrival.id > batch.senders[sender].newestWhileAway else { continue }
      if steps.isEmpty { steps = Array(repeating: 0, count: LatencySteps.count) }
      steps[LatencySteps.index(milliseconds: arrival.at.milliseconds &- arrival.id.time.milliseconds)] += 1
    }
    guard !steps.isEmpty else { return }
    let key = Key(app: app, hour: hour(of: now))
    waiting.withLock { $0.rows[key, default: StatisticsRow()].countLatencies(steps) }
  }

  /// Zones change their clocks at quarters of an hour.
  private func hour(of moment: Timestamp) -> Int64 {
    let quarter = moment.seconds / 900
    return lastHour.withLock { last in
      if last.quarter != quarter { last = (quarter, zone.hour(of: moment)) }
      return last.hour
    }
  }

  /// Records how many devices are connected.
  func online(_ count: Int, of app: AppID, at now: Timestamp) {
    guard count > 0 else { return }
    let key = Key(app: app, hour: hour(of: now))
    waiting.withLock { waiting in
      if waiting.peakHour != key.hour { (waiting.peakHour, waiting.peaks) = (key.hour, [:]) }
      guard count > waiting.peaks[app] ?? 0 else { return }
      waiting.peaks[app] = count
      waiting.rows[key, default: StatisticsRow()].online = count
    }
  }

  /// Counts outcomes of targets, in the commit that stores them.
  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    var rows: [Key: StatisticsRow] = [:]
    for event in events {
      // What a service does counts for the hour of the push: a receipt may take back what was counted hours
      // before.
      let moment = event.what.isOfService ? event.push.time : event.at
      rows[Key(app: event.app, hour: hour(of: moment)), default: StatisticsRow()].add(event)
    }
    for (key, row) in rows where row != StatisticsRow() {
      try transaction.statistics.add(app: key.app, hour: key.hour, row)
    }
  }

  // MARK: Storing

  /// Stores pending counts, in steps: the next is queued behind waiting pushes. Does nothing while that is in
  /// progress.
  func flush(to store: Store) {
    let isFirst = waiting.withLock { waiting in
      defer { waiting.isFlushing = true }
      return !waiting.isFlushing
    }
    if isFirst { flushStep(to: store) }
  }

  /// Stores all that waits in one job, before the store is closed.
  func finish(to store: Store) { flushStep(to: store, rows: .max) }

  private func flushStep(to store: Store, rows limit: Int = Statistics.rowsInStep) {
    let (step, hasMore) = waiting.withLock { waiting in
      let step = waiting.popStep(limit)
      waiting.isFlushing = !step.rows.isEmpty
      return (step, !waiting.rows.isEmpty)
    }
    guard !step.rows.isEmpty else { return }
    store.write { [scope] transaction throws(StorageError) in
      for (key, row) in step.rows where !scope.hasLeft(key.app) {
        try transaction.statistics.add(app: key.app, hour: key.hour, row)
      }
      for (app, id) in step.through where !scope.hasLeft(app) {
        try transaction.statistics.mark(app: app, through: id)
      }
    } completion: { [self] result in
      if case .success = result, hasMore {
        flushStep(to: store)
        return
      }
      waiting.withLock { waiting in
        if case .failure = result { waiting.giveBack(step) }
        waiting.isFlushing = false
      }
    }
  }

  /// Drops what is counted of an app and not stored: its next home counts its pushes from the mark on.
  func forget(_ app: AppID) {
    waiting.withLock { waiting in
      waiting.rows = waiting.rows.filter { $0.key.app != app }
      waiting.through[app] = nil
      waiting.peaks[app] = nil
    }
  }

  /// Counts what a crash, or a change of its home, kept from being counted of an app.
  func load(_ app: AppID, _ transaction: ReadTransaction) throws(StorageError) {
    try transaction.statistics.uncountedPushes(of: app) { id, createdAt, targets in
      accepted(id, targets: targets, of: app, at: createdAt)
    }
  }
}

extension DeliveryEvent.What {
  /// Whether it is what a channel's service says, or is about that.
  fileprivate var isOfService: Bool {
    switch self {
    case .delivered(_, let channel), .proven(_, let channel), .refused(_, let channel, _),
      .arrived(_, let channel), .denied(_, let channel, _), .confirmed(_, let channel):
      channel != .passthrough
    case .shown, .tapped, .ended: false
    }
  }
}

extension StatisticsRow {
  fileprivate mutating func countLatencies(_ steps: [UInt32]) {
    if latencies.isEmpty { latencies = Array(repeating: 0, count: LatencySteps.count) }
    for (step, count) in steps.enumerated() { latencies[step] &+= count }
  }

  fileprivate mutating func add(_ event: DeliveryEvent) {
    switch event.what {
    case .delivered(let numbers, let channel), .proven(let numbers, let channel):
      if channel == .passthrough {
        acknowledged += numbers.count
      } else {
        accepted[channel, default: 0] += numbers.count
      }
    case .refused(let numbers, _, let reason):
      if ![ChannelEnd.expired, ChannelEnd.withdrawn].contains(reason) { refused += numbers.count }
    case .denied(let numbers, let channel, _): denied[channel, default: 0] += numbers.count
    case .confirmed(let numbers, let channel): denied[channel, default: 0] -= numbers.count
    // Over the direct connection this is what it was acknowledged for.
    case .arrived(_, .passthrough): break
    case .arrived(let numbers, let channel): arrived[channel, default: 0] += numbers.count
    case .shown(let numbers): shown += numbers.count
    case .tapped(let numbers): tapped += numbers.count
    case .ended(_, let lastly): if lastly != nil { acknowledged += 1 }
    }
  }
}
