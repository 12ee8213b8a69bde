import BorealisBase
import BorealisProtocol
import Core
import Model

/// Decides which pushes are sent on a session, and when: each once, in the order of their IDs, within the
/// window of unacknowledged pushes and the socket's queue.
extension DeviceSession {
  /// Whether the session's app takes pushes over the direct connection now, by the routing table.
  var isReceptive: Bool {
    guard !isLeaving, let platform = Platform(rawValue: platform) else { return false }
    return Routing.isReachable(platform, isOnline: true, isForeground ? .foreground : .background)
  }

  /// Whether the queue and the window allow another push.
  func hasRoom(queued cost: Int, _ limits: PassthroughLimits) -> Bool {
    cost < limits.queuedBytes && unsettled < window(limits)
  }

  /// Pushes that it may have before their acknowledgements are stored. Firefox knows its latest ten again
  /// (`dom.push.maxRecentMessageIDsPerSubscription`): no more may come twice when the server is killed. A
  /// browser that has reconnected may have another window of them while the acknowledgements of the one
  /// before are in memory only, so a window is half of that.
  func window(_ limits: PassthroughLimits) -> UInt16 {
    isAutopush ? min(limits.unsettled, 5) : limits.unsettled
  }

  /// Decides about a new push, or with `isLate` about one that was held back. A session that catches up, or
  /// has too many pushes in flight, gets it later.
  mutating func offer(
    _ id: MessageID, isLate: Bool, queued cost: Int, _ limits: PassthroughLimits
  ) -> PushOffer {
    guard sentThrough < id else { return .left }
    // It was on its way to this loop before the session took pushes. The home has said since what waits: it
    // may have been recalled.
    guard isLate ? !wasSentOutOfTurn(id) : newestWhileAway < id else { return .left }
    guard !isCatchingUp, phase == .loggedIn else {
      hasMissed = true
      return .left
    }
    guard isReceptive, !isBehind else { return .left }
    return hasRoom(queued: cost, limits) ? .sent : .behind
  }

  /// A push was sent.
  mutating func noteSent(_ id: MessageID) {
    sentThrough = id
    addUnsettled()
    guard let extras else { return }
    extras.forgetLeft(id)
    extras.forgetOutOfTurn(through: id)
    shrink()
  }

  private mutating func addUnsettled() { if unsettled < .max { unsettled += 1 } }

  /// There was no room for a push; returns whether that is new.
  mutating func fallBehind() -> Bool {
    defer { isBehind = true }
    return !isBehind
  }

  /// Pushes for it may have been dropped. Returns whether it has to start to catch up; false if it is doing
  /// so.
  mutating func noteMissed() -> Bool {
    if isCatchingUp { hasMissed = true } else { isBehind = true }
    return !isCatchingUp
  }

  // MARK: Out of turn

  /// Whether a push that was held back until now is out of order: newer ones were sent on this connection, or
  /// older ones still wait.
  func isOutOfTurn(_ id: MessageID) -> Bool { sentThrough >= id || isCatchingUp }

  private func wasSentOutOfTurn(_ id: MessageID) -> Bool { extras?.sentOutOfTurn.contains(id) == true }

  /// Decides about a push out of order. If it is not sent, it is remembered, and read with what waits as soon
  /// as there is room, or the app is in the foreground.
  mutating func offerOutOfTurn(_ id: MessageID, queued cost: Int, _ limits: PassthroughLimits) -> PushOffer {
    // A new home may not know that it was sent.
    guard phase == .loggedIn, !isLeaving, !wasSentOutOfTurn(id) else { return .left }
    let isReceptive = isReceptive
    if isReceptive, hasRoom(queued: cost, limits) { return .sent }
    extend().noteLeft(id)
    // The question may have been answered before it was left.
    if isCatchingUp { hasMissed = true }
    return isReceptive && !isCatchingUp ? .behind : .left
  }

  /// A push that was held back until now is to be read with what waits.
  mutating func leave(_ id: MessageID) { if phase == .loggedIn { extend().noteLeft(id) } }

  /// A push was sent out of order, which says nothing about older ones.
  mutating func noteSentOutOfTurn(_ id: MessageID) {
    addUnsettled()
    if sentThrough < id { extend().noteOutOfTurn(id) }
    extras?.forgetLeft(id)
    shrink()
  }

  private func isLeft(_ id: MessageID) -> Bool { extras?.left[id] != nil }

  // MARK: Recall

  /// A push was recalled; returns whether to tell the device. A push that may be being read for it is not
  /// sent.
  mutating func noteRecall(_ id: MessageID) -> Bool {
    extras?.forgetLeft(id)
    shrink()
    if sentThrough >= id || wasSentOutOfTurn(id) { return true }
    guard isCatchingUp else { return false }
    extend().noteRecalled(id)
    return false
  }

  // MARK: Acknowledgements

  /// The device acknowledges a push. One that was not sent on this connection makes no room for others: it
  /// counts until it is settled.
  mutating func noteAcknowledged(_ id: MessageID) {
    if sentThrough < id, !wasSentOutOfTurn(id) { addUnsettled() }
  }

  /// This many of the acknowledgements are about to be stored.
  mutating func noteUnstored(_ count: Int) { unstored = UInt16(clamping: Int(unstored) + count) }

  /// This many acknowledgements were stored.
  mutating func noteStored(_ count: Int) { unstored -= UInt16(min(count, Int(unstored))) }

  /// This many pushes are settled: acknowledged and stored, or unknown. Returns whether a session that was
  /// behind continues: when half of its window is settled, so that its stored pushes are read in batches.
  mutating func settle(_ count: Int, _ limits: PassthroughLimits) -> Bool {
    unsettled -= UInt16(min(count, Int(unsettled)))
    // No push waits for its acknowledgement.
    if let extras, unsettled <= unstored, !extras.reported.isEmpty {
      extras.reported = [:]
      shrink()
    }
    return isBehind && unsettled <= window(limits) / 2
  }

  /// Only this many of the pushes up to the newest sent in order still wait, those that were left among them:
  /// the others were recalled or have ended.
  mutating func recount(waiting count: Int) {
    let outOfTurn = extras?.sentOutOfTurn.count ?? 0
    let left = extras?.left.keys.count { $0 <= sentThrough } ?? 0
    unsettled = min(unsettled, UInt16(clamping: max(0, count - left) + outOfTurn + Int(unstored)))
  }

  // MARK: Kept pushes

  /// The push after which the stored ones are read: up to it nothing is left to be sent.
  var readThrough: MessageID {
    guard let first = extras?.left.keys.min(), first <= sentThrough else { return sentThrough }
    return MessageID(max(1, first.rawValue) - 1)
  }

  /// Starts to catch up: `.sent` if the stored pushes after `readThrough` are to be read now.
  mutating func beginCatchUp(queued cost: Int, _ limits: PassthroughLimits) -> PushOffer {
    guard phase == .loggedIn, !isCatchingUp, isReceptive else { return .left }
    guard hasRoom(queued: cost, limits) else { return .behind }
    isBehind = false
    hasMissed = false
    isCatchingUp = true
    extras?.beginReadingLeft()
    return .sent
  }

  /// How many stored pushes are read at a time, when there is room for one.
  func mostToRead(_ limits: PassthroughLimits) -> Int {
    isAutopush ? Int(window(limits) - unsettled) : limits.catchUpBatch
  }

  /// There are no more stored pushes. Returns whether to ask again, since a push arrived after the question.
  mutating func endCatchUp() -> Bool {
    isCatchingUp = false
    extras?.forgetLeft(readThrough: MessageID(.max))
    endReading()
    return hasMissed
  }

  /// Whether only another login brings all that wait, more having been left than are remembered: the rest has
  /// been sent.
  var mustLoginAgain: Bool { extras?.hasForgottenLeft == true && isReceptive }

  /// Stored pushes were read and are offered one by one now; false if they are outdated.
  mutating func beginKept() -> Bool {
    isCatchingUp = false
    guard isReceptive, extras?.isReadVoid != true else {
      endReading()
      return false
    }
    return true
  }

  /// Decides about a stored push.
  func offerKept(_ id: MessageID, queued cost: Int, _ limits: PassthroughLimits) -> PushOffer {
    guard sentThrough < id || isLeft(id) else { return .left }
    if let extras, extras.sentOutOfTurn.contains(id) || extras.recalled.contains(id) { return .left }
    return hasRoom(queued: cost, limits) ? .sent : .behind
  }

  /// All pushes that were read are done.
  mutating func endReading() {
    guard let extras else { return }
    extras.forgetRecalled()
    shrink()
  }

  /// Stored pushes could not be read. Newer pushes wait until the next attempt, which starts at the same
  /// place.
  mutating func keptWasUnread() {
    isCatchingUp = false
    isBehind = true
    endReading()
  }

  /// All stored pushes up to this one were handled.
  mutating func noteLooked(through id: MessageID) {
    sentThrough = max(sentThrough, id)
    extras?.forgetLeft(readThrough: id)
    extras?.forgetOutOfTurn(through: sentThrough)
    shrink()
  }

  /// The session has ended: nothing more is sent.
  mutating func forgetDelivery() {
    guard let extras else { return }
    extras.forgetDelivery()
    shrink()
  }

  // MARK: The app on the device

  /// The app went to the foreground or background; returns whether it takes pushes now and did not before.
  mutating func enter(isForeground: Bool) -> Bool {
    let wasReceptive = isReceptive
    self.isForeground = isForeground
    return !wasReceptive && isReceptive
  }
}

/// When pushes reached the device.
extension DeviceSession {
  /// Remembers that a device sent receipts for pushes that it has not acknowledged: it had them by now.
  mutating func noteReported(_ ids: [MessageID], at now: Timestamp) {
    guard unsettled > unstored else { return }
    let extras = extend()
    extras.noteReported(ids.filter { $0 <= sentThrough }, at: now)
    shrink()
  }

  /// The arrival time of a push: the time of the acknowledgement minus the age that the device reports, if it
  /// does.
  mutating func arrival(_ id: MessageID, age: UInt32?, at now: Timestamp) -> Arrival {
    let age = age == AgedAcknowledgement.unknownAge ? nil : age
    var reportedAt: Timestamp?
    if let extras, !extras.reported.isEmpty {
      reportedAt = extras.reported.removeValue(forKey: id)
      shrink()
    }
    return Arrival(id, acknowledgedAt: now, age: age, reportedAt: reportedAt)
  }
}
