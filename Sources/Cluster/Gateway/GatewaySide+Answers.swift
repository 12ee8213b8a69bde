import BorealisBase
import Core
import Model

/// What the home says to a gateway.
extension GatewaySide {
  /// Handles a message of a home that it follows, which was on its way for a while.
  mutating func handle(
    _ entry: ClusterEntry, from peer: Incarnation, age: UInt64, _ node: inout ClusterNode, now: UInt64
  ) {
    guard homes[entry.app] == FollowedHome(incarnation: peer, epoch: entry.epoch) else { return }
    let app = entry.app
    let isLate = age > PushCoding.longestWay
    switch entry.message {
    case .loginResult(let result): handle(result, app, &node, now: now)
    case .stateApplied(let taken):
      sendToSession(at: taken.handle) { .stateApplied($0, newest: taken.newest) }
    case .stored(let stored):
      for batch in stored.batches {
        guard requests.confirm(.acks(app, batch: batch)),
          let kept = batches.removeValue(forKey: batch)
        else { continue }
        reportStored(kept.locations)
      }
    case .result(let result): handle(result, &node, now: now)
    case .pushOne where isLate || replays.isOpen(app), .pushMany where isLate || replays.isOpen(app):
      // Sessions may lack something before it: they ask for both.
      local.sendToAll(.missed(app))
    case .pushOne(let push):
      let numbers = push.handles.compactMap { table[Location($0)]?.number }
      guard let live = PushCoding.live(push, of: app, NumberSet(numbers), age: age, now: time.now()) else {
        return
      }
      deliver(live, push.handles)
    case .pushMany(let push):
      guard let live = PushCoding.live(push, of: app, age: age, now: time.now()),
        let targets = NumberSet(serialized: push.targets)
      else { return }
      local.sendToAll(.broadcast(live, targets: targets))
    case .late where isLate: break  // The home says it again.
    case .late(let push):
      send(app, .lateReceived(LateConfirmation(counter: push.counter)), &node, now: now)
      guard late.insert(LateKey(home: peer, counter: push.counter)),
        !recalled.contains(RecallKey(app: app, id: push.id)),
        let content = PushCoding.decode(push.content)
      else { return }
      deliver(
        LivePush(app: app, id: push.id, push: content, isLate: true, mayOvertake: true), push.handles)
    case .pulled(let answer): handle(answer, isLate: isLate)
    case .waiting(let result): sendToSession(at: result.handle) { .waiting($0, count: Int(result.count)) }
    case .recall(let recall): handle(recall, app, &node, now: now)
    case .factsWanted(let wanted): local.sendToAll(.factsWanted(app, wanted.facts))
    case .endSession(let ending): end(ending, app, &node, now: now)
    case .replayed(let end):
      replays.handle(end, of: app)
      local.sendToAll(.missed(app))
    case .wantSessions(let wanted): list(wanted, of: app, &node, now: now)
    default: break
    }
  }

  private func sendToSession(at handle: Handle, _ message: (Location) -> HomeMessage) {
    guard handle.incarnation == own else { return }
    local.send(message(Location(handle)), to: handle.loop)
  }

  private func deliver(_ push: LivePush, _ handles: [Handle]) {
    for handle in handles {
      sendToSession(at: handle) { .push(push, table[$0]?.number ?? RegistrationNumber(0), $0) }
    }
  }

  private mutating func handle(
    _ result: SessionLoginResult, _ app: AppID, _ node: inout ClusterNode, now: UInt64
  ) {
    guard result.handle.incarnation == own else { return }
    let location = Location(result.handle)
    windows.answered(location)
    guard requests.confirm(.login(result.handle)), let login = endLogin(at: location)
    else {
      // A repeated answer, or one that came too late: then there is no session.
      if case .accepted(let accepted) = result.outcome, table[location] == nil {
        let close = SessionClose(
          handle: result.handle, number: accepted.number,
          reason: ConnectionEnd.closedByPeer.rawValue)
        send(app, .close(close), &node, now: now)
      }
      return
    }
    switch result.outcome {
    case .refused(let number):
      let refusal = OperationCoding.refusal(number) ?? .unavailable
      local.send(.loginResult(location, .refused(refusal)), to: location.loop)
    case .accepted(let accepted):
      table.insert(
        NodeSession(
          handle: result.handle, app: app, number: accepted.number, id: login.registrationID,
          order: accepted.order,
          isForeground: login.isForeground, since: now), at: location)
      let loggedIn = LoggedIn(
        app: app, number: accepted.number, platform: Platform(rawValue: accepted.platform),
        newest: accepted.newest, pending: Int(accepted.pending), mayWait: accepted.mayWait,
        facts: accepted.facts, isInOrder: true)
      local.send(.loginResult(location, .accepted(loggedIn)), to: location.loop)
    }
  }

  private mutating func handle(_ result: DeviceResult, _ node: inout ClusterNode, now: UInt64) {
    guard result.handle.incarnation == own else { return }
    let isAwaited = requests.confirm(.device(result.handle, sequence: result.sequence))
    guard requests.confirm(.receipts(result.handle, sequence: result.sequence)) || isAwaited else {
      return
    }
    guard let ask = endAsk(result.sequence, &node, now: now), let answer = ask.answer(result.body) else {
      return
    }
    local.send(answer.message, to: answer.loop)
  }

  private mutating func handle(_ answer: PulledPart, isLate: Bool) {
    let location = Location(answer.handle)
    guard answer.handle.incarnation == own, let asked = pulls[location], asked.after == answer.after
    else {
      return
    }
    requests.confirm(.pull(answer.handle))
    pulls[location] = nil
    let pushes = isLate ? .unavailable : PushCoding.pushes(of: answer, for: table[location]?.number)
    local.send(.pulled(location, pushes), to: location.loop)
  }

  private mutating func handle(
    _ recall: PushRecall, _ app: AppID, _ node: inout ClusterNode, now: UInt64
  ) {
    send(app, .recalled(RecallConfirmation(id: recall.id)), &node, now: now)
    guard recalled.insert(RecallKey(app: app, id: recall.id)) else { return }
    guard !recall.isComplement else {
      // The audience did not fit: devices that never got the push know nothing of its ID.
      return local.sendToAll(.recall(recall.id, app, audience: table.numbers(of: app)))
    }
    guard let audience = NumberSet(serialized: recall.targets) else { return }
    local.sendToAll(.recall(recall.id, app, audience: audience))
  }

  private func end(_ ending: SessionEnd, _ app: AppID, _ node: inout ClusterNode, now: UInt64) {
    guard ending.handle.incarnation == own else { return }
    guard table[Location(ending.handle)] != nil else {
      return send(app, .close(SessionClose(ending.handle)), &node, now: now)
    }
    sendToSession(at: ending.handle) { .endSession($0, OperationCoding.reason(ending.reason)) }
  }
}

/// Telling a home which sessions there are.
extension GatewaySide {
  private mutating func list(
    _ wanted: SessionsWanted, of app: AppID, _ node: inout ClusterNode, now: UInt64
  ) {
    // A home asks again; the newest question of all counts.
    if app == .none { listings = [] }
    guard listings.count < SessionListing.most else { return }
    listings.append(SessionListing(wanted, of: app, in: table))
    continueListings(&node, now: now)
  }

  /// Sends what the link takes of the lists that were asked for.
  mutating func continueListings(_ node: inout ClusterNode, now: UInt64) {
    while let part = listings.first?.next(table) {
      if let home = homes[part.app] {
        let entry = ClusterEntry(app: part.app, epoch: home.epoch, .sessions(part.list))
        guard node.send(entry, to: home.incarnation, now: now) != .behind else { return }
      }
      if !part.list.items.isEmpty { askReplay(of: part.app, &node, now: now) }
      listings[0].advance()
      if listings[0].isDone { listings.removeFirst() }
    }
  }
}

/// An answer to WANT_SESSIONS, in parts that fit frames. Each part is made when it is sent, so that it is
/// true at that place among the messages of the link.
struct SessionListing: Sendable {
  /// Lists that wait at most.
  static let most = 64
  /// Sessions in one part, for the size of a frame.
  private static let mostItems = 4000

  private struct Part: Sendable {
    let app: AppID
    let buckets: ClosedRange<UInt32>
  }

  /// What was asked for: one app, or with `.none` all.
  let app: AppID
  private let request: UInt32
  private var parts: [Part] = []
  private var place = 0

  /// Plans the answer.
  init(_ wanted: SessionsWanted, of app: AppID, in table: SessionTable) {
    self.app = app
    request = wanted.request
    if wanted.buckets.isEmpty {
      for app in app == .none ? table.apps : [app] {
        var (first, count) = (UInt32(0), 0)
        for (bucket, sessions) in table.buckets(of: app) {
          if count > 0, count + sessions > Self.mostItems {
            parts.append(Part(app: app, buckets: first...bucket - 1))
            (first, count) = (bucket, 0)
          }
          count += sessions
        }
        parts.append(Part(app: app, buckets: first...UInt32.max))
      }
    } else {
      parts = wanted.buckets.map { Part(app: app, buckets: $0...$0) }
    }
    if parts.isEmpty { parts = [Part(app: .none, buckets: 0...UInt32.max)] }
  }

  /// Whether all parts are sent.
  var isDone: Bool { place == parts.count }

  /// The next part.
  func next(_ table: SessionTable) -> (app: AppID, list: SessionList)? {
    guard place < parts.count else { return nil }
    let part = parts[place]
    let items = table.sessions(of: part.app, in: part.buckets).suffix(Self.mostItems + 1000)
      .compactMap {
        (_, session) -> SessionList.Item? in
        session.id.map {
          SessionList.Item(
            handle: session.handle, registrationID: $0, number: session.number,
            order: session.order, isForeground: session.isForeground)
        }
      }
    let list = SessionList(
      request: request, index: UInt32(place), count: UInt32(parts.count),
      first: part.buckets.lowerBound,
      last: part.buckets.upperBound, items: items)
    return (part.app, list)
  }

  /// The next part is sent.
  mutating func advance() { place += 1 }

  /// When a link that took no more is tried again.
  static func retry(after now: UInt64) -> UInt64 { now + 50_000_000 }
}
