import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// The next steps of the queue, computed under its lock.
extension QueueState {
  /// The steps that can be done now, marked as started.
  mutating func nextSteps() -> [ChannelQueue.Step] {
    guard !isHeldUp else { return [] }
    var steps: [ChannelQueue.Step] = []
    if !isReadingAgain, let deliveries = retries.popBatch(of: open) {
      isReadingAgain = true
      steps.append(.readAgain(deliveries, at: ReadMoment(tokens: changes.now, badges: badges.now)))
    }
    if !isArming, let deliveries = arming.popBatch(of: open) {
      isArming = true
      steps.append(.arm(deliveries))
    }
    let hasRoom = retries.count < ChannelQueue.Bounds.later + ChannelQueue.Bounds.laterOfFew
    if mayLookUp, hasRoom {
      if !isFetchingFew, ready.waiting.few < ChannelQueue.Bounds.ready,
        let batch = ChannelQueue.Batch(isLarge: false, of: &self)
      {
        isFetchingFew = true
        steps.append(.fetch(batch))
      }
      if !isFetchingMany, ready.waiting.many < ChannelQueue.Bounds.ready,
        retries.count < ChannelQueue.Bounds.later,
        let batch = ChannelQueue.Batch(isLarge: true, of: &self)
      {
        isFetchingMany = true
        steps.append(.fetch(batch))
      }
    }
    if knowsCredentials { addReads(to: &steps, hasRoom: hasRoom) }
    if !finished.isEmpty, !isSaving {
      let batch = finished.popFirst(upTo: ChannelQueue.Bounds.saved) { [failed] in failed.mayEnd($0.id) }
      isSaving = !batch.isEmpty
      saving = batch
      if isSaving { steps.append(.save(batch)) }
    }
    return steps
  }

  /// Pushes are read while the credentials are stopped as well: devices may connect.
  private mutating func addReads(to steps: inout [ChannelQueue.Step], hasRoom: Bool) {
    if isSpilled, !isLoading {
      if !hasRoom || !self.hasRoom(below: ChannelQueue.Bounds.pushes / 2) {
        if let page = left.next(above: loadedThrough) { steps.append(.look(page)) }
      } else if left.isSettled {
        isLoading = true
        steps.append(.load(after: loadedThrough, skipped: skippedThrough))
      }
    }
    if hasRoom, !isTakingOver, !isLoading, let ids = popTakenOver() {
      isTakingOver = true
      steps.append(.takeOver(ids))
    }
  }

  /// Whether pushes are being read, of which some may be recalled meanwhile.
  var isReadingPushes: Bool { isLoading || isTakingOver || left.isReading }

  /// Reading has ended.
  mutating func endReading() { if !isReadingPushes { (withdrawn, savedMeanwhile) = ([], []) } }

  /// The ends of pushes were saved, or could not be.
  mutating func endSaving(_ saved: [ChannelAnswers], isStored: Bool) {
    isSaving = false
    saving = []
    if isStored {
      left.stored(saved)
      if isReadingPushes { savedMeanwhile.formUnion(saved.map(\.id)) }
    } else {
      finished += saved
      isHeldUp = true
    }
  }

  /// Pushes of which devices were taken over and that may be read now. Not what is read with others anyway,
  /// and not yet what is being saved: what is stored of it is not all that is known. Called while nothing is
  /// being read.
  private mutating func popTakenOver() -> [MessageID]? {
    var ids: [MessageID] = []
    for _ in 0..<min(takenOver.count, ChannelQueue.Bounds.takenOverTogether) {
      guard hasRoom(below: ChannelQueue.Bounds.pushesTakenOver, for: ids.count),
        let id = takenOver.popFirst()
      else { break }
      let isYetToLoad = isSpilled && id > loadedThrough
      if isBeingSaved(id) { takenOver.append(id) } else if !isYetToLoad { ids.append(id) }
    }
    return ids.isEmpty ? nil : ids
  }

  /// Whether a push has ended, and that is not stored yet.
  func isBeingSaved(_ id: MessageID) -> Bool {
    [saving, finished].joined().contains { $0.id == id }
  }

  /// Adds what was read of a push of which devices were taken over; false if it is to be read again.
  mutating func takeOver(
    _ push: ChannelPush, _ parts: [QueuedPart], results: LegOutcomes, tried: [UInt8: [RegistrationNumber]],
    at now: Timestamp
  ) -> Bool {
    guard !isBeingSaved(push.id), !savedMeanwhile.contains(push.id) else { return false }
    guard !legs(of: push.id).isEmpty else {
      add(push, parts, results: results, tried: tried, at: now)
      return true
    }
    // An addition such as a call may have been under way alone.
    let new = parts.filter { open[LegKey(push: push.id, leg: $0.leg)] == nil }
    add(new, of: push, results: results, tried: tried, at: now)
    for part in parts {
      let leg = LegKey(push: push.id, leg: part.leg)
      if extend(leg, by: part.targets) { queue(leg) }
      if open[leg]?.left == 0 { end(leg) }
    }
    return true
  }

  mutating func apply(_ part: ChannelQueue.Batch.Part, _ rows: [TokenRow], readAt: UInt64) {
    let moment = ReadMoment(tokens: readAt, badges: part.changesBadges ? badges.advance() : 0)
    var known: Set<RegistrationNumber> = []
    for row in rows {
      known.insert(row.number)
      guard let service = open[part.key]?.part.service(for: row) else { return }
      prepare(Delivery(key: part.key, slot: part.slot, row: row, readAt: moment, service: service))
    }
    for number in part.numbers where !known.contains(number) {
      fail(part.key, number, ChannelEnd.noToken, isTokenGone: true)
    }
  }

  /// A delivery to retry, with its current token.
  mutating func retake(_ old: Delivery, _ row: TokenRow?, readAt: ReadMoment) {
    guard let part = open[old.key]?.part else { return }
    guard let row else {
      if !endIfWithdrawn(old) { fail(old.key, old.row.number, ChannelEnd.noToken, isTokenGone: true) }
      return
    }
    prepare(old.read(again: row, at: readAt, badges, part), atFront: true)
  }

  /// Token changes are dropped when nothing that was read before is in use.
  mutating func forgetChanges() {
    guard inFlight.isEmpty, !isFetchingFew, !isFetchingMany, !isReadingAgain, !isArming, arming.isEmpty,
      ready.values.allSatisfy({ $0.count == 0 })
    else { return }
    changes.forgetAll()
    if retries.count == 0, few.isEmpty, many.isEmpty { badges.forgetAll() }
  }

  mutating func giveBack(_ batch: ChannelQueue.Batch) {
    for part in batch.parts {
      for number in part.numbers { open[part.key]?.claimed.remove(number) }
      open[part.key]?.position = RegistrationNumber(0)
      queue(part.key)
    }
  }

  /// Results could not be saved.
  mutating func giveBack(_ answers: ChannelAnswers) {
    // If it has ended by now, or was recalled, this is stored in addition to its end.
    let legs = legs(of: answers.id)
    let over = answers.news.filter { news in !legs.contains { DeliveryLeg(channel, $0.leg) == news.key } }
    if !over.isEmpty {
      finished.append(
        ChannelAnswers(id: answers.id, channel: channel, results: answers.results, news: over, isFinal: false)
      )
    }
    for leg in legs {
      for (reason, targets) in answers.news[DeliveryLeg(channel, leg.leg)] ?? [:] {
        open[leg]?.news[reason, default: NumberSet()].formUnion(targets)
      }
    }
  }

  mutating func expire(at now: Timestamp) {
    for leg in open.keys where open[leg].map({ $0.expires <= now }) ?? false { expire(leg) }
  }

  /// A push has expired.
  mutating func expire(_ leg: LegKey) {
    // The service may accept requests in flight.
    let asked = inFlight.numbers(of: leg.push)[leg.leg] ?? NumberSet()
    open[leg]?.finishAll(ChannelEnd.expired, except: asked)
    if open[leg]?.left == 0 { end(leg) }
  }
}

extension FIFO<Delivery> {
  /// Removes the first ones, and returns those whose pushes still exist; nil if there are none.
  mutating func popBatch(of open: [LegKey: ActivePush]) -> [Delivery]? {
    var deliveries: [Delivery] = []
    while deliveries.count < ChannelQueue.Bounds.batch, let next = popFirst() {
      if open[next.key] != nil { deliveries.append(next) }
    }
    return deliveries.isEmpty ? nil : deliveries
  }
}
