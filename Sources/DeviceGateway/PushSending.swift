import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Model

/// Sends single and stored pushes, as far as windows and queues allow, and processes acknowledgements.
final class PushSending {
  private let connections: DeviceConnections
  private var limits: PassthroughLimits { connections.limits }
  /// Places among the apps that have acknowledgements.
  private(set) var acknowledgedApps: [Int] = []
  /// Sessions whose stored pushes could not be read; retried each second.
  private var unserved: [SessionToken] = []
  /// Sessions that may have missed pushes, to catch up.
  private var lagging = SessionQueue()
  /// Sessions with a full window, to be checked again.
  private var crowded = SessionQueue()

  init(_ connections: DeviceConnections) { self.connections = connections }

  // MARK: Live pushes

  /// Sends a push to a session in order.
  func deliver(_ push: LivePush, _ slot: UInt32) {
    guard acceptsLive(slot, push.id, isLate: push.isLate), let frame = encode(push.id, push.push, slot) else {
      return
    }
    noteSent(push.id, slot)
    connections.send(slot, frame)
  }

  /// Sends a push that was held back until now, although newer ones were sent on this connection, or older
  /// ones still wait. If that is not possible it is read with what waits, as soon as it is.
  func deliverOutOfTurn(_ push: LivePush, _ slot: UInt32) {
    let cost = connections.slab[slot].connection.queue.cost
    switch connections.slab[slot].core.offerOutOfTurn(push.id, queued: cost, limits) {
    case .left: break
    case .behind: fallBehind(slot)
    case .sent: sendOutOfTurn(push.id, push.push, slot)
    }
  }

  private func sendOutOfTurn(_ id: MessageID, _ push: StoredPush, _ slot: UInt32) {
    guard let frame = encode(id, push, slot) else { return }
    connections.slab[slot].core.noteSentOutOfTurn(id)
    connections.counts.pushFrames += 1
    connections.send(slot, frame)
  }

  /// Whether a session takes a new push now. One that catches up, or has too many pushes in flight, gets it
  /// later.
  func acceptsLive(_ slot: UInt32, _ id: MessageID, isLate: Bool) -> Bool {
    let cost = connections.slab[slot].connection.queue.cost
    let offer = connections.slab[slot].core.offer(id, isLate: isLate, queued: cost, limits)
    if offer == .behind { fallBehind(slot) }
    return offer == .sent
  }

  func noteSent(_ id: MessageID, _ slot: UInt32) {
    connections.slab[slot].core.noteSent(id)
    connections.counts.pushFrames += 1
  }

  private func encode(_ id: MessageID, _ push: StoredPush, _ slot: UInt32) -> SharedFrame? {
    guard let platform = Platform(rawValue: connections.slab[slot].core.platform) else { return nil }
    guard !connections.slab[slot].core.isAutopush else {
      return WebPushMessage(push.content, platform).map { SharedFrame($0.notification(id)) }
    }
    let number = connections.number(slot)
    let viaVendor = push.goesElsewhere(for: number)
    let isOffline = id <= connections.slab[slot].core.newestWhileAway
    return Self.encode(
      id, push, platform, viaVendor: viaVendor, showBefore: push.showBefore(number), offline: isOffline)
  }

  /// The frame of a push for devices of a platform; nil if it is too large for one.
  static func encode(
    _ id: MessageID, _ push: StoredPush, _ platform: Platform, viaVendor: Bool, showBefore: Timestamp? = nil,
    offline: Bool
  ) -> SharedFrame? {
    let json = push.deviceJSON(platform, viaVendor: viaVendor, showBefore: showBefore)
    let bytes = ServerFrame.encodePush(messageID: id, offline: offline, content: json)
    return bytes.isEmpty ? nil : SharedFrame(bytes)
  }

  // MARK: Full windows

  private func fallBehind(_ slot: UInt32) {
    let isNew = connections.slab[slot].core.fallBehind()
    let isFull = connections.slab[slot].core.unsettled >= connections.slab[slot].core.window(limits)
    // The window of a browser is so small that it is often full.
    if isNew, !isFull || !connections.slab[slot].core.isAutopush { connections.metrics.slowDevices.add() }
    guard isFull else { return }
    // The acknowledgements may have arrived already and only need to be stored.
    connections.sendToHome(.flushSoon)
    noteCrowded(slot)
  }

  func noteCrowded(_ slot: UInt32) {
    guard !connections.slab[slot].marks.contains(.crowded) else { return }
    connections.slab[slot].marks.insert(.crowded)
    crowded.append(connections.token(slot))
  }

  /// Checks some sessions with a full window again: recalled and ended pushes no longer count.
  func serveCrowded() {
    for token in crowded.popFirst(upTo: limits.crowdedPerTick) where connections.isCurrent(token) {
      let slot = token.slot
      connections.slab[slot].marks.remove(.crowded)
      guard connections.slab[slot].core.isBehind, let bound = connections.bound(slot) else { continue }
      connections.sendToHome(.recount(bound, through: connections.slab[slot].core.sentThrough))
      guard connections.isCurrent(token), connections.slab[slot].core.isBehind,
        connections.slab[slot].core.unsettled > connections.slab[slot].core.window(limits) / 2
      else { continue }
      noteCrowded(slot)
    }
  }

  /// The home has counted how many of the sent pushes still wait.
  func recount(_ waiting: Int, _ slot: UInt32) {
    connections.slab[slot].core.recount(waiting: waiting)
    settled(0, slot)
  }

  // MARK: Acknowledgements

  /// Collects a device's acknowledgements, with the age of each push if known; all of a turn are processed
  /// together.
  func acknowledge(_ ids: [MessageID], ages: [UInt32] = [], _ slot: UInt32) {
    let app = Int(connections.slab[slot].app)
    guard app >= 0 else { return }
    connections.counts.acknowledgements += UInt64(ids.count)
    if connections.apps[app].acknowledgements.isEmpty { acknowledgedApps.append(app) }
    connections.apps[app].acknowledgements.add(
      by: connections.number(slot), at: connections.location(slot),
      newestWhileAway: connections.slab[slot].core.newestWhileAway)
    let now = connections.time.now()
    for (index, id) in ids.enumerated() {
      connections.slab[slot].core.noteAcknowledged(id)
      let age = index < ages.count ? ages[index] : nil
      connections.apps[app].acknowledgements.add(
        connections.slab[slot].core.arrival(id, age: age, at: now))
    }
    if connections.apps[app].acknowledgements.count >= Self.mostAcknowledgements { sendAcknowledgements() }
  }

  /// Acknowledgements of an app that one turn may collect.
  private static var mostAcknowledgements: Int { 4096 }

  /// Sends the collected acknowledgements to the home.
  func sendAcknowledgements() {
    guard !acknowledgedApps.isEmpty else { return }
    var messages: [GatewayMessage] = []
    for index in acknowledgedApps {
      let batch = connections.apps[index].acknowledgements
      connections.apps[index].acknowledgements.removeAll()
      if let app = connections.apps[index].app { messages.append(.acknowledgements(app, batch)) }
    }
    acknowledgedApps.removeAll(keepingCapacity: true)
    connections.sendToHome(messages)
  }

  /// The home has accepted acknowledgements.
  func acknowledgementsReceived(_ taken: [ReceivedAcknowledgements]) {
    var needsFlush = false
    for one in taken {
      guard let slot = connections.slot(one.location) else { continue }
      connections.slab[slot].core.noteUnstored(one.awaited)
      if connections.slab[slot].core.isBehind || connections.slab[slot].core.isLeaving, one.awaited > 0 {
        needsFlush = true
      }
      // There is nothing to store about the others.
      settled(one.count - one.awaited, slot)
    }
    if needsFlush { connections.sendToHome(.flushSoon) }
  }

  /// Acknowledgements were stored.
  func stored(_ stored: [StoredAcknowledgements]) {
    for one in stored {
      guard let slot = connections.slot(one.location) else { continue }
      connections.slab[slot].core.noteStored(one.count)
      settled(one.count, slot)
    }
  }

  /// This many pushes are settled; a session that was behind may continue.
  private func settled(_ count: Int, _ slot: UInt32) {
    if connections.slab[slot].core.settle(count, limits) { catchUp(slot) }
    if connections.slab[slot].core.isLeaving { connections.endIfSettled(slot) }
  }

  // MARK: Kept pushes

  /// Starts to deliver the stored pushes of a session, oldest first, a batch at a time.
  func catchUp(_ slot: UInt32) {
    guard let bound = connections.bound(slot) else { return }
    let cost = connections.slab[slot].connection.queue.cost
    switch connections.slab[slot].core.beginCatchUp(queued: cost, limits) {
    case .left: break
    case .behind: fallBehind(slot)
    case .sent:
      let after = connections.slab[slot].core.readThrough
      let limit = connections.slab[slot].core.mostToRead(limits)
      connections.sendToHome(.pull(bound, after: after, limit: limit))
    }
  }

  /// The home has returned stored pushes of a session.
  func pulled(_ pushes: PulledPushes, _ slot: UInt32) {
    switch pushes {
    case .nothing:
      if connections.slab[slot].core.endCatchUp() {
        catchUp(slot)
      } else if connections.slab[slot].core.mustLoginAgain {
        connections.goAway(slot, .drain)
      }
    case .unavailable:
      connections.slab[slot].core.keptWasUnread()
      unserved.append(connections.token(slot))
    case .pushes(let kept, let through):
      guard connections.slab[slot].core.beginKept() else { return catchUp(slot) }
      let isThrough = send(kept, slot)
      connections.slab[slot].core.endReading()
      guard isThrough else { return fallBehind(slot) }
      connections.slab[slot].core.noteLooked(through: through)
      catchUp(slot)
    }
  }

  /// Sends stored pushes; false if there was no room for one.
  private func send(_ kept: [KeptPush], _ slot: UInt32) -> Bool {
    for one in kept {
      let cost = connections.slab[slot].connection.queue.cost
      switch connections.slab[slot].core.offerKept(one.id, queued: cost, limits) {
      case .left: continue
      case .behind: return false
      case .sent where connections.slab[slot].core.isOutOfTurn(one.id): sendOutOfTurn(one.id, one.push, slot)
      case .sent:
        if let frame = encode(one.id, one.push, slot) {
          noteSent(one.id, slot)
          connections.send(slot, frame)
        }
        connections.slab[slot].core.noteLooked(through: one.id)
      }
    }
    return true
  }

  /// Retries sessions whose stored pushes could not be read.
  func serveUnserved() {
    var tokens: [SessionToken] = []
    swap(&tokens, &unserved)
    for token in tokens where connections.isCurrent(token) { catchUp(token.slot) }
  }

  // MARK: Lost pushes

  /// Some pushes were dropped, since the mailbox was full, or lost on their way: every session, or those of
  /// one app, is behind, and catches up from the stored pushes. Sessions that already wait for that keep
  /// their places, so that each has its turn.
  func missedPushes(of app: AppID? = nil) {
    for place in places(of: app) {
      for slot in connections.apps[place].slots where connections.slab[slot].core.noteMissed() { lag(slot) }
    }
  }

  /// The places of an app, or of all apps.
  private func places(of app: AppID?) -> [Int] {
    guard let app else { return Array(connections.apps.indices) }
    return connections.appIndexes[app].map { [Int($0)] } ?? []
  }

  private func lag(_ slot: UInt32) {
    guard !connections.slab[slot].marks.contains(.lagging) else { return }
    connections.slab[slot].marks.insert(.lagging)
    lagging.append(connections.token(slot))
  }

  /// The home of an app, or of all, is gone with what it was asked. Acknowledgements that it has not stored
  /// count as settled: if they are lost, their pushes come again with the next login. Sessions ask the next
  /// home for their stored pushes.
  func abandoned(_ app: AppID?) {
    for place in places(of: app) {
      for slot in connections.apps[place].slots {
        let count = Int(connections.slab[slot].core.unstored)
        connections.slab[slot].core.noteStored(count)
        _ = connections.slab[slot].core.settle(count, limits)
        connections.slab[slot].core.keptWasUnread()
        lag(slot)
        if connections.slab[slot].core.isAutopush {
          let answers = connections.slab[slot].core.abandonAutopush()
          for text in answers { connections.send(slot, SharedFrame(text)) }
        }
        if connections.slab[slot].core.isLeaving { connections.endIfSettled(slot) }
      }
    }
  }

  /// Lets some of them catch up; true if there are more.
  func serveLagging() -> Bool {
    guard !lagging.isEmpty else { return false }
    for token in lagging.popFirst(upTo: limits.fanOutSlice) where connections.isCurrent(token) {
      connections.slab[token.slot].marks.remove(.lagging)
      if connections.slab[token.slot].core.isBehind { catchUp(token.slot) }
    }
    return !lagging.isEmpty
  }
}
