import BorealisBase
import Glibc
import Model
import Storage
import Synchronization

/// What may reach the database late, by a second at most: ends of pushes, who acknowledged pushes to many,
/// receipts. What is lost in a crash only means that a device gets a push again, which its library drops, or
/// that a push ends once more after the next start. So it is written in small batches; but ends and
/// acknowledgements go ahead of new pushes, behind which they would wait for as long as these come faster
/// than they are stored. What could not be written waits for better times. Only what the database refuses for
/// its own sake, alone and twice, is given up, as in a crash: else it would hold back for ever whatever is
/// known to be stored after it. Words of devices, behind which nothing waits, have three tries alone.
final class WriteBehind: Sendable {
  /// Rows in one job. A job delays the pushes in its commit, here by half a millisecond; a callback request
  /// has the same number of events.
  static let batch = 100
  /// Batches in one flush, so that they cannot fill the writer's queue.
  static let batches = 160
  /// What devices say of pushes besides acknowledging them in time: beyond so many words, and pushes, the
  /// newest are lost. An app may have a quarter of them: what its devices make up loses nobody else's. Half
  /// of each is kept for pushes that are known in memory: what devices make up loses no words about these.
  static let wordLimit = 1_000_000
  static let wordyPushes = 100_000
  /// Words that a device may say between two flushes: the receipts of two seconds, or those of one and the
  /// largest ACK.
  static let wordsOfDevice = 1024
  /// Bytes of audiences in one job: about one push to very many, or a batch of pushes to some hundred each.
  private static let jobCost = 1 << 16

  private let store: Store
  private let scope: HomeScope
  private let journal: DeliveryJournal
  private let time: any TimeSource
  private let log: Log
  private let waiting = OrderedMutex(Waiting())
  /// Held from taking what is known of a push until its job is with the writer, so that nobody stores the
  /// push's end between.
  private let queueing = OrderedMutex((), .outer)
  private let stored: @Sendable ([StoredAcknowledgements]) -> Void

  /// `stored` is told of acknowledgements that the database has, on the writer's thread.
  init(
    store: Store, scope: HomeScope, journal: DeliveryJournal, time: any TimeSource, log: Log,
    stored: @escaping @Sendable ([StoredAcknowledgements]) -> Void
  ) {
    self.store = store
    self.scope = scope
    self.journal = journal
    self.time = time
    self.log = log
    self.stored = stored
  }

  /// Records outcomes of pushes on the direct connection.
  func note(_ change: DeliveryChange, of app: App, at now: Timestamp) {
    guard !change.isEmpty else { return }
    let (isFull, isOld) = waiting.withLock { waiting in
      for push in change.ended { waiting.ends.append(End(push: push, app: app.id, at: now)) }
      for id in change.partly where waiting.partly[id] == nil { waiting.partly[id] = Partly(app: app) }
      return (waiting.hasBatch, waiting.noteAge(at: time.monotonic()))
    }
    if isFull { flushFullBatches() }
    if isOld { flushSoon() }
  }

  /// Records acknowledgements of devices: `taken` has their effects. `stored` gets them when the database has
  /// them.
  func note(_ taken: AppliedAcknowledgements, _ batch: AcknowledgementBatch, of app: App) {
    guard !taken.change.isEmpty else { return }
    let acknowledgers = taken.acknowledgers(batch)
    let (isFull, isOld) = waiting.withLock { waiting in
      for (push, place) in zip(taken.change.ended, taken.endPlaces) {
        waiting.ends.append(End(push: push, app: app.id, at: batch.arrivals[place].at))
      }
      for one in acknowledgers {
        waiting.partly[one.id, default: Partly(app: app)].acknowledgers += one.numbers
        waiting.partly[one.id, default: Partly(app: app)].moments += one.moments
      }
      for (sender, count) in zip(batch.senders, taken.counts) where count > 0 {
        guard let location = sender.location else { continue }
        waiting.credits.append(StoredAcknowledgements(location: location, count: count))
      }
      return (waiting.hasBatch, waiting.noteAge(at: time.monotonic()))
    }
    if isFull { flushFullBatches() }
    if isOld { flushSoon() }
  }

  /// For how long the oldest acknowledgement, or end of a push, has not been stored, in nanoseconds; 0 if all
  /// are.
  var age: UInt64 {
    let now = time.monotonic()
    return waiting.withLock { $0.ages.oldest.map { now &- $0 } ?? 0 }
  }

  /// Writes acknowledgements if the oldest have waited for a while.
  func flushOld() {
    if waiting.withLock({ $0.isOld(at: time.monotonic()) }) { flushSoon() }
  }

  private func flushFullBatches() {
    repeat { _ = flushBatchOfEnds() } while waiting.withLock { $0.hasBatch }
  }

  /// Records ends.
  func end(_ ended: [EndedPush], of app: App, at now: Timestamp) {
    var change = DeliveryChange()
    change.ended = ended
    note(change, of: app, at: now)
  }

  /// Records a device's reports about pushes. `known` says which of some pushes are known in memory; it is
  /// asked only when words about others are not taken any more.
  func note(
    _ words: [(id: MessageID, kind: DeviceReports.Kind)], by number: RegistrationNumber, of app: AppID,
    at now: Timestamp, known: ([MessageID]) -> Set<MessageID> = { _ in [] }
  ) {
    guard !words.isEmpty else { return }
    let speaker = Speaker(app: app, number: number)
    let current = time.now()
    let left = waiting.withLock { waiting in
      waiting.unknownPushes.makeDoubtful(speaker, at: current)
        ? waiting.unspoken(words, by: speaker)
        : waiting.add(words, by: speaker, areKnown: false, at: now)
    }
    guard !left.isEmpty else { return }
    let known = known(left.map { $0.id })
    let sound = left.filter { known.contains($0.id) }
    if !sound.isEmpty {
      _ = waiting.withLock { $0.add(sound, by: speaker, areKnown: true, at: now) }
    }
  }

  /// How many words of devices wait to be written.
  var wordCount: Int { waiting.withLock { $0.wordCount } }

  /// Whether nothing waits to be written.
  var isEmpty: Bool {
    waiting.withLock { $0.pushCount == 0 }
  }

  /// Writes pending data, up to this many batches of each kind. `isLast`: nothing may follow from what is
  /// written.
  func flush(batches: Int = WriteBehind.batches, isLast: Bool = false) {
    waiting.withLock { waiting in
      waiting.isHeldUp = false
      waiting.spoken = [:]
    }
    flushAcknowledgements(batches: batches)
    let jobCost = isLast ? .max : Self.jobCost
    for suspect in waiting.withLock({ $0.popSuspects(batches) }) { write(suspect) }
    for _ in 0..<batches {
      let batch = waiting.withLock { $0.popReports(Self.batch) }
      guard !batch.isEmpty else { break }
      write(batch[...], jobCost: jobCost)
    }
  }

  /// Rounds without progress after which `finish` ends, and microseconds between them.
  private static let (lastRounds, rest): (Int, UInt32) = (5, 100_000)

  /// Writes all pending data before the store is closed, while `isInTime` returns true: in rounds, since what
  /// is refused with others goes alone then, and a lock or a lack of room may be over soon. The log tells
  /// what was lost. Blocks.
  func finish(isInTime: () -> Bool) {
    BlockingCall.assertAllowed()
    var (left, rounds) = (Int.max, 0)
    repeat {
      flush(batches: 4096, isLast: true)
      // Behind all of it.
      try? Store.wait { store.write(single: true, { _ throws(StorageError) in }, completion: $0) }
      let now = waiting.withLock { $0.pushCount }
      rounds = now < left ? 0 : rounds + 1
      left = now
      if rounds > 0 { usleep(Self.rest) }
    } while left > 0 && rounds < Self.lastRounds && isInTime()
    guard left > 0 else { return }
    let (ends, partly, words) = waiting.withLock { ($0.ends.count, $0.partly.count, $0.wordCount) }
    log.error(
      "some acknowledgements were not stored: devices may get pushes again after the next start",
      [
        "ends_of_pushes": .number(Int64(ends)), "pushes_acknowledged": .number(Int64(partly)),
        "reports": .number(Int64(words)),
      ])
  }

  /// Writes acknowledgements soon, because a session waits for them. One flush follows the other, so that the
  /// rate is that of commits, however often this is called.
  func flushSoon() {
    let isFirst = waiting.withLock { waiting in
      waiting.mustFlushAgain = waiting.isFlushing
      return !waiting.isFlushing
    }
    if isFirst { flushAcknowledgements(batches: Self.batches) }
  }

  private func flushAcknowledgements(batches: Int) {
    // Taken first: whatever was acknowledged before is written by what follows, or by a job before it.
    let (credits, flight, refusals) = waiting.withLock { waiting in
      defer { waiting.credits = [] }
      waiting.isFlushing = true
      return (waiting.credits, waiting.ages.depart(), waiting.refusals)
    }
    flushPartly(at: time.now())
    flushEnds(batches: batches)
    // Behind all of these; done when they are.
    store.write(single: true, ahead: true) { _ throws(StorageError) in
    } completion: { [self] result in
      let (isStored, mustFlushAgain) = waiting.withLock { waiting in
        // What could not be written is pending again, also if another try has begun since.
        var isStored = !waiting.isHeldUp && waiting.refusals == refusals
        if case .failure = result { isStored = false }
        if !isStored { waiting.credits += credits }
        waiting.ages.land(flight, isStored: isStored)
        defer { waiting.mustFlushAgain = false }
        waiting.isFlushing = false
        return (isStored, waiting.mustFlushAgain && isStored)
      }
      if isStored, !credits.isEmpty { stored(credits) }
      if mustFlushAgain { flushSoon() }
    }
  }

  /// Writes pending ends, so that they are stored before what the caller writes next.
  func flushEnds(batches: Int = WriteBehind.batches) {
    for _ in 0..<batches {
      guard flushBatchOfEnds() else { break }
    }
  }

  private func flushBatchOfEnds() -> Bool {
    queueing.withLock { _ in
      // The oldest first: a server that is killed again and again stores those that it has resent most often,
      // before their devices forget them.
      let (batch, before) = waiting.withLock { waiting in
        let batch = waiting.ends.popFirst(upTo: Self.batch)
        return (batch, waiting.partly.isEmpty ? [] : batch.compactMap { waiting.removePartly($0.push.id) })
      }
      // An end is stored with all who acknowledged: they are told of first.
      for (id, partly) in before { flush(partly, of: id, at: time.now()) }
      let sound = batch.filter { !$0.isSuspect }
      if !sound.isEmpty { write(sound) }
      for end in batch where end.isSuspect { write([end]) }
      return !batch.isEmpty
    }
  }

  private func write(_ batch: [End]) {
    store.write(ahead: true) { [journal, scope] transaction throws(StorageError) in
      let batch = scope.assigned == nil ? batch : batch.filter { !scope.hasLeft($0.app) }
      var events: [DeliveryEvent] = []
      let known = try transaction.deliveries.haveReceipts(
        batch.filter { $0.push.acknowledger != nil }.map(\.push.id))
      for end in batch {
        var push = end.push
        if let lastly = push.acknowledger, known.contains(push.id) {
          push.acknowledger = try transaction.unproven([lastly], push.id, at: end.at, \.provenOwn).first
        }
        events.append(DeliveryEvent(push, app: end.app, at: end.at))
      }
      let (over, unclear) = try transaction.deliveries.settle(batch.map { $0.push.settlement(at: $0.at) })
      for end in batch {
        try end.push.saveDropped(in: transaction)
        if unclear.contains(end.push.id)
          || end.push.status != .delivered && end.push.progress?.delivered.isEmpty == false
        {
          try transaction.reckon(end.push.id, at: end.at)
        }
      }
      try journal.stored(events.filter { !over.contains($0.push) }, in: transaction)
    } completion: { [self] result in
      guard case .failure(let error) = result else { return }
      let isOwnFault = isOwnFault(error)
      if isOwnFault, batch[0].isSuspect { return giveUp(batch[0].push.id, error) }
      waiting.withLock { waiting in
        for var end in batch {
          end.isSuspect = end.isSuspect || isOwnFault
          waiting.ends.append(end)
        }
        waiting.holdUp()
      }
    }
  }

  /// Whether the database refused a job for what is in it: it takes other jobs, and there is room for more.
  private func isOwnFault(_ error: StorageError) -> Bool {
    guard store.failure == nil else { return false }
    return switch error.kind {
    // A secret key may be missing for as long as its file is replaced.
    case .overloaded, .closed, .busy, .diskFull, .readOnly, .io, .noSecretKey: false
    default: true
    }
  }

  private func giveUp(_ id: MessageID, _ error: StorageError) {
    log.error(
      "cannot store the outcome of a push: its devices may get it again after the next start",
      ["msg_id": .text("\(id.rawValue)"), "error": .text(error.description)])
  }

  /// How often words are refused alone before they are given up.
  private static let wordTries = 3

  /// Writes words of devices. What would make the job too long goes into another, behind what waits for the
  /// writer.
  private func write(_ batch: ArraySlice<(key: DeviceReports.Key, words: DeviceReports)>, jobCost: Int) {
    store.write { [journal, scope] transaction throws(StorageError) -> (next: Int, unknown: [Speaker]) in
      var events: [DeliveryEvent] = []
      var unknown: [Speaker] = []
      var (cost, next) = (0, batch.startIndex)
      while next < batch.endIndex, cost < jobCost {
        if scope.hasLeft(batch[next].key.app) {
          next += 1
          continue
        }
        let (key, words) = batch[next]
        if let new = try words.store(key, in: transaction, cost: &cost) {
          events += new
        } else {
          unknown += words.speakers.map { Speaker(app: key.app, number: $0) }
        }
        next += 1
      }
      try journal.stored(events, in: transaction)
      return (next, unknown)
    } completion: { [self] result in
      switch result {
      case .success(let (next, unknown)):
        if !unknown.isEmpty { waiting.withLock { $0.unknownPushes.note(unknown, at: time.now()) } }
        if next < batch.endIndex { write(batch[next...], jobCost: jobCost) }
      case .failure(let error):
        let isOwnFault = isOwnFault(error)
        waiting.withLock { waiting in
          for (key, words) in batch {
            if isOwnFault { waiting.add(Suspect(key: key, words: words)) } else { waiting.add(words, key) }
          }
        }
      }
    }
  }

  /// Writes words of devices alone. What is refused too often even then is lost, as words are when there are
  /// too many.
  private func write(_ suspect: Suspect) {
    store.write { [journal, scope] transaction throws(StorageError) in
      guard !scope.hasLeft(suspect.key.app) else { return }
      var cost = 0
      let events = try suspect.words.store(suspect.key, in: transaction, cost: &cost)
      try journal.stored(events ?? [], in: transaction)
    } completion: { [self] result in
      guard case .failure(let error) = result else { return }
      var again = suspect
      if isOwnFault(error) { again.tries += 1 }
      guard again.tries < Self.wordTries else { return giveUp(suspect.key.id, error) }
      waiting.withLock { [again] in $0.add(again) }
    }
  }

  /// Each set is written at most once a flush, whatever the number of acknowledgements.
  private func flushPartly(at now: Timestamp) {
    for id in waiting.withLock({ Array($0.partly.keys) }) {
      queueing.withLock { _ in
        guard let (_, partly) = waiting.withLock({ $0.removePartly(id) }) else { return }
        flush(partly, of: id, at: now)
      }
    }
  }

  private func flush(_ partly: Partly, of id: MessageID, at now: Timestamp) {
    // Of one that ended since, the sets are noted with its end.
    let progress = partly.app.directory.progress(id)
    store.write(ahead: true) { [journal, scope] transaction throws(StorageError) in
      guard !scope.hasLeft(partly.app.id) else { return }
      // Its end may have been stored in between, with newer sets.
      if try transaction.deliveries.isPending(id) {
        // Only these: the ledger may know of newer ones, who are stored when they are told of.
        if !partly.acknowledgers.isEmpty {
          let stored = try transaction.deliveries.delivered(id).flatMap { NumberSet(serialized: $0) }
          let all = (stored ?? NumberSet()).union(NumberSet(partly.acknowledgers))
          try transaction.deliveries.saveDelivered(id: id, targets: all.serialized())
        }
        try progress?.saveDropped(of: id, in: transaction)
      }
      guard !partly.acknowledgers.isEmpty else { return }
      let unproven = Set(try transaction.unproven(partly.acknowledgers, id, at: now, \.provenOwn))
      let new = zip(partly.acknowledgers, partly.moments).filter { unproven.contains($0.0) }
      try Self.keep(partly.acknowledgers, of: id, at: now, in: transaction)
      guard !new.isEmpty else { return }
      let event = DeliveryEvent(
        push: id, app: partly.app.id, what: .delivered(new.map(\.0), .passthrough),
        at: new.map(\.1).max() ?? now, moments: new.map(\.1))
      try journal.stored([event], in: transaction)
    } completion: { [self] result in
      guard case .failure(let error) = result else { return }
      let isOwnFault = isOwnFault(error)
      if isOwnFault, partly.isSuspect { return giveUp(id, error) }
      waiting.withLock { waiting in
        var again = waiting.partly[id] ?? Partly(app: partly.app)
        again.acknowledgers += partly.acknowledgers
        again.moments += partly.moments
        again.isSuspect = partly.isSuspect || isOwnFault
        waiting.partly[id] = again
        waiting.holdUp()
      }
    }
  }
}
