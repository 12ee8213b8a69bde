import PushBase
import PushDomain
import PushNet
import PushRouter
import PushWire

extension DeviceServer {
  func handle(_ mail: DeviceMail) {
    switch mail {
    case .deliver(let push, let location):
      guard isCurrent(location.slot, location.generation) else { return }
      deliver(push, location.slot)
    case .group(let push, let group):
      guard let app = appIndexes[push.app.id] else { return }
      fanOuts.append(
        FanOut(push: push, group: group, app: Int(app), position: apps[Int(app)].slots.count))
    case .recall(let id, let app, let audience): recall(id, app, audience)
    case .disconnect(let location, let reason):
      guard isCurrent(location.slot, location.generation) else { return }
      goAway(location.slot, Self.closeReason(reason))
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
    let frame = SharedFrame(.recall(id))
    for slot in apps[Int(index)].slots
    where slab[slot].sentThrough >= id && audience.contains(RegistrationNumber(slab[slot].number)) {
      send(slot, frame)
    }
  }

  // MARK: Live pushes

  private func deliver(_ push: LivePush, _ slot: UInt32) {
    if push.isLate, slab[slot].sentThrough >= push.id || slab[slot].isCatchingUp {
      deliverOutOfTurn(push, slot)
      return
    }
    guard takesLive(slot, push.id), let frame = encode(push.id, push.push, slot)
    else { return }
    noteSent(push.id, slot)
    send(slot, frame)
  }

  /// Sends a push that Apple had until now, although newer ones were sent on this connection. If that is not possible
  /// it waits for the next login.
  private func deliverOutOfTurn(_ push: LivePush, _ slot: UInt32) {
    guard slab[slot].isReceptive, slab[slot].hasRoom(limits), let frame = encode(push.id, push.push, slot)
    else { return }
    // Says nothing about the others up to this one.
    noteSent(slab[slot].sentThrough, slot)
    send(slot, frame)
  }

  /// Whether a session takes a new push now. One that catches up, or has too much on its way, gets it later.
  func takesLive(_ slot: UInt32, _ id: MessageID) -> Bool {
    switch slab[slot].answer(to: id, limits) {
    case .takes: return true
    case .declines: return false
    case .isFull:
      fallBehind(slot)
      return false
    }
  }

  private func fallBehind(_ slot: UInt32) {
    if !slab[slot].isBehind { metrics.slowDevices.add() }
    slab[slot].isBehind = true
    // The acknowledgements may be here already, and only have to be stored.
    if slab[slot].unsettled >= limits.unsettled { router.hurryAcknowledgements() }
  }

  func noteSent(_ id: MessageID, _ slot: UInt32) {
    slab[slot].noteSent(id)
    counts.pushFrames += 1
  }

  /// Takes a device's acknowledgements.
  func acknowledge(_ ids: [MessageID], _ slot: UInt32) {
    let known = router.acknowledge(
      ids, by: RegistrationNumber(slab[slot].number), in: app(of: slot), from: location(slot))
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
    return encode(
      id, push, platform, viaAPNs: goesToApple(push, slot), offline: id <= slab[slot].newestWhileAway)
  }

  func goesToApple(_ push: StoredPush, _ slot: UInt32) -> Bool {
    push.goesToApple(for: RegistrationNumber(slab[slot].number))
  }

  func encode(
    _ id: MessageID, _ push: StoredPush, _ platform: Platform, viaAPNs: Bool, offline: Bool
  ) -> SharedFrame? {
    let json = push.deviceJSON(platform, viaAPNs: viaAPNs)
    let bytes = ServerFrame.encodePush(messageID: id, offline: offline, content: json)
    return bytes.isEmpty ? nil : SharedFrame(bytes)
  }

  // MARK: Kept pushes

  /// Starts to deliver what waits for a session, oldest first, a batch at a time.
  func catchUp(_ slot: UInt32) {
    let session = slab[slot]
    guard session.app >= 0, !session.isCatchingUp, session.isReceptive else { return }
    guard session.hasRoom(limits) else { return fallBehind(slot) }
    slab[slot].isBehind = false
    let ids = apps[Int(session.app)].app.directory.pending(
      for: RegistrationNumber(session.number), after: session.sentThrough,
      at: UInt32(clamping: time.now().seconds), limit: limits.catchUpBatch)
    guard let last = ids.last else { return }
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
    guard slab[slot].isReceptive, slab[slot].app >= 0 else { return }
    let app = apps[Int(slab[slot].app)].app
    let number = RegistrationNumber(slab[slot].number)
    let seconds = UInt32(clamping: time.now().seconds)
    // Asked again, because a push may have been taken back while its content was read.
    let waiting = Set(
      app.directory.pending(
        for: number, after: slab[slot].sentThrough, at: seconds, limit: limits.catchUpBatch))
    for (id, content) in contents where slab[slot].sentThrough < id && waiting.contains(id) {
      guard slab[slot].hasRoom(limits) else { return fallBehind(slot) }
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
