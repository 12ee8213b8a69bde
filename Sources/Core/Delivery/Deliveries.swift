import BorealisBase
import Model
import Storage

/// Pushes that are under way: what devices and channels say of them, and their end.
package final class Deliveries: Sendable {
  let store: Store
  let time: any TimeSource
  /// Seconds for which receipts of a push are counted.
  private let receiptLifetime: Int64
  private let ids: MessageIDs
  let channels: PluggedChannels
  let gateways: DeviceGateways
  let contents: ContentCache
  let writeBehind: WriteBehind
  let fallbacks: Fallbacks
  let heldPushes: HeldPushQueue
  private let statistics: Statistics
  let journal: DeliveryJournal

  init(
    store: Store, time: any TimeSource, receiptLifetime: Int64, ids: MessageIDs, channels: PluggedChannels,
    gateways: DeviceGateways, contents: ContentCache, writeBehind: WriteBehind, fallbacks: Fallbacks,
    heldPushes: HeldPushQueue, statistics: Statistics, journal: DeliveryJournal
  ) {
    self.store = store
    self.time = time
    self.receiptLifetime = receiptLifetime
    self.ids = ids
    self.channels = channels
    self.gateways = gateways
    self.contents = contents
    self.writeBehind = writeBehind
    self.fallbacks = fallbacks
    self.heldPushes = heldPushes
    self.statistics = statistics
    self.journal = journal
  }

  // MARK: What devices say

  /// Records a device's acknowledgements; returns how many pushes still waited for one.
  @discardableResult
  package func acknowledge(
    _ arrivals: [Arrival], by number: RegistrationNumber, in app: App, from location: Location? = nil,
    newestWhileAway: MessageID? = nil
  ) -> Int {
    var batch = AcknowledgementBatch()
    batch.add(by: number, at: location, newestWhileAway: newestWhileAway ?? MessageID(.max))
    for arrival in arrivals { batch.add(arrival) }
    return acknowledge(batch, in: app)[0]
  }

  /// Records acknowledgements that come now, from a device that does not say when the pushes came.
  @discardableResult
  package func acknowledge(
    _ ids: [MessageID], by number: RegistrationNumber, in app: App, from location: Location? = nil,
    newestWhileAway: MessageID? = nil
  ) -> Int {
    let now = time.now()
    return acknowledge(
      ids.map { Arrival($0, acknowledgedAt: now) }, by: number, in: app, from: location,
      newestWhileAway: newestWhileAway)
  }

  /// Records acknowledgements of several devices; returns for each how many were awaited. Channels are
  /// notified when they are stored.
  package func acknowledge(_ batch: AcknowledgementBatch, in app: App) -> [Int] {
    let taken = app.directory.acknowledge(batch)
    let now = time.now()
    writeBehind.note(taken, batch, of: app)
    // Recalled, expired, given up, or acknowledged before: the device has it nevertheless.
    for (place, sender) in taken.late {
      let arrival = batch.arrivals[place]
      note(
        [(arrival.id, .acknowledgedLate)], by: batch.senders[sender].number, in: app, at: now,
        since: arrival.at)
    }
    statistics.arrived(taken, batch, of: app.id, at: now)
    return taken.counts
  }

  /// Stores acknowledgements soon instead of within a second, for a connection that waits for it.
  package func flushSoon() { writeBehind.flushSoon() }

  /// Stores acknowledgements that have waited for a while, so that none waits for a second. To be called a
  /// few times a second.
  package func flushOld() { writeBehind.flushOld() }

  /// For how many seconds the oldest acknowledgement has not been stored; 0 if all are.
  package var unstoredSeconds: Double { Double(writeBehind.age) / 1e9 }

  /// Records a device's report that it showed pushes, also in the app's own pages, or that its user tapped
  /// them. IDs of pushes that were not for it are passed over, and so are receipts that come later than
  /// `RouterOptions.receiptLifetime` after their push.
  package func note(
    _ receipts: [(id: MessageID, kind: PushReceipt)], by number: RegistrationNumber, in app: App
  ) {
    note(receipts, by: number, in: app, at: time.now())
  }

  /// The same of notifications alone.
  package func note(
    _ receipts: [(id: MessageID, isTap: Bool)], by number: RegistrationNumber, in app: App
  ) {
    note(receipts.map { ($0.id, $0.isTap ? .tapped : .shown) }, by: number, in: app)
  }

  /// The oldest push of which receipts are counted now.
  package var oldestWithReceipts: MessageID {
    MessageID(firstAt: time.now().adding(seconds: -receiptLifetime))
  }

  /// Records a receipt of a channel's service for a push and a device. Of a push that was not sent to the
  /// device by a channel's service it has no effect; nor has what was said before.
  package func note(
    _ receipt: PushReceipt, of id: MessageID, by number: RegistrationNumber, in app: App,
    since moment: Timestamp
  ) {
    note([(id, receipt)], by: number, in: app, at: time.now(), since: moment)
  }

  private func note(
    _ words: [(id: MessageID, kind: DeviceReports.Kind)], by number: RegistrationNumber, in app: App,
    at now: Timestamp, since moment: Timestamp? = nil
  ) {
    let oldest = MessageID(firstAt: now.adding(seconds: -receiptLifetime))
    // Of what was never accepted nothing can be said.
    let known = oldest...max(oldest, ids.newest)
    let sound = words.filter { known.contains($0.id) }
    writeBehind.note(sound, by: number, of: app.id, at: moment ?? now) { [contents] ids in
      contents.known(among: ids).union(app.directory.open(among: ids))
    }
  }

  // MARK: What channels say

  /// Stores what a channel's service has answered; `done` says whether it is stored.
  package func store(
    _ answers: ChannelAnswers, of app: App, done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    store([answers], of: app, done: done)
  }

  /// Stores what channels' services have answered for some pushes in one commit.
  package func store(
    _ answers: [ChannelAnswers], of app: App, done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    let (id, now) = (app.id, time.now())
    store.write(of: id, lowPriority: true) { [journal] transaction throws(StorageError) in
      var events: [DeliveryEvent] = []
      for one in answers { events += try one.store(of: id, at: now, in: transaction) }
      try journal.stored(events, in: transaction)
    } completion: { result in
      if case .success = result { done(true) } else { done(false) }
    }
  }

  // MARK: What waits

  /// The contents of pushes that wait for a device, in the order asked; those that are gone are left out.
  /// `found` may be called on this thread or on a reader's.
  package func contents(
    of ids: [MessageID],
    found: @escaping @Sendable (Result<[(MessageID, StoredPush)], DeviceFailure>) -> Void
  ) {
    let known = ids.map { ($0, contents.find($0)) }
    let missing = known.filter { $0.1 == nil }.map(\.0)
    guard !missing.isEmpty else {
      found(.success(known.compactMap { id, content in content.map { (id, $0) } }))
      return
    }
    let moment = contents.now
    store.read { transaction throws(StorageError) in
      try transaction.pushes.contents(of: missing)
    } completion: { [self] result in
      guard case .success(let stored) = result else {
        found(.failure(.unavailable))
        return
      }
      var read: [MessageID: StoredPush] = [:]
      for case (let id, let row?) in zip(missing, stored) {
        guard let content = StoredPush(row) else { continue }
        // After a restart many devices ask for the same one.
        guard contents.insert(id, content, readSince: moment) else {
          // Another channel may have taken over its notification meanwhile, or given it up.
          return self.contents(of: ids, found: found)
        }
        read[id] = content
      }
      found(
        .success(
          known.compactMap { id, content in (contents.find(id) ?? content ?? read[id]).map { (id, $0) } }))
    }
  }
}
