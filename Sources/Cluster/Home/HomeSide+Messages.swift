import BorealisBase
import Core
import Model

/// What the router says to connections of other nodes.
extension HomeSide {
  /// Passes on a message for one loop, or an immediate answer of the home.
  mutating func deliver(_ message: HomeMessage, now: UInt64) {
    switch message {
    case .loginResult(let location, let result): answer(result, at: location, now: now)
    case .loginAgain(let login):
      guard let handle = places.handle(of: login.location),
        peers[handle.incarnation]?.logins[login.location] != nil
      else { return }
      run([.login(login)], now: now)
    case .registerResult(let location, let result):
      guard let handle = places.handle(of: location),
        let sequence = peers[handle.incarnation]?.registering.removeValue(forKey: location)
      else { return }
      let app = peers[handle.incarnation]?.app(of: sequence) ?? .none
      finish(sequence, app, handle, OperationCoding.encode(result), now: now)
    case .stateApplied(let location, let newest):
      sendToSession(at: location) { .stateApplied(StateApplied(handle: $0, newest: newest)) }
    case .acknowledgementsReceived(let taken):
      let awaited = Dictionary(taken.map { ($0.location, $0.awaited) }, uniquingKeysWith: +)
      for (location, count) in awaited { settle(location, awaited: count) }
    case .stored(let stored):
      for one in stored { settle(one.location, stored: one.count) }
    case .result(let location, let sequence, let result):
      guard let handle = places.handle(of: location) else { return }
      let app = peers[handle.incarnation]?.app(of: sequence) ?? .none
      finish(sequence, app, handle, OperationCoding.encode(result), now: now)
    case .pulled(let location, let pushes): pulled(pushes, location)
    case .waiting(let location, let count):
      sendToSession(at: location) { .waiting(RecountResult(handle: $0, count: UInt32(clamping: count))) }
    case .push(let push, let number, let location): deliver(push, number, location, now: now)
    case .endSession(let location, let reason): keepEnd(location, reason)
    case .broadcast, .recall, .factsWanted, .forget, .missed, .abandoned: deliverToAll(message, now: now)
    }
  }

  private mutating func sendToSession(at location: Location, _ message: (Handle) -> ClusterMessage) {
    guard let handle = places.handle(of: location),
      let session = peers[handle.incarnation]?.table[location]
    else {
      return
    }
    send(session.app, message(handle), to: handle.incarnation)
  }

  /// Passes on a message for the loops of all nodes.
  mutating func deliverToAll(_ message: HomeMessage, now: UInt64) {
    switch message {
    case .broadcast(let push, let targets):
      for (peer, known) in peers.sorted(by: { $0.key < $1.key }) {
        let numbers = known.table.numbers(of: push.app).intersection(targets)
        for part in PushCoding.parts(push, numbers, now: time.now()) {
          output.append(.deliver(push.app, .pushMany(part), to: peer))
        }
      }
    case .recall(let id, let app, let audience): recall(id, app, audience, now: now)
    case .factsWanted(let app, let facts):
      // Lost on the way, it is said again at the next login.
      for (peer, known) in peers.sorted(by: { $0.key < $1.key }) where known.table.knows(app) {
        send(app, .factsWanted(FactsWanted(facts: facts)), to: peer)
      }
    case .forget(let app):
      let locations = peers.values.flatMap { $0.table.sessions(of: app) }
      for location in locations { keepEnd(location, .appDisabled) }
    default: break
    }
  }

  /// Pushes of apps were dropped on their way here.
  mutating func missed(_ apps: Set<AppID>) {
    for app in apps {
      guard let newest = router.apps.loaded(app)?.directory.newest else { continue }
      for (peer, known) in peers where known.table.knows(app) {
        output.append(.replay(app, newest, to: peer))
      }
    }
  }

  /// A gateway lacks pushes of an app: its sessions catch up.
  mutating func replay(_ app: AppID, to peer: Incarnation) {
    let newest = router.apps.loaded(app)?.directory.newest ?? MessageID(0)
    output.append(.replay(app, newest, to: peer))
  }

  // MARK: Pushes

  private mutating func deliver(
    _ push: LivePush, _ number: RegistrationNumber, _ location: Location, now: UInt64
  ) {
    guard let handle = places.handle(of: location),
      peers[handle.incarnation]?.table[location] != nil,
      let single = PushCoding.single(push, number, at: handle, now: time.now())
    else { return }
    let peer = handle.incarnation
    guard push.isLate else {
      output.append(.deliver(push.app, .pushOne(single), to: peer))
      return
    }
    peers[peer]?.lateCounter += 1
    let counter = peers[peer]?.lateCounter ?? 0
    let message = ClusterMessage.late(
      LatePush(counter: counter, id: push.id, handles: [handle], content: single.content))
    _ = requests.add(.late(peer, counter: counter), push.app, message, to: peer, now: now)
    send(push.app, message, to: peer)
  }

  private mutating func pulled(_ pushes: PulledPushes, _ location: Location) {
    guard let handle = places.handle(of: location),
      let pull = peers[handle.incarnation]?.pulls.removeValue(forKey: location)
    else { return }
    let answer = PushCoding.answer(pushes, for: pull.session.number, at: handle, after: pull.after)
    send(pull.session.app, .pulled(answer), to: handle.incarnation)
  }
}
