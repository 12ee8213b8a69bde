import BorealisBase
import Model
import Storage

/// Reads what is kept in memory: when the server starts, and when it takes an app over.
struct Loading {
  let store: Store
  let scope: HomeScope
  let time: any TimeSource
  let log: Log
  let apps: AppTable
  let imports: Imports
  let callbacks: CallbackApps
  let channels: PluggedChannels
  let ids: MessageIDs
  let statistics: Statistics
  let writeBehind: WriteBehind
  let contents: ContentCache
  let schedules: Schedules
  let clocks: ScheduleClocks
  let fallbacks: Fallbacks
  let heldPushes: HeldPushQueue

  /// Reads apps, registrations and open pushes into memory. Blocks; call it before anything is served.
  func run() throws(StorageError) {
    guard scope.assigned === store.home else {
      throw StorageError(.other, "the router and the database are told of different homes")
    }
    // First of all: what is imported while the rest is read is learned afterwards, once more where need be.
    imports.last = try store.wait { transaction throws(StorageError) in
      try transaction.imports.last()
    }
    let rows = scope.rows
    let all = try store.wait { transaction throws(StorageError) in try transaction.apps.all(in: rows) }
    clocks.load(for: all)
    for row in all {
      scope.assigned?.insert(row.id)
      if let app = apps.adopt(row, in: scope) { try fill(app) }
    }
    if let own = scope.assigned {
      let home = try store.wait { transaction throws(StorageError) in
        try transaction.homes.home(of: .installation)
      }
      if home?.fence == own.home { own.insert(.installation) }
    }
    try store.wait { [callbacks] transaction throws(StorageError) in
      try callbacks.load(transaction, in: rows)
    }
    try raiseIDs()
    try resume(in: rows) { apps.find($0) }
    writeBehind.flush()
    try schedules.recomputeMoments(in: rows)
  }

  /// Reads an app that the database has given to this home by now, and what channels need of it. Nobody finds
  /// it before all is there. Nil if it is another home's, or deleted. Blocks.
  func run(_ id: AppID) throws(StorageError) -> App? {
    guard let own = scope.assigned else { return apps.find(id) }
    // One that was just made here may be adopted by who asks for it: only before, and then it is the one.
    own.remove(id)
    if let known = apps.find(id) {
      own.insert(id)
      return known
    }
    let row = try store.wait { transaction throws(StorageError) -> AppRow? in
      guard try transaction.homes.home(of: id)?.fence == own.home else { return nil }
      return try transaction.apps.find(id)
    }
    guard let row else { return nil }
    clocks.load(for: [row])
    own.admit(id)
    let known = imports.last
    let app = apps.make(row)
    for plugged in channels.services {
      // What is left of the time when it was here before. Connections are not: devices stay connected.
      plugged.channel.forget(app)
      // Without an app's credential, what waits for its service would end.
      try Store.wait { plugged.channel.learnChanges($0) }
    }
    try fill(app)
    try store.wait { [callbacks] transaction throws(StorageError) in
      try callbacks.load(app, transaction)
    }
    try raiseIDs()
    try resume(in: .of(id)) { _ in app }
    writeBehind.flush()
    try schedules.recomputeMoments(in: .of(id))
    if let known = apps.find(id) {
      own.insert(id)
      return known
    }
    // Before it can be found: settings that were read before know nothing of it.
    callbacks.noteChange()
    // In this order: an app of this home that is not in memory is taken for a new one.
    apps.add(app)
    own.insert(id)
    imports.relearn(after: known)
    return app
  }

  /// IDs from now on are larger than all that are stored, whoever gave them: so an app's grow, and no home
  /// that had this one's slot before gave any of them.
  private func raiseIDs() throws(StorageError) {
    ids.raise(to: try store.wait { transaction throws(StorageError) in try transaction.pushes.lastID() })
  }

  /// Reads an app's registrations, and counts what is not counted.
  private func fill(_ app: App) throws(StorageError) {
    try store.wait { [statistics] transaction throws(StorageError) in
      try statistics.load(app.id, transaction)
      for tag in try transaction.tags.all(app: app.id) {
        app.directory.defineTag(tag.name, number: tag.number)
      }
      app.templates.load(try transaction.templates.list(app: app.id))
      app.abTests.load(try transaction.abTests.list(app: app.id))
      for value in try transaction.facts.values(app: app.id) { app.directory.define(value) }
      app.directory.reserve(try transaction.registrations.count(app: app.id))
      try transaction.registrations.deliveryRows(app: app.id) { app.directory.insert(RegistrationEntry($0)) }
      try transaction.tokens.others(app: app.id) { app.directory.setToken($0) }
      try count(app, transaction)
    }
  }

  /// Counts the notifications of the day for those that they were for.
  private func count(_ app: App, _ transaction: ReadTransaction) throws(StorageError) {
    guard app.caps != CapsRow() else { return }
    let today = clocks.server.local(time.now()).date
    let midnight = clocks.server.moment(of: LocalTime(date: today, secondOfDay: 0))
    try transaction.pushes.counted(app: app.id, since: midnight) { push in
      var numbers = push.target.map { NumberSet([$0]) } ?? NumberSet()
      for bytes in [push.targets, push.unreached] {
        if let more = bytes.flatMap({ NumberSet(serialized: $0) }) { numbers.formUnion(more) }
      }
      app.counts.load(numbers, push.isMarketing ? .marketing : .normal, on: today.dayNumber)
    }
  }

  /// Resumes the pushes that are undelivered.
  private func resume(in rows: AppRows, find: @escaping @Sendable (AppID) -> App?) throws(StorageError) {
    try fallbacks.start(in: rows)
    try heldPushes.start(in: rows)
    try store.wait { transaction throws(StorageError) in
      var held: [MessageID: NumberSet] = [:]
      try transaction.heldPushes.all(in: rows) { row in
        held[row.push, default: NumberSet()].formUnion(NumberSet(serialized: row.targets) ?? NumberSet())
      }
      let isDivided = scope.assigned != nil
      let paced = try transaction.pacedPushes.all(in: rows)
      let later = try transaction.fallbacks.openOfSeveral(in: rows)
      var progress: [MessageID: DeliveryProgress] = [:]
      try transaction.deliveries.droppedOfOpen(in: rows) { id, reason, bytes in
        guard let targets = NumberSet(serialized: bytes) else { return }
        progress[id, default: DeliveryProgress()].add(targets, LossReason(rawValue: reason))
      }
      try transaction.deliveries.open(in: rows) { open in
        guard let app = find(open.push.app) else { return }
        var known = progress.removeValue(forKey: open.push.id) ?? DeliveryProgress()
        known.delivered = open.delivered.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
        reopen(
          open, known, pacingMinutes: paced[open.push.id], later[open.push.id] ?? [],
          // Where devices stay connected while apps move, what was released may not have been sent to them.
          held: held[open.push.id] ?? (isDivided && open.keepsQuietHours ? NumberSet() : nil), in: app)
      }
    }
  }

  /// Resumes a push that was undelivered when the server stopped, or ends it if no target is left.
  private func reopen(
    _ open: OpenPush, _ progress: DeliveryProgress, pacingMinutes: Int64?, _ fallbacks: [FallbackRow],
    held: NumberSet?, in app: App
  ) {
    let expires = open.push.expiresAt.secondsRoundedUp
    if let target = open.push.target, open.push.ownTargets == nil {
      let opened = OpenedPush.few([target], expires: expires, isToOne: open.push.targetCount == 1)
      note(app.directory.open(open.push.id, opened, held: held), in: app)
      return
    }
    guard let targets = (open.push.ownTargets ?? open.push.targets).flatMap({ NumberSet(serialized: $0) })
    else {
      log.error("stored audience is unreadable", ["msg_id": .text(open.push.id.text)])
      return
    }
    if !open.push.content.isEmpty, let push = StoredPush(open.push, fallbacks) {
      contents.replace(open.push.id, push)
    }
    if let pacing = PacingWindow(open.push, minutes: pacingMinutes), let push = StoredPush(open.push) {
      let paced = PacedPush(pacing: pacing, push: push)
      let group = FanOutPush(
        id: open.push.id, expires: expires, targets: targets, progress: progress, paced: paced)
      note(app.directory.open(open.push.id, .many(group), held: held), in: app)
      return
    }
    switch Recipients(targets) {
    case .few(let numbers):
      let opened = OpenedPush.few(numbers, expires: expires, isToOne: open.push.targetCount == 1)
      note(app.directory.open(open.push.id, opened, progress: progress, held: held), in: app)
    case .many(let targets):
      let group = FanOutPush(id: open.push.id, expires: expires, targets: targets, progress: progress)
      note(app.directory.open(open.push.id, .many(group), held: held), in: app)
    }
  }

  private func note(_ dispatch: DispatchPlan, in app: App) {
    writeBehind.note(dispatch.change, of: app, at: time.now())
  }
}

extension RegistrationEntry {
  /// Takes over what memory needs of a stored registration.
  init(_ row: DeliveryRow) {
    self.init(
      number: row.number, id: row.registrationID, platform: row.platform, secretHash: row.secretHash,
      alias: row.alias, tags: row.tags, lastSeen: UInt32(clamping: row.lastSeenAt.seconds),
      tokens: row.tokens,
      // What was connected when it was last noted, and nobody noted more.
      lastEnd: row.lastEnd == .connected ? .serverStopped : row.lastEnd, isBlocked: row.isBlocked,
      isUnconfirmed: row.isUnconfirmed, isAwaited: row.isAwaited, facts: row.facts,
      registeredAt: UInt32(clamping: row.createdAt.seconds))
  }
}

extension Timestamp {
  /// Whole seconds, rounded up: a push lives at least as long as its sender requested.
  var secondsRoundedUp: UInt32 { UInt32(clamping: Timestamp(milliseconds: milliseconds &+ 999).seconds) }
}
