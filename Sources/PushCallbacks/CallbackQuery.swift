import PushBase
import PushDomain
import PushStorage

/// Whose turn it is: apps one after the other, and in each its destinations.
struct CallbackTurns: Sendable {
  /// The app after which the next query continues.
  var app = AppID.installation
  /// The destination after which the next query continues in an app, for those that it did not go over completely.
  var origins: [AppID: String] = [:]
}

/// Finds the batches that can be sent now, with the settings of their apps.
struct CallbackQuery: Sendable {
  /// Apps, and destinations, in one query.
  private static let steps = 256

  /// What is found: no more than can start.
  private(set) var batches: [(row: CallbackBatchRow, target: CallbackTarget)] = []
  private(set) var settings: [AppID: CallbackSettingRow] = [:]
  /// The data for batches in Getui's format, by app.
  private(set) var receipts: [AppID: GetuiReceipts] = [:]
  /// Whose turn it is next.
  private(set) var turns: CallbackTurns
  private let limiter: DestinationLimiter
  private let now: Timestamp
  private let nanoseconds: UInt64
  /// With the batches that were found.
  private var places: CallbackPlaces
  /// Whether an app could not send because others hold the places: the next query begins with it.
  private var hasPassed = false

  /// Goes on where an earlier query ended. `limiter` knows the requests in flight.
  init(_ turns: CallbackTurns, limiter: DestinationLimiter, at now: Timestamp, nanoseconds: UInt64) {
    self.turns = turns
    self.limiter = limiter
    self.now = now
    self.nanoseconds = nanoseconds
    places = limiter.places
  }

  /// Looks for them.
  mutating func run(in transaction: ReadTransaction, _ rows: AppRows) throws(StorageError) {
    let last = turns.app
    var senders = try transaction.callbacks.senders(after: last, limit: Self.steps, in: rows)
    if senders.count < Self.steps {
      let first = try transaction.callbacks.senders(
        after: .installation, limit: Self.steps - senders.count, in: rows)
      senders += first.prefix { $0.app.rawValue <= last.rawValue }
    }
    if senders.count < Self.steps {
      let waiting = Set(senders.map(\.app))
      turns.origins = turns.origins.filter { waiting.contains($0.key) }
    }
    // An app with many destinations that pause does not take the steps of the others.
    let share = Self.steps / max(1, senders.count)
    for sender in senders {
      if places.isFull(for: sender.account) {
        hasPassed = true
      } else if places.hasRoom(for: sender) {
        try find(of: sender, destinations: share, in: transaction)
      }
      if !hasPassed { turns.app = sender.app }
    }
    for (batch, _) in batches where settings[batch.app]?.wantsReceipts(of: batch) == true {
      try receipts.add(batch, in: transaction)
    }
  }

  private mutating func find(
    of sender: CallbackSender, destinations limit: Int, in transaction: ReadTransaction
  ) throws(StorageError) {
    let last = turns.origins[sender.app]
    var origins = try transaction.callbacks.origins(app: sender.app, after: last, limit: limit)
    if origins.count < limit, let last {
      let first = try transaction.callbacks.origins(
        app: sender.app, after: nil, limit: limit - origins.count)
      origins += first.prefix { $0 <= last }
    }
    for origin in origins {
      guard places.hasRoom(for: sender) else { return }
      turns.origins[sender.app] = origin
      let destination = CallbackDestination(app: sender.app, origin: origin)
      let capacity = limiter.availableCapacity(of: destination, at: nanoseconds)
      guard capacity.count > 0 else { continue }
      guard places.hasRoom(for: sender, isProbe: capacity.isProbe) else {
        if places.isFull(for: sender.account, isProbe: capacity.isProbe) { hasPassed = true }
        continue
      }
      if settings[sender.app] == nil {
        settings[sender.app] = try transaction.callbacks.setting(app: sender.app)
      }
      let due = try transaction.callbacks.due(
        destination, at: now, limit: capacity.count + capacity.busy.count)
      for batch in due.filter({ !capacity.busy.contains($0.id) }).prefix(capacity.count) {
        let url = batch.url ?? settings[sender.app]?.url
        let target = CallbackTarget(
          sender: sender, origin: origin, host: url.flatMap { CallbackAddress($0) }?.origin ?? "")
        guard places.take(target, isProbe: capacity.isProbe) else {
          if places.isFull(host: target.host) { hasPassed = true }
          break
        }
        batches.append((batch, target))
      }
    }
    if origins.count < limit { turns.origins[sender.app] = nil }
  }
}

extension CallbackSettingRow {
  /// Whether a batch is sent in Getui's format: it goes to the app's own address.
  func wantsReceipts(of batch: CallbackBatchRow) -> Bool { format == .getui && batch.url == nil }
}

extension [AppID: GetuiReceipts] {
  /// Reads the data for a batch.
  fileprivate mutating func add(
    _ batch: CallbackBatchRow, in transaction: ReadTransaction
  ) throws(StorageError) {
    if self[batch.app] == nil {
      guard let app = try transaction.apps.find(batch.app) else { return }
      self[batch.app] = GetuiReceipts(
        app: app.key, secret: try transaction.getui.access(app: batch.app)?.secret)
    }
    for push in Set(GetuiReceipts.pushes(of: batch.body)) where self[batch.app]?.tasks[push] == nil {
      self[batch.app]?.tasks[push] = try transaction.getui.name(ofTaskWith: push, app: batch.app)?.text
    }
  }
}
