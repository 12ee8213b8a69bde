import BorealisBase
import Model
import Storage
import Synchronization

/// Notes what is wrong with apps, when it began and when it was over, and tells people who asked for mail.
/// Safe to use from any thread.
package final class IncidentWatch: Sendable {
  /// Seconds between two looks at memory, and between two at the database. What only one look has seen is not
  /// an incident: a connection may fail once.
  private static let (interval, storedInterval) = (5, 60)
  /// Seconds for which incidents that are over stay.
  private static let retention: Int64 = 90 * 86_400
  /// Rows that one sweep deletes.
  private static let sweepRows = 256

  private struct State {
    /// What the database knew at the last look at it.
    var stored: [AppID: [AppTrouble]] = [:]
    /// When each present trouble was seen first.
    var seen: [Key: Timestamp] = [:]
  }

  private struct Key: Hashable {
    let app: AppID
    let identity: TroubleIdentity
  }

  /// What is to be stored of an app.
  private struct Change {
    let app: App
    let incidents: IncidentChanges
  }

  private let store: Store
  private let router: Router
  /// The base URL of links in mails; nil if no mail is sent.
  private let site: String?
  private let time: any TimeSource
  private let log: Log
  private let ticks = Atomic<Int>(0)
  private let isLooking = Atomic<Bool>(false)
  private let state = Mutex(State())

  /// Looks at nothing before the first `tick`. Times in mails are in the router's zone.
  package init(store: Store, router: Router, site: String?, time: any TimeSource = SystemTime(), log: Log) {
    (self.store, self.router, self.site, self.time, self.log) = (store, router, site, time, log)
  }

  /// Call once a second.
  package func tick() {
    let tick = ticks.add(1, ordering: .relaxed).oldValue
    guard tick % Self.interval == 0 else { return }
    look(readsDatabase: tick % Self.storedInterval == 0)
  }

  /// Notes what has changed, unless an earlier call still does so. `done` is called when it is stored.
  func look(readsDatabase: Bool, _ done: @escaping @Sendable () -> Void = {}) {
    guard !isLooking.exchange(true, ordering: .acquiring) else { return done() }
    let now = time.now()
    let apps = router.apps.all.filter { router.scope.isSettled($0.id) }
    store.read { [self] transaction throws(StorageError) in
      let rows = router.scope.rows
      let stored =
        readsDatabase
        ? try AppTrouble.stored(
          of: apps.filter { !$0.isDisabled }, rows: rows, in: transaction, router.zone, at: now) : nil
      return (stored, try transaction.incidents.unsettled(in: rows))
    } completion: { [self] result in
      guard case .success(let (stored, unsettled)) = result else { return end(done) }
      if let stored { state.withLock { $0.stored = stored } }
      let changes = changes(apps, unsettled, at: now)
      guard !changes.isEmpty || readsDatabase else { return end(done) }
      note(changes, sweeps: readsDatabase, at: now, done)
    }
  }

  private func end(_ done: @Sendable () -> Void) {
    isLooking.store(false, ordering: .releasing)
    done()
  }

  private func changes(_ apps: [App], _ unsettled: [IncidentRow], at now: Timestamp) -> [Change] {
    let noted = Dictionary(grouping: unsettled, by: \.app)
    let (stored, earlier) = state.withLock { ($0.stored, $0.seen) }
    var seen: [Key: Timestamp] = [:]
    var changes: [Change] = []
    // Those of apps that were turned off are over, too.
    for app in apps {
      let present =
        app.isDisabled
        ? [] : AppTrouble.inMemory(of: app, router.channels) + stored[app.id, default: []]
      let incidents = noted[app.id, default: []]
      guard !present.isEmpty || !incidents.isEmpty else { continue }
      let troubles = present.filter { trouble in
        let key = Key(app: app.id, identity: trouble.identity)
        let first = earlier[key]
        seen[key] = first ?? now
        let isNoted = incidents.contains { $0.identity == trouble.identity }
        return trouble.identity.kind.isIncident && (first != nil || isNoted)
      }
      let status = router.channels.status(of: app)
      let change = IncidentChanges(of: incidents, troubles, isObserved: { $0.isOver(status) }, at: now)
      if !change.isEmpty { changes.append(Change(app: app, incidents: change)) }
    }
    state.withLock { $0.seen = seen }
    return changes
  }

  private func note(
    _ changes: [Change], sweeps: Bool, at now: Timestamp, _ done: @escaping @Sendable () -> Void
  ) {
    store.write(lowPriority: true) { [self] transaction throws(StorageError) in
      for change in changes where !router.scope.hasLeft(change.app.id) {
        try note(change, at: now, in: transaction)
      }
      if sweeps {
        _ = try transaction.incidents.sweep(
          before: now.adding(seconds: -Self.retention), limit: Self.sweepRows)
      }
    } completion: { [self] result in
      if case .success = result {
        for change in changes { report(change) }
      }
      end(done)
    }
  }

  private func note(
    _ change: Change, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    let (app, incidents) = (change.app, change.incidents)
    let seen = state.withLock { $0.seen }
    for trouble in incidents.begun {
      let begin = seen[Key(app: app.id, identity: trouble.identity)] ?? now
      try transaction.incidents.begin(trouble.identity, trouble.phrase, of: app.id, at: begin)
      let text = IncidentText(app: app, phrase: trouble.phrase, moment: begin, isOver: false)
      try send(text, at: now, in: transaction)
    }
    for row in incidents.resumed { try transaction.incidents.setEnd(nil, of: row.id) }
    for row in incidents.ended { try transaction.incidents.setEnd(max(now, row.beganAt), of: row.id) }
    for row in incidents.settled {
      try transaction.incidents.settle(row.id)
      guard !row.identity.kind.isEvent else { continue }
      let text = IncidentText(app: app, phrase: row.phrase, moment: row.endedAt ?? now, isOver: true)
      try send(text, at: now, in: transaction)
    }
  }

  /// Mail to those of the app's administrators who asked for it.
  private func send(
    _ text: IncidentText, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    guard let site else { return }
    for recipient in try transaction.members.incidentRecipients(of: text.app.account) {
      try transaction.mail.add(text.mail(to: recipient, site: site, in: router.zone), at: now)
    }
  }

  private func report(_ change: Change) {
    for trouble in change.incidents.begun {
      log.warning(
        "an incident has begun",
        ["app": .text(change.app.key.text), "what": .text(trouble.phrase.english)])
    }
    for row in change.incidents.ended where !row.identity.kind.isEvent {
      log.info(
        "an incident is over", ["app": .text(change.app.key.text), "what": .text(row.phrase.english)])
    }
  }
}

extension IncidentRow {
  /// Whether the state of channels shows that its trouble, which nobody sees any more, is over. After a start
  /// of the server a channel that was not used yet shows nothing.
  fileprivate func isOver(_ channels: [ChannelStatus]) -> Bool {
    guard identity.kind.isSeenInMemory else { return true }
    let own = channels.filter {
      $0.channel == identity.channel && (identity.service.isEmpty || $0.service == identity.service)
    }
    return own.allSatisfy { !$0.hasCredential } || own.contains { $0.state != "unused" && $0.hasCredential }
  }
}
