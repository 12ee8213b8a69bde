import BorealisBase
import Core
import Model

/// What gateways say.
extension HomeSide {
  /// Handles a message of a gateway. `askedAt` is when its device asked, on this node's clock.
  mutating func handle(_ entry: ClusterEntry, from peer: Incarnation, askedAt: UInt64, now: UInt64) {
    guard entry.epoch == epochs[entry.app] else { return }
    join(peer, now: now)
    let app = entry.app
    switch entry.message {
    case .login(let login): handle(login, app, from: peer, askedAt: askedAt, now: now)
    case .close(let close): handle(close, from: peer, now: now)
    case .state(let state):
      guard let location = places.location(of: state.handle, from: peer) else { return }
      peers[peer]?.table.setForeground(state.isForeground, location)
      let bound = BoundSession(app: app, number: state.number, location: location)
      run(
        [.state(bound, isForeground: state.isForeground, wantsNewest: state.wantsNewest)], now: now)
    case .acks(let batch): handle(batch, app, from: peer, now: now)
    case .operation(let request), .register(let request), .receipts(let request):
      handle(request, entry, from: peer, askedAt: askedAt, now: now)
    case .pull(let pull):
      guard let location = places.location(of: pull.handle, from: peer) else { return }
      let bound = BoundSession(app: app, number: pull.number, location: location)
      peers[peer]?.pulls[location] = GatewayPeer.Pull(session: bound, after: pull.sentThrough)
      run([.pull(bound, after: pull.sentThrough, limit: Int(pull.limit))], now: now)
    case .recount(let recount):
      guard let location = places.location(of: recount.handle, from: peer) else { return }
      let bound = BoundSession(app: app, number: recount.number, location: location)
      run([.recount(bound, through: recount.through)], now: now)
    case .digest(let digest): compare(digest, app, from: peer)
    case .sessions(let list): handle(list, app, from: peer, now: now)
    case .recalled(let recalled):
      recalls.confirm(RecallKey(app: app, id: recalled.id), by: peer, now: now)
    case .lateReceived(let late): requests.confirm(.late(peer, counter: late.counter))
    default: break
    }
  }

  /// Lets the home take messages, and passes its immediate answers on.
  mutating func run(_ messages: [GatewayMessage], now: UInt64) {
    var answers: [HomeMessage] = []
    home.handle(messages, answers: &answers)
    for answer in answers { deliver(answer, now: now) }
  }

  // MARK: Sessions

  private mutating func handle(
    _ login: SessionLogin, _ app: AppID, from peer: Incarnation, askedAt: UInt64, now: UInt64
  ) {
    // No copy of what is kept of the gateway may live while it changes: it would be copied whole.
    guard let location = places.location(of: login.handle, from: peer) else { return }
    if let session = peers[peer]?.table[location] {
      // Asked again: the same answer.
      let bound = BoundSession(app: session.app, number: session.number, location: location)
      if let loggedIn = home.loggedIn(bound) {
        return accept(loggedIn, session.order, login.handle)
      }
      return refuse(login.handle, .unavailable, app)
    }
    guard peers[peer]?.ended.contains(location) == false else {
      return refuse(login.handle, .unavailable, app)
    }
    guard peers[peer]?.logins[location] == nil else { return }
    let device = DeviceLogin(
      app: login.app, registrationID: login.registrationID,
      secretHash: (login.secretHigh, login.secretLow), isForeground: login.isForeground,
      location: location, askedAt: askedAt)
    peers[peer]?.logins[location] = (device, app)
    run([.login(device)], now: now)
  }

  private mutating func accept(_ login: LoggedIn, _ order: UInt64, _ handle: Handle) {
    let accepted = SessionLoginResult.Accepted(
      number: login.number, order: order, newest: login.newest,
      pending: UInt32(clamping: login.pending),
      platform: login.platform?.rawValue ?? 0, mayWait: login.mayWait, facts: login.facts)
    let result = SessionLoginResult(handle: handle, outcome: .accepted(accepted))
    send(login.app, .loginResult(result), to: handle.incarnation)
  }

  private mutating func refuse(_ handle: Handle, _ refusal: DeviceRefusal, _ app: AppID) {
    let number = OperationCoding.number(of: refusal)
    let result = SessionLoginResult(handle: handle, outcome: .refused(number))
    send(app, .loginResult(result), to: handle.incarnation)
  }

  /// The home has answered a login.
  mutating func answer(_ result: LoginResult, at location: Location, now: UInt64) {
    guard let handle = places.handle(of: location),
      let (login, app) = peers[handle.incarnation]?.logins.removeValue(forKey: location)
    else { return }
    switch result {
    case .refused(let refusal): refuse(handle, refusal, app)
    case .accepted(let loggedIn):
      let session = NodeSession(
        handle: handle, app: loggedIn.app, number: loggedIn.number, id: nil,
        order: nextOrder(of: loggedIn.app),
        isForeground: login.isForeground, since: now)
      insert(session, at: location)
      accept(loggedIn, session.order, handle)
    }
  }

  /// Adds a session of a gateway.
  private mutating func insert(_ session: NodeSession, at location: Location) {
    let peer = session.handle.incarnation
    if peers[peer]?.table.knows(session.app) == false { output.append(.open(session.app, peer)) }
    peers[peer]?.table.insert(session, at: location)
  }

  private mutating func handle(_ close: SessionClose, from peer: Incarnation, now: UInt64) {
    guard let location = places.location(of: close.handle, from: peer) else { return }
    requests.confirm(.endSession(close.handle))
    peers[peer]?.ended.insert(location)
    peers[peer]?.logins[location] = nil
    run([.withdraw(location)], now: now)
    peers[peer]?.pulls[location] = nil
    remove(location, of: peer, ConnectionEnd(rawValue: close.reason) ?? .unknown, now: now)
  }

  private mutating func remove(
    _ location: Location, of peer: Incarnation, _ end: ConnectionEnd, now: UInt64
  ) {
    guard let session = peers[peer]?.table.remove(location) else { return }
    let bound = BoundSession(app: session.app, number: session.number, location: location)
    run([.close(bound, end)], now: now)
  }

  // MARK: Comparing

  private mutating func compare(_ digest: DigestMessage, _ app: AppID, from peer: Incarnation) {
    let lasting = peers[peer]?.compare(digest, app).prefix(HomeTiming.mostCompared) ?? []
    guard !lasting.isEmpty else { return }
    send(app, .wantSessions(SessionsWanted(request: 0, buckets: Array(lasting))), to: peer)
  }

  private mutating func handle(_ list: SessionList, _ app: AppID, from peer: Incarnation, now: UInt64) {
    bindAll(list, app, from: peer, now: now)
    if peers[peer]?.note(list, next: now + HomeTiming.ask) == true { answers += 1 }
  }

  private mutating func bindAll(
    _ list: SessionList, _ app: AppID, from peer: Incarnation, now: UInt64
  ) {
    guard app != .none else { return }
    let loaded = router.apps.loaded(app)
    var named: Set<Location> = []
    var bound: [BoundSession] = []
    for item in list.items {
      guard let location = places.location(of: item.handle, from: peer) else { continue }
      named.insert(location)
      if let session = peers[peer]?.table[location] {
        guard session.isForeground != item.isForeground else { continue }
        peers[peer]?.table.setForeground(item.isForeground, location)
        let bound = BoundSession(app: app, number: session.number, location: location)
        run([.state(bound, isForeground: item.isForeground, wantsNewest: false)], now: now)
        continue
      }
      guard !requests.contains(.endSession(item.handle)) else { continue }
      insert(
        NodeSession(
          handle: item.handle, app: app, number: item.number, id: nil, order: item.order,
          isForeground: item.isForeground, since: now), at: location)
      let isBound =
        loaded.map {
          bind(
            item.registrationID, item.number, of: $0, at: location, order: item.order,
            item.isForeground)
        } ?? false
      if isBound {
        bound.append(BoundSession(app: app, number: item.number, location: location))
      } else {
        keepEnd(location, .loginAgain)
      }
    }
    if let loaded { router.deliverReleased(to: bound, of: loaded) }
    let others = peers[peer]?.table.sessions(of: app, in: list.first...list.last) ?? []
    for (location, session) in others
    where !named.contains(location) && now >= session.since + HomeTiming.bind {
      requests.confirm(.endSession(session.handle))
      remove(location, of: peer, .unknown, now: now)
    }
    guard !list.items.isEmpty else { return }
    // What was pushed before these sessions were known did not go to them. Gateways ask for it behind the
    // list, those of the version before wait for this.
    output.append(.replayUnasked(app, loaded?.directory.newest ?? MessageID(0), to: peer))
  }

  // MARK: Requests of devices

  private mutating func handle(
    _ request: DeviceRequest, _ entry: ClusterEntry, from peer: Incarnation, askedAt: UInt64, now: UInt64
  ) {
    guard let location = places.location(of: request.handle, from: peer) else { return }
    if case .done(let app, let handle, let body) = peers[peer]?.requests[request.sequence] {
      let result = DeviceResult(handle: handle, sequence: request.sequence, body: body)
      return send(app, .result(result), to: peer)
    }
    guard peers[peer]?.begin(request.sequence, of: entry.app) == true else { return }
    let bound = BoundSession(app: entry.app, number: request.number, location: location)
    let type = entry.message.type
    // Of a connection that has ended nobody learns of the registration that it would be given.
    let isVoid = type == .register && peers[peer]?.ended.contains(location) != false
    guard !isVoid, let message = request.message(type, of: bound, askedAt: askedAt) else {
      let refusal = OperationCoding.refusal(of: type)
      return finish(request.sequence, entry.app, request.handle, refusal, now: now)
    }
    if type == .register { peers[peer]?.registering[location] = request.sequence }
    run([message], now: now)
    if type == .receipts { finish(request.sequence, entry.app, request.handle, [], now: now) }
  }

  /// A request has a result, which is kept for a gateway that asks again.
  mutating func finish(
    _ sequence: UInt32, _ app: AppID, _ handle: Handle, _ body: [UInt8], now: UInt64
  ) {
    peers[handle.incarnation]?.finish(sequence, app, handle, body, now: now)
    let result = DeviceResult(handle: handle, sequence: sequence, body: body)
    send(app, .result(result), to: handle.incarnation)
  }

  // MARK: Acknowledgements

  private mutating func handle(_ batch: AckBatch, _ app: AppID, from peer: Incarnation, now: UInt64) {
    if batch.batch == 0 {
      if batch.isUrgent { run([.flushSoon], now: now) }
      return
    }
    let loop = places.number(of: LoopDirectory.acknowledgements, at: peer)
    guard let loop, router.apps.loaded(app) != nil else { return stored(batch.batch, app, peer) }
    switch peers[peer]?.acknowledgements.begin(batch.batch, of: app) {
    case .new(let token):
      let location = Location(loop: loop, slot: token, generation: 0)
      let acknowledgements = AcknowledgementBatch(batch, at: location, now: time.now())
      run([.acknowledgements(app, acknowledgements)], now: now)
      // Without an acknowledgement there is nothing to wait for.
      if acknowledgements.isEmpty { settle(location, awaited: 0) }
    case .stored: stored(batch.batch, app, peer)
    case .underway, nil: break
    }
  }

  /// The router awaits acknowledgements of a batch to be stored, or has stored some: tells the gateway if it
  /// has all.
  mutating func settle(_ location: Location, awaited: Int = 0, stored count: Int = 0) {
    guard let peer = places.place(of: location.loop)?.incarnation,
      let batch = peers[peer]?.acknowledgements.change(
        location.slot, awaited: awaited, stored: count)
    else { return }
    stored(batch.number, batch.app, peer)
  }

  private mutating func stored(_ batch: UInt64, _ app: AppID, _ peer: Incarnation) {
    send(app, .stored(AcksStored(batches: [batch])), to: peer)
  }
}
