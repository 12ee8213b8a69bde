import BorealisBase
import Storage

/// The waiting pushes of one app. A push to few is in the list of each target, so that it costs other devices
/// nothing; a push to many is a pair of sets, so that it costs a bit per target. Not thread-safe: its owner
/// locks.
struct DeliveryLedger: Sendable {
  /// The largest audience whose members have the push in their lists: up to here lists are about as small as
  /// sets, and a login need not look at it.
  static let listedTargets = 64

  private(set) var lists = PendingLists()
  /// The settled targets of listed pushes with several targets.
  var partly: [MessageID: DeliveryProgress] = [:]
  /// Listed pushes that were sent to several.
  private var shared = SharedPushes()
  private var pins = PinnedPushes()
  /// In order, since the writer hands IDs out growing.
  var groups = FanOutPushes()
  /// Paced pushes that are not yet due for all of their targets.
  var paced: [MessageID] = []
  /// For whom open pushes wait only from the end of quiet hours on.
  private(set) var held = HeldTargets()

  let limits: PendingLimits

  init(limits: PendingLimits) { self.limits = limits }

  /// Entries of all lists.
  var listedCount: Int { lists.count }

  /// Places of the pool that a sweep has to visit.
  var places: Int { lists.places }

  /// Pushes to many that are open.
  var groupCount: Int { groups.count }

  /// Whether all parts agree: lists and pool, pushes to many in order, and nothing kept of pushes that are
  /// over. For assertions, since it visits everything.
  func isConsistent(in table: RegistrationTable) -> Bool {
    lists.isConsistent { table.records[$0.rawValue].pending }
      && groups.isConsistent
      && partly.keys.allSatisfy { isOpen($0) || pins.contains($0) }
      && shared.isConsistent(with: lists)
      && held.pushes.allSatisfy { isOpen($0) || pins.contains($0) }
  }

  // MARK: Quiet hours

  /// Has a push that is open, or is opened next, wait for some registrations only from `release` on.
  mutating func hold(_ id: MessageID, _ numbers: NumberSet) { held.add(id, numbers) }

  /// The quiet hours of some registrations have ended. Other channels bring some of them their notification:
  /// `push` knows that, and whoever has yet to get it with paced delivery gets it so.
  mutating func release(_ id: MessageID, _ numbers: NumberSet, _ push: StoredPush?) {
    held.remove(id, numbers)
    if let push, let place = groups.place(of: id) { groups[place].paced?.push = push }
  }

  /// Forgets whom a push that is not open would wait for later.
  mutating func forgetHeld(_ id: MessageID) { if !isOpen(id) { held.remove(id) } }

  // MARK: Opening

  /// Opens a push to few, with the targets for which it was settled before a restart. If the list of its only
  /// target is full, the oldest push is dropped and returned.
  mutating func open(
    _ id: MessageID, expires: UInt32, for numbers: [RegistrationNumber], isToOne: Bool,
    progress: DeliveryProgress? = nil, in table: inout RegistrationTable
  ) -> DeliveryChange {
    var change = DeliveryChange()
    if !isToOne { shared.add(id, of: numbers) }
    for number in numbers {
      if isToOne,
        table.records[number.rawValue].pending.count - shared.count(of: number) >= limits.perDevice
      {
        let oldest = lists.removeFirst(from: &table.records[number.rawValue].pending) { [shared] in
          !shared.contains($0)
        }
        if let oldest { lose(oldest, number, .dropped, &change) }
      }
      lists.append(id, expires: expires, of: number, to: &table.records[number.rawValue].pending)
    }
    if let progress, !progress.isEmpty { partly[id, default: DeliveryProgress()].formUnion(progress) }
    pins.noteOpened(id)
    return change
  }

  /// Records that a push has left a registration's list.
  private mutating func left(_ id: MessageID, _ number: RegistrationNumber) {
    if shared.contains(id) { shared.leave(id, number, isOver: !lists.contains(id)) }
  }

  /// Removes a push from a registration's list; false if it is not there.
  mutating func remove(
    _ id: MessageID, of number: RegistrationNumber, in table: inout RegistrationTable
  ) -> Bool {
    guard lists.remove(id, of: number, from: &table.records[number.rawValue].pending) else { return false }
    left(id, number)
    return true
  }

  /// Whether a push waits for any device.
  func isOpen(_ id: MessageID) -> Bool { lists.contains(id) || groups.place(of: id) != nil }

  /// Opens a fan-out push; its ID is larger than that of every group push before it.
  mutating func open(_ push: FanOutPush) {
    groups.append(push)
    if push.paced != nil { paced.append(push.id) }
  }

  /// Records that a push, which has left a registration's list, will not reach it.
  private mutating func lose(
    _ id: MessageID, _ number: RegistrationNumber, _ status: OutcomeStatus, _ change: inout DeliveryChange
  ) {
    if let ended = endIfOver(id, status) {
      change.ended.append(ended)
      return
    }
    if status == .replaced {
      partly[id, default: DeliveryProgress()].replaced.insert(number)
    } else {
      partly[id, default: DeliveryProgress()].crowdedOut.insert(number)
    }
    change.partly.append(id)
  }

  /// The end of a listed push that has left its last list; removes the rest of it. That of a pinned push
  /// waits, unless it has expired.
  private mutating func endIfOver(
    _ id: MessageID, _ status: OutcomeStatus, acknowledger: RegistrationNumber? = nil
  ) -> EndedPush? {
    guard !isOpen(id) else { return nil }
    held.remove(id)
    if status == .expired { pins.noteEnded(id) } else if pins.contains(id) { return nil }
    return EndedPush(
      id, status, progress: partly.isEmpty ? nil : partly.removeValue(forKey: id), acknowledger: acknowledger)
  }

  // MARK: Pins

  /// Keeps a push from ending until `unpin`; says whether its end is yet to come.
  mutating func pin(_ id: MessageID) -> Bool { pins.pin(id, isOpen: isOpen(id)) }

  /// Whether a push is pinned, and whether it has ended all the same.
  func isPinned(_ id: MessageID) -> (isPinned: Bool, isOver: Bool) { (pins.contains(id), pins.isOver(id)) }

  /// Lets a push end again; returns its end if it waits for no device.
  mutating func unpin(_ id: MessageID) -> EndedPush? {
    guard pins.unpin(id), !isOpen(id) else { return nil }
    held.remove(id)
    let progress = partly.removeValue(forKey: id)
    return EndedPush(id, progress?.end ?? .replaced, progress: progress)
  }

  // MARK: Deliveries

  /// Records a device's acknowledgement, with the arrival time if known. False when nothing waited: an
  /// unknown ID, another device's, or acknowledged before.
  mutating func acknowledge(
    _ id: MessageID, by number: RegistrationNumber, at moment: Timestamp? = nil,
    in table: inout RegistrationTable, _ change: inout DeliveryChange
  ) -> Bool {
    if remove(id, of: number, in: &table) {
      if let ended = endIfOver(id, .delivered, acknowledger: number) {
        change.ended.append(ended)
        return true
      }
      partly[id, default: DeliveryProgress()].delivered.insert(number)
      if let moment { partly[id]?.note(moment) }
      assert(partly[id]?.isDisjoint(at: number) == true, "it waits for nobody for whom it is settled")
      change.partly.append(id)
      return true
    }
    guard let place = groups.place(of: id), groups[place].isPending(for: number) else { return false }
    groups[place].progress.delivered.insert(number)
    if let moment { groups[place].progress.note(moment) }
    change.partly.append(id)
    return true
  }

  /// Whether a registration has acknowledged a push that others wait for still.
  func hasAcknowledged(_ id: MessageID, by number: RegistrationNumber) -> Bool {
    if partly[id]?.delivered.contains(number) == true { return true }
    return groups.place(of: id).map { groups[$0].progress.delivered.contains(number) } ?? false
  }

  /// The settled targets of an open push to several; nil if there are none, or if it is not open.
  func progress(_ id: MessageID) -> DeliveryProgress? {
    guard let place = groups.place(of: id) else { return partly[id] }
    guard var listed = partly[id] else { return groups[place].progress }
    // A service refused a push to many for a few, for whom it is listed.
    listed.formUnion(groups[place].progress)
    return listed
  }

  // MARK: Ends

  /// Drops the oldest pushes to several while there are too many, or they take too much. The newest stays.
  mutating func makeRoom(for newest: MessageID, in table: inout RegistrationTable) -> [EndedPush] {
    let most = max(limits.bytes, limits.bytesPerRegistration * table.count)
    var ended: [EndedPush] = []
    while true {
      let areTooMany = groups.count > limits.toMany
      guard areTooMany || groups.bytes + shared.bytes > most else { return ended }
      let mayEnd = { [pins] (id: MessageID) in id != newest && !pins.contains(id) }
      let listed = areTooMany ? nil : shared.oldest(where: mayEnd)
      guard let oldest = [groups.oldest(where: mayEnd), listed].compactMap({ $0 }).min() else {
        return ended
      }
      let (waiting, progress) = withdraw(oldest, in: &table)
      let status = waiting > 0 ? .dropped : progress?.end ?? .dropped
      ended.append(EndedPush(oldest, status, progress: progress))
    }
  }

  /// Recalls a push. Returns how many targets it still waited for, and its result.
  mutating func withdraw(
    _ id: MessageID, in table: inout RegistrationTable
  ) -> (waiting: Int, progress: DeliveryProgress?) {
    let progress = progress(id)
    let owners = lists.owners(of: id)
    for owner in owners { _ = remove(id, of: owner, in: &table) }
    partly[id] = nil
    held.remove(id)
    pins.noteEnded(id)
    guard let place = groups.place(of: id) else { return (owners.count, progress) }
    return (owners.count + groups.remove(at: place).waitingCount, progress)
  }

  /// Removes all pushes of a registration that was replaced.
  mutating func release(
    _ number: RegistrationNumber, in table: inout RegistrationTable
  ) -> DeliveryChange {
    var change = DeliveryChange()
    while let id = lists.removeFirst(from: &table.records[number.rawValue].pending) {
      left(id, number)
      lose(id, number, .replaced, &change)
    }
    change.partly += groups.release(number)
    return change
  }

  /// Removes dead listed pushes: a step of the sweep over `count` places from `place` on. Returns the pushes
  /// that have ended, and where the next step begins, 0 after the last.
  mutating func expireListed(
    from place: Int, count: Int, at seconds: UInt32, in table: inout RegistrationTable
  ) -> (ended: [EndedPush], next: Int) {
    var ended: [EndedPush] = []
    for owner in lists.ownersOfExpired(in: place..<place + count, at: seconds) {
      for id in lists.removeExpired(at: seconds, from: &table.records[owner.rawValue].pending) {
        left(id, owner)
        // A push to several is dead for all of them, so that none can end it in another way.
        for other in lists.owners(of: id) { _ = remove(id, of: other, in: &table) }
        if let end = endIfOver(id, .expired) { ended.append(end) }
      }
    }
    let next = place + count
    return (ended, next < lists.places ? next : 0)
  }

  /// Removes the fan-out pushes that are dead or wait for no device.
  mutating func expireGroups(at seconds: UInt32, in table: inout RegistrationTable) -> [EndedPush] {
    var ended: [EndedPush] = []
    groups.forEach { group in
      let isComplete = group.isComplete && !lists.contains(group.id) && !pins.contains(group.id)
      guard isComplete || group.expires <= seconds else { return }
      let status: OutcomeStatus = isComplete ? group.progress.end : .expired
      ended.append(EndedPush(group.id, status, progress: progress(group.id)))
    }
    guard !ended.isEmpty else { return [] }
    let over = Set(ended.map(\.id))
    groups.remove(over)
    for id in over {
      for owner in lists.owners(of: id) { _ = remove(id, of: owner, in: &table) }
      partly[id] = nil
      held.remove(id)
      pins.noteEnded(id)
    }
    return ended
  }
}
