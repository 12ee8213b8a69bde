import PushBase
import PushDomain
import PushRouter
import PushWire

/// Which pushes are sent on a session, and when: each once, in the order of their IDs, and no more at a time than the device
/// acknowledges and its connection takes.
extension DeviceSession {
  /// What becomes of a push.
  enum Offer: Equatable {
    /// It is sent now.
    case sent
    /// It is not for this session now: it was sent, or waits for its turn.
    case left
    /// There is no room: this session falls behind.
    case behind
  }

  /// Whether the app behind a session takes pushes over our connection now, by the routing table.
  var isReceptive: Bool {
    guard !isLeaving, let platform = Platform(rawValue: platform) else { return false }
    return Routing.isReachable(platform, isOnline: true, isForeground ? .foreground : .background)
  }

  /// Whether what is queued and the device's acknowledgements allow another push.
  func hasRoom(queued cost: Int, _ limits: PassthroughLimits) -> Bool {
    cost < limits.queuedBytes && unsettled < limits.unsettled
  }

  /// Whether a new push is sent now. To a session that catches up, or has too much on its way, it is sent later.
  mutating func offer(_ id: MessageID, queued cost: Int, _ limits: PassthroughLimits) -> Offer {
    guard sentThrough < id else { return .left }
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
    unsettled += 1
  }

  /// There was no room for a push; tells whether that is new.
  mutating func fallBehind() -> Bool {
    defer { isBehind = true }
    return !isBehind
  }

  /// Pushes may have been lost on their way to it. Tells whether it has to catch up, which it does not if it is doing so.
  mutating func noteMissed() -> Bool {
    if isCatchingUp { hasMissed = true } else { isBehind = true }
    return !isCatchingUp
  }

  // MARK: Out of turn

  /// Whether a push that was held back until now is not offered in its turn any more: newer ones were sent on this connection, or older
  /// ones still are.
  func isOutOfTurn(_ id: MessageID) -> Bool { sentThrough >= id || isCatchingUp }

  /// Whether a push is sent although it is not its turn. If not it waits for that, or for the next login.
  func offerOutOfTurn(queued cost: Int, _ limits: PassthroughLimits) -> Offer {
    isReceptive && hasRoom(queued: cost, limits) ? .sent : .left
  }

  /// A push was sent out of its turn, which says nothing about the others up to it.
  mutating func noteSentOutOfTurn(_ id: MessageID) {
    if sentThrough < id { extend().sentOutOfTurn.insert(id) }
    noteSent(sentThrough)
  }

  // MARK: Recall

  /// Recalls that are remembered while contents are being read.
  private static var mostRecalled: Int { 256 }

  /// A push was recalled; tells whether the device has to know. One that is perhaps being read for it is not sent when it comes.
  mutating func noteRecall(_ id: MessageID) -> Bool {
    if sentThrough >= id || extras?.sentOutOfTurn.contains(id) == true { return true }
    guard isCatchingUp else { return false }
    let extras = extend()
    if extras.recalled.count < Self.mostRecalled {
      extras.recalled.insert(id)
    } else {
      extras.isReadVoid = true
    }
    return false
  }

  // MARK: Acknowledgements

  /// Of what was acknowledged so many are about to be stored.
  mutating func noteUnstored(_ count: Int) { unstored = UInt16(clamping: Int(unstored) + count) }

  /// So many acknowledgements were stored.
  mutating func noteStored(_ count: Int) { unstored -= UInt16(min(count, Int(unstored))) }

  /// So many pushes are settled: acknowledged and stored, or unknown. Tells whether a session that was behind goes on: when half of what
  /// it may have is settled, so that its kept pushes are read in batches.
  mutating func settle(_ count: Int, _ limits: PassthroughLimits) -> Bool {
    unsettled -= UInt16(min(count, Int(unsettled)))
    // No push waits for its acknowledgement any more.
    if let extras, unsettled <= unstored, !extras.reported.isEmpty {
      extras.reported = [:]
      shrink()
    }
    return isBehind && unsettled <= limits.unsettled / 2
  }

  /// Of what was sent in its turn only so many still wait: the others were taken back or are over.
  mutating func recount(waiting count: Int) {
    let outOfTurn = extras?.sentOutOfTurn.count ?? 0
    unsettled = min(unsettled, UInt16(clamping: count + outOfTurn + Int(unstored)))
  }

  // MARK: Kept pushes

  /// Begins to catch up: `.sent` if what is kept after `sentThrough` is to be read now.
  mutating func beginCatchUp(queued cost: Int, _ limits: PassthroughLimits) -> Offer {
    guard phase == .loggedIn, !isCatchingUp, isReceptive else { return .left }
    guard hasRoom(queued: cost, limits) else { return .behind }
    isBehind = false
    hasMissed = false
    isCatchingUp = true
    return .sent
  }

  /// Nothing more is kept. Tells whether to ask again, since something came after the question.
  mutating func endCatchUp() -> Bool {
    isCatchingUp = false
    endReading()
    if hasMissed { return true }
    if let extras {
      extras.sentOutOfTurn = []
      shrink()
    }
    return false
  }

  /// What was kept has been read and is offered push by push now; false if it is of no use any more.
  mutating func beginKept() -> Bool {
    isCatchingUp = false
    guard isReceptive, extras?.isReadVoid != true else {
      endReading()
      return false
    }
    return true
  }

  /// Whether a push that was kept is sent now.
  func offerKept(_ id: MessageID, queued cost: Int, _ limits: PassthroughLimits) -> Offer {
    guard sentThrough < id else { return .left }
    if let extras, extras.sentOutOfTurn.contains(id) || extras.recalled.contains(id) { return .left }
    return hasRoom(queued: cost, limits) ? .sent : .behind
  }

  /// What was read is through.
  mutating func endReading() {
    guard let extras else { return }
    extras.recalled = []
    extras.isReadVoid = false
    shrink()
  }

  /// What was kept could not be read. Newer pushes wait until the next try, which begins at the same place.
  mutating func keptWasUnread() {
    isCatchingUp = false
    isBehind = true
    endReading()
  }

  /// All that was kept up to a push was looked at.
  mutating func noteLooked(through id: MessageID) { sentThrough = max(sentThrough, id) }

  /// The session has ended: nothing is owed to it.
  mutating func forgetDelivery() {
    guard let extras else { return }
    extras.sentOutOfTurn = []
    extras.recalled = []
    extras.isReadVoid = false
    extras.reported = [:]
    shrink()
  }

  // MARK: The app on the device

  /// The app came to the foreground or went away; tells whether it takes pushes now and did not before.
  mutating func enter(isForeground: Bool) -> Bool {
    let wasReceptive = isReceptive
    self.isForeground = isForeground
    return !wasReceptive && isReceptive
  }
}

/// When pushes reached the device.
extension DeviceSession {
  /// Remembers that a device told of pushes that it has not acknowledged: it had them by now.
  mutating func noteReported(_ ids: [MessageID], at now: Timestamp) {
    guard unsettled > unstored else { return }
    let extras = extend()
    extras.noteReported(ids.filter { $0 <= sentThrough }, at: now)
    shrink()
  }

  /// When a push came, by an acknowledgement with the age that the device tells, if it does; without one that is when it is here.
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
