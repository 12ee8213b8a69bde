import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWire

/// A group push on its way over one loop's sessions of its app.
struct FanOut {
  let push: LivePush
  let group: GroupPush
  /// Whom Apple brings a part. Beside `push`, so that asking for each session does not copy all of it.
  let apple: NumberSet?
  let app: Int
  /// Sessions below this position are still to be visited. From the end to the start, because a session that leaves is
  /// replaced by the last one, which was visited already; sessions that join at the end find the push as waiting.
  var position: Int
  /// Encoded once for each platform, with and without what Apple brings, shared by all sockets.
  var frames: [SharedFrame?]
}

extension DeviceServer {
  func handle(_ mail: DeviceMail) {
    switch mail {
    case .deliver(let push, let location):
      guard isCurrent(location.slot, location.generation) else { return }
      deliver(push, location.slot)
    case .group(let push, let group):
      guard let app = appIndexes[push.app.id] else { return }
      fanOuts.append(
        FanOut(
          push: push, group: group, apple: push.push.apns, app: Int(app),
          position: apps[Int(app)].slots.count,
          frames: Array(repeating: nil, count: 16)))
    case .recall(let id, let app, let audience): recall(id, app, audience)
    case .disconnect(let location, let reason):
      guard isCurrent(location.slot, location.generation) else { return }
      goAway(location.slot, Self.closeReason(reason))
    case .forget(let app): forget(app)
    case .acknowledgementsStored(let stored):
      for one in stored where isCurrent(one.location.slot, one.location.generation) {
        settled(one.count, one.location.slot)
      }
    case .contents(let token, let contents, let through):
      guard isCurrent(token.slot, token.generation) else { return }
      switch contents {
      case .success(let contents): deliverKept(contents, through: through, token.slot)
      case .failure:
        // The database is busy. Newer pushes must wait until the next try, which begins at the same place.
        slab[token.slot].isCatchingUp = false
        slab[token.slot].isBehind = true
        unserved.append(token)
      }
    case .answer(let token, let bytes):
      guard isCurrent(token.slot, token.generation) else { return }
      send(token.slot, SharedFrame(bytes))
    case .registered(let token, let answer):
      guard isCurrent(token.slot, token.generation) else { return }
      registered(answer, token.slot)
    case .resolved(let token, let frame, let app):
      guard isCurrent(token.slot, token.generation), slab[token.slot].phase == .waiting else { return }
      resolved(frame, app, token.slot)
    }
  }

  private func isCurrent(_ slot: UInt32, _ generation: UInt32) -> Bool {
    slab.isCurrent(slot, generation) && slab[slot].phase != .closing
  }

  private static func closeReason(_ reason: DisconnectReason) -> CloseReason {
    switch reason {
    case .replacedByLogin: .replaced
    case .registrationReplaced: .registrationReplaced
    case .appDisabled: .appDisabled
    }
  }

  /// Tells those who got a push that it was taken back.
  private func recall(_ id: MessageID, _ app: App, _ audience: NumberSet) {
    guard let index = appIndexes[app.id] else { return }
    var bytes: [UInt8] = []
    ServerFrame.recall(id).encode(into: &bytes)
    let frame = SharedFrame(bytes)
    for slot in apps[Int(index)].slots
    where slab[slot].sentThrough >= id && audience.contains(RegistrationNumber(slab[slot].number)) {
      send(slot, frame)
    }
  }

  /// Whether the app behind a session takes pushes over our connection now, by the routing table.
  func isReceptive(_ slot: UInt32) -> Bool {
    guard let platform = Platform(rawValue: slab[slot].platform) else { return false }
    return Routing.isInReach(
      platform, isOnline: true, slab[slot].isForeground ? .foreground : .background)
  }

  // MARK: Live pushes

  private func deliver(_ push: LivePush, _ slot: UInt32) {
    if push.isLate, slab[slot].sentThrough >= push.id || slab[slot].isCatchingUp {
      deliverOutOfTurn(push, slot)
      return
    }
    sendBroadcasts(before: push.id, slot)
    guard takesLive(slot, push.id), let frame = encode(push.id, push.push, slot)
    else { return }
    noteSent(push.id, slot)
    send(slot, frame)
  }

  /// Broadcasts that have not come to a session yet go before a newer push: behind it they would count as sent.
  private func sendBroadcasts(before id: MessageID, _ slot: UInt32) {
    for index in fanOuts.indices
    where fanOuts[index].app == Int(slab[slot].app) && fanOuts[index].push.id < id {
      if let frame = frame(of: index, for: slot) { send(slot, frame) }
    }
  }

  /// Sends a push that was held back until now, although newer ones were sent on this connection, or older ones still are.
  /// If that is not possible it waits for its turn, or for the next login.
  private func deliverOutOfTurn(_ push: LivePush, _ slot: UInt32) {
    guard isReceptive(slot), hasRoom(slot), let frame = encode(push.id, push.push, slot)
    else { return }
    if slab[slot].sentThrough < push.id { sentOutOfTurn[slot, default: []].insert(push.id) }
    // Says nothing about the others up to this one.
    noteSent(slab[slot].sentThrough, slot)
    send(slot, frame)
  }

  /// Whether a session takes a new push now. One that catches up, or has too much on its way, gets it later.
  private func takesLive(_ slot: UInt32, _ id: MessageID) -> Bool {
    guard slab[slot].sentThrough < id, !slab[slot].isCatchingUp, isReceptive(slot) else { return false }
    guard !slab[slot].isBehind else { return false }
    guard hasRoom(slot) else {
      fallBehind(slot)
      return false
    }
    return true
  }

  private func fallBehind(_ slot: UInt32) {
    if !slab[slot].isBehind { metrics.slowDevices.add() }
    slab[slot].isBehind = true
    // The acknowledgements may be here already, and only have to be stored.
    if slab[slot].unsettled >= limits.unsettled { router.hurryAcknowledgements() }
  }

  /// Whether a session's queue and its device's acknowledgements allow another push.
  private func hasRoom(_ slot: UInt32) -> Bool {
    slab[slot].queue.cost < limits.queuedBytes && slab[slot].unsettled < limits.unsettled
  }

  private func noteSent(_ id: MessageID, _ slot: UInt32) {
    slab[slot].sentThrough = id
    slab[slot].unsettled += 1
    counts.pushFrames += 1
  }

  /// Takes a device's acknowledgements.
  func acknowledge(_ ids: [MessageID], _ slot: UInt32) {
    guard let app = app(of: slot) else { return }
    let known = router.acknowledge(
      ids, by: RegistrationNumber(slab[slot].number), in: app, from: location(slot),
      newestWhileAway: slab[slot].newestWhileAway)
    // There is nothing to store about the others.
    settled(ids.count - known, slot)
    if slab[slot].isBehind, known > 0 { router.hurryAcknowledgements() }
  }

  /// Acknowledgements are stored. A session that was behind goes on when half of what it may have is settled, so that
  /// its kept pushes are read in batches.
  private func settled(_ count: Int, _ slot: UInt32) {
    slab[slot].unsettled -= UInt16(min(count, Int(slab[slot].unsettled)))
    if slab[slot].isBehind, slab[slot].unsettled <= limits.unsettled / 2 { catchUp(slot) }
  }

  private func encode(_ id: MessageID, _ push: StoredPush, _ slot: UInt32) -> SharedFrame? {
    guard let platform = Platform(rawValue: slab[slot].platform) else { return nil }
    let viaAPNs = push.goesToApple(for: RegistrationNumber(slab[slot].number))
    return encode(id, push, platform, viaAPNs: viaAPNs, offline: id <= slab[slot].newestWhileAway)
  }

  private func encode(
    _ id: MessageID, _ push: StoredPush, _ platform: Platform, viaAPNs: Bool, offline: Bool
  ) -> SharedFrame? {
    let json = push.deviceJSON(platform, viaAPNs: viaAPNs)
    let bytes = ServerFrame.encodePush(messageID: id, offline: offline, content: json)
    return bytes.isEmpty ? nil : SharedFrame(bytes)
  }

  // MARK: Broadcasts

  /// Visits some sessions more. Several group pushes of one app that wait for the same session leave in one write.
  /// Returns whether there is more to do.
  func advanceFanOuts() -> Bool {
    guard !fanOuts.isEmpty else { return false }
    var budget = limits.fanOutSlice
    var index = 0
    while index < fanOuts.count, budget > 0 {
      // A budget for each app in turn would be unfair to none: the first push of every app moves in each turn.
      let app = fanOuts[index].app
      let isFirstOfApp = !fanOuts[..<index].contains { $0.app == app }
      if isFirstOfApp { budget -= advance(index, limits.fanOutSlice) }
      index += 1
    }
    fanOuts.removeAll { $0.position <= 0 }
    return !fanOuts.isEmpty
  }

  private func advance(_ index: Int, _ limit: Int) -> Int {
    let app = fanOuts[index].app
    let others = Array(
      fanOuts.indices.lazy.filter { $0 > index && self.fanOuts[$0].app == app }.prefix(limits.fanOutsTogether)
    )
    var visited = 0
    while fanOuts[index].position > 0, visited < limit {
      fanOuts[index].position -= 1
      visited += 1
      let position = fanOuts[index].position
      guard position < apps[app].slots.count else { continue }
      visit(apps[app].slots[position], index, others)
    }
    return visited
  }

  private func visit(_ slot: UInt32, _ index: Int, _ others: [Int]) {
    let first = frame(of: index, for: slot)
    guard !others.isEmpty else {
      if let first { sendNow(slot, first) }
      return
    }
    if let first { send(slot, first) }
    for other in others {
      if let more = frame(of: other, for: slot) { send(slot, more) }
    }
  }

  /// The frame of a group push for a session that is to get it now; notes that it was sent.
  private func frame(of index: Int, for slot: UInt32) -> SharedFrame? {
    let id = fanOuts[index].push.id
    // Nearly always so when several go together: then all but the first pass find it sent.
    guard slab[slot].sentThrough < id else { return nil }
    let number = RegistrationNumber(slab[slot].number)
    guard fanOuts[index].group.targets.contains(number), takesLive(slot, id) else { return nil }
    let viaAPNs = fanOuts[index].apple?.contains(number) ?? false
    let key = Int(slab[slot].platform) & 7 | (viaAPNs ? 8 : 0)
    if fanOuts[index].frames[key] == nil, let platform = Platform(rawValue: slab[slot].platform) {
      let push = fanOuts[index].push.push
      fanOuts[index].frames[key] = encode(id, push, platform, viaAPNs: viaAPNs, offline: false)
    }
    guard let frame = fanOuts[index].frames[key] else { return nil }
    noteSent(id, slot)
    return frame
  }

  // MARK: Kept pushes

  /// Starts to deliver what waits for a session, oldest first, a batch at a time.
  func catchUp(_ slot: UInt32) {
    let session = slab[slot]
    guard let app = app(of: slot), !session.isCatchingUp, isReceptive(slot) else { return }
    guard hasRoom(slot) else { return fallBehind(slot) }
    slab[slot].isBehind = false
    let ids = app.directory.pending(
      for: RegistrationNumber(session.number), after: session.sentThrough,
      at: UInt32(clamping: time.now().seconds), limit: limits.catchUpBatch)
    guard let last = ids.last else {
      sentOutOfTurn[slot] = nil
      return
    }
    slab[slot].isCatchingUp = true
    let (mailbox, token) = (mailbox, token(slot))
    router.contents(of: ids) { mailbox.post(.contents(token, $0, through: last)) }
  }

  /// Tries again for sessions whose kept pushes could not be read.
  func serveUnserved() {
    var tokens: [SessionToken] = []
    swap(&tokens, &unserved)
    for token in tokens where isCurrent(token.slot, token.generation) { catchUp(token.slot) }
  }

  private func deliverKept(_ contents: [(MessageID, StoredPush)], through: MessageID, _ slot: UInt32) {
    slab[slot].isCatchingUp = false
    guard isReceptive(slot), let app = app(of: slot) else { return }
    let number = RegistrationNumber(slab[slot].number)
    let seconds = UInt32(clamping: time.now().seconds)
    // Asked again, because a push may have been taken back while its content was read.
    let waiting = Set(
      app.directory.pending(
        for: number, after: slab[slot].sentThrough, at: seconds, limit: limits.catchUpBatch))
    let already = sentOutOfTurn[slot] ?? []
    for (id, content) in contents
    where slab[slot].sentThrough < id && waiting.contains(id) && !already.contains(id) {
      guard hasRoom(slot) else { return fallBehind(slot) }
      if let frame = encode(id, content, slot) {
        noteSent(id, slot)
        send(slot, frame)
      }
      slab[slot].sentThrough = id
    }
    slab[slot].sentThrough = max(slab[slot].sentThrough, through)
    catchUp(slot)
  }
}
