import BorealisBase
import Model
import Storage

/// Whose turn it is: apps one after the other, and in each its destinations. Accounts whose apps find the
/// places taken have turns of their own, so that the apps of one hold up no other's.
struct CallbackTurns: Sendable {
  /// An account some of whose apps could not send.
  struct Waiting: Sendable {
    let account: AccountID
    /// The app after which its turn continues.
    var app: AppID
  }

  /// The app after which the next query continues.
  var app = AppID.installation
  /// The accounts that wait for places, in the order of their turns.
  var accounts: [Waiting] = []
  /// The destination after which the next query continues in an app, for those that it did not go over
  /// completely.
  var origins: [AppID: String] = [:]
}

/// Finds the batches that can be sent now, with the settings of their apps.
struct CallbackQuery: Sendable {
  /// Apps, and destinations, in one query: of these at most half are of accounts that wait.
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
    // They have had their turn when it is the others'.
    let waiting = Set(turns.accounts.map(\.account))
    let steps = try runWaiting(in: transaction, rows)
    let last = turns.app
    var senders = try transaction.callbacks.senders(after: last, limit: Self.steps - steps, in: rows)
    let areAll = senders.count < Self.steps - steps
    if areAll {
      let first = try transaction.callbacks.senders(
        after: .installation, limit: Self.steps - steps - senders.count, in: rows)
      senders += first.prefix { $0.app.rawValue <= last.rawValue }
    }
    if areAll, senders.count < Self.steps - steps {
      let apps = Set(senders.map(\.app))
      turns.origins = turns.origins.filter { apps.contains($0.key) }
    }
    var passed: Set<AccountID> = []
    // An app with many destinations that pause does not take the steps of the others.
    let share = Self.steps / max(1, senders.count)
    for sender in senders {
      turns.app = sender.app
      if let account = sender.account, waiting.contains(account) { continue }
      let isServed = try send(of: sender, destinations: share, in: transaction)
      guard !isServed, let account = sender.account, passed.insert(account).inserted else { continue }
      turns.accounts.append(.init(account: account, app: sender.app.before))
    }
    for (batch, _) in batches where settings[batch.app]?.wantsReceipts(of: batch) == true {
      try receipts.add(batch, in: transaction)
    }
  }

  /// Goes on with the accounts that wait; returns how many steps that took. Those that had a turn go behind
  /// the others.
  private mutating func runWaiting(
    in transaction: ReadTransaction, _ rows: AppRows
  ) throws(StorageError) -> Int {
    let waiting = turns.accounts
    guard !waiting.isEmpty else { return 0 }
    let share = max(1, Self.steps / 2 / waiting.count)
    var steps = 0
    var (others, served): ([CallbackTurns.Waiting], [CallbackTurns.Waiting]) = ([], [])
    for var one in waiting {
      guard steps < Self.steps / 2, !places.isFull(for: one.account) else {
        others.append(one)
        continue
      }
      let last = one.app
      var senders = try transaction.callbacks.senders(of: one.account, after: last, limit: share, in: rows)
      if senders.count < share {
        let first = try transaction.callbacks.senders(
          of: one.account, after: .installation, limit: share - senders.count, in: rows)
        senders += first.prefix { $0.app.rawValue <= last.rawValue }
      }
      steps += max(1, senders.count)
      var hasPassed = false
      for sender in senders {
        if try !send(of: sender, destinations: max(1, share / senders.count), in: transaction) {
          hasPassed = true
        }
        if !hasPassed { one.app = sender.app }
      }
      // It waits no longer once all of its apps had their turn.
      if hasPassed || senders.count == share { served.append(one) }
    }
    turns.accounts = others + served
    return steps
  }

  /// Finds what an app can send. False if it could not since others hold the places: it is the first of its
  /// account in the next query.
  private mutating func send(
    of sender: CallbackSender, destinations: Int, in transaction: ReadTransaction
  ) throws(StorageError) -> Bool {
    if places.isFull(for: sender.account) { return false }
    guard places.hasRoom(for: sender) else { return true }
    return try find(of: sender, destinations: destinations, in: transaction)
  }

  private mutating func find(
    of sender: CallbackSender, destinations limit: Int, in transaction: ReadTransaction
  ) throws(StorageError) -> Bool {
    var isServed = true
    let last = turns.origins[sender.app]
    var origins = try transaction.callbacks.origins(app: sender.app, after: last, limit: limit)
    if origins.count < limit, let last {
      let first = try transaction.callbacks.origins(
        app: sender.app, after: nil, limit: limit - origins.count)
      origins += first.prefix { $0 <= last }
    }
    for origin in origins {
      guard places.hasRoom(for: sender) else { return isServed }
      turns.origins[sender.app] = origin
      let destination = CallbackDestination(app: sender.app, origin: origin)
      let capacity = limiter.availableCapacity(of: destination, at: nanoseconds)
      guard capacity.count > 0 else { continue }
      guard places.hasRoom(for: sender, isProbe: capacity.isProbe) else {
        if places.isFull(for: sender.account, isProbe: capacity.isProbe) { isServed = false }
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
        guard places.reserve(target, isProbe: capacity.isProbe) else {
          if places.isFull(host: target.host) { isServed = false }
          break
        }
        batches.append((batch, target))
      }
    }
    if origins.count < limit { turns.origins[sender.app] = nil }
    return isServed
  }
}

extension AppID {
  /// The one after which this is the next.
  fileprivate var before: AppID { AppID(rawValue &- 1) }
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
    for device in Set(GetuiReceipts.devices(of: batch.body)) where self[batch.app]?.cids[device.text] == nil {
      self[batch.app]?.cids[device.text] = try transaction.registrations.formerID(of: device, app: batch.app)
    }
  }
}
