import BorealisBase
import Core
import Model

/// What a gateway keeps of the devices whose apps have their homes on other nodes: their sessions, and what
/// those homes have not answered yet. Used on the link's thread only.
struct GatewaySide: Sendable {
  /// Most acknowledgements in a batch, for the size of a frame.
  static let mostInBatch = 4096

  var own: Incarnation
  /// The connections of this process.
  let local: any DeviceGateway
  let time: any TimeSource
  var homes = AppHomes()
  var table: SessionTable
  var requests = RequestTable()
  /// Logins without an answer.
  var logins: [Location: DeviceLogin] = [:]
  /// Which of them the home has, and which wait.
  var windows = LoginWindows()
  /// The newest of them of each registration.
  var loginsByID: [RegistrationID: Location] = [:]
  var asks = DeviceAsks()
  var order = OperationOrder()
  var batches: [UInt64: KeptBatch] = [:]
  /// Where the sessions that wait for pushes stand.
  var pulls: [Location: (session: BoundSession, after: MessageID, limit: Int)] = [:]
  var listings: [SessionListing] = []
  /// Apps whose sessions may lack pushes.
  var replays = ReplayQuestions()
  var recalled = RecentSet<RecallKey>(capacity: 4096)
  var late = RecentSet<LateKey>(capacity: 4096)
  /// What had no room and was answered at once.
  var refused: UInt64 = 0
  private var batchNumber: UInt64 = 0
  private var wantsFlush = false
  private var nextDigest: UInt64

  init(own: Incarnation, local: any DeviceGateway, time: any TimeSource, now: UInt64) {
    self.own = own
    self.local = local
    self.time = time
    table = SessionTable()
    nextDigest = now + ClusterLimits.digestInterval
  }

  /// When `tick` has something to do.
  var deadline: UInt64 {
    let next =
      listings.isEmpty ? nextDigest : min(nextDigest, SessionListing.retry(after: lastTick))
    return min(next, requests.deadline ?? .max, replays.deadline, windows.deadline)
  }
  private var lastTick: UInt64 = 0

  // MARK: To the home

  func handle(of location: Location) -> Handle { Handle(location, of: own) }

  func send(_ app: AppID, _ message: ClusterMessage, _ node: inout ClusterNode, now: UInt64) {
    guard let home = homes[app] else { return }
    node.send(ClusterEntry(app: app, epoch: home.epoch, message), to: home.incarnation, now: now)
  }

  /// Keeps a request and sends it. False if there is no room.
  private mutating func ask(
    _ key: RequestTable.Key, _ app: AppID, _ message: ClusterMessage, _ node: inout ClusterNode,
    now: UInt64
  ) -> Bool {
    guard requests.add(key, app, message, now: now) else {
      refused += 1
      return false
    }
    if isTurn(of: message) { send(app, message, &node, now: now) }
    return true
  }

  /// Handles messages of a loop.
  mutating func handle(_ messages: [GatewayMessage], _ node: inout ClusterNode, now: UInt64) {
    for message in messages { handle(message, &node, now: now) }
  }

  private mutating func handle(_ message: GatewayMessage, _ node: inout ClusterNode, now: UInt64) {
    switch message {
    case .login(let login): handle(login, &node, now: now)
    case .register(let device):
      let number = asks.add(.registration(device.location, device.app))
      let request = DeviceRequest(
        handle: handle(of: device.location), sequence: number, number: RegistrationNumber(0),
        body: OperationCoding.encode(device), askedAt: device.askedAt / 1_000_000)
      let key = RequestTable.Key.device(request.handle, sequence: number)
      guard !ask(key, homes.app(of: device.app), .register(request), &node, now: now) else { return }
      giveUp(number, &node, now: now)
    case .withdraw(let location): withdraw(location, &node, now: now)
    case .close(let session, let end): close(session, end, &node, now: now)
    case .state(let session, let isForeground, let wantsNewest):
      table.setForeground(isForeground, session.location)
      let state = SessionState(
        handle: handle(of: session.location), number: session.number, isForeground: isForeground,
        wantsNewest: wantsNewest)
      send(session.app, .state(state), &node, now: now)
    case .acknowledgements(let app, let batch): handle(batch, app, &node, now: now)
    case .flushSoon: wantsFlush = true
    case .receipts(let session, let receipts):
      let number = asks.add(.receipts)
      let request = DeviceRequest(
        handle: handle(of: session.location), sequence: number, number: session.number,
        body: OperationCoding.encode(receipts))
      let key = RequestTable.Key.receipts(request.handle, sequence: number)
      if !ask(key, session.app, .receipts(request), &node, now: now) { asks.end(number) }
    case .operation(let session, let sequence, let operation, let askedAt):
      let number = asks.add(.operation(session.location, sequence: sequence))
      let request = DeviceRequest(
        handle: handle(of: session.location), sequence: number, number: session.number,
        body: OperationCoding.encode(operation), askedAt: askedAt / 1_000_000)
      let key = RequestTable.Key.device(request.handle, sequence: number)
      _ = order.add(number, of: session.location)
      if !ask(key, session.app, .operation(request), &node, now: now) { giveUp(number, &node, now: now) }
    case .pull(let session, let id, let limit): pull(session, after: id, limit, &node, now: now)
    case .recount(let session, let id):
      let request = RecountRequest(
        handle: handle(of: session.location), number: session.number, through: id)
      send(session.app, .recount(request), &node, now: now)
    }
  }

  private mutating func handle(_ login: DeviceLogin, _ node: inout ClusterNode, now: UInt64) {
    if let other = loginsByID[login.registrationID] {
      guard login.location.isOlder(than: other) != true else {
        return local.send(.loginResult(login.location, .refused(.overtaken)), to: login.location.loop)
      }
      // An older login that is sent again later must not end this one.
      giveUp(loginAt: other, &node, now: now)
    }
    logins[login.location] = login
    loginsByID[login.registrationID] = login.location
    windows.add(login.location, of: homes.isDivided ? homes.app(of: login.app) : .none, now: now)
  }

  /// Sends logins that wait as far as the home may have more of them.
  private mutating func sendLogins(_ node: inout ClusterNode, now: UInt64) {
    for location in windows.popLate(now: now) {
      guard endLogin(at: location) != nil else { continue }
      local.send(.loginResult(location, .refused(.unavailable)), to: location.loop)
    }
    while let location = windows.next() {
      guard let login = logins[location] else {
        windows.end(location)
        continue
      }
      let message = SessionLogin(login, at: handle(of: location))
      let app = homes.app(of: login.app)
      guard !ask(.login(message.handle), app, .login(message), &node, now: now) else { continue }
      _ = endLogin(at: location)
      local.send(.loginResult(location, .refused(.unavailable)), to: location.loop)
    }
  }

  /// A login is answered, or waits no longer.
  mutating func endLogin(at location: Location) -> DeviceLogin? {
    windows.end(location)
    guard let login = logins.removeValue(forKey: location) else { return nil }
    if loginsByID[login.registrationID] == location { loginsByID[login.registrationID] = nil }
    return login
  }

  /// Tells a device that logs in to try again later.
  mutating func giveUp(loginAt location: Location, _ node: inout ClusterNode, now: UInt64) {
    requests.confirm(.login(handle(of: location)))
    let wasSent = windows.isSent(location)
    let login = endLogin(at: location)
    local.send(.loginResult(location, .refused(.unavailable)), to: location.loop)
    guard wasSent else { return }
    // The home may have let it in.
    let app = login.map { homes.app(of: $0.app) } ?? .none
    send(app, .close(SessionClose(handle(of: location))), &node, now: now)
  }

  private mutating func close(
    _ session: BoundSession, _ end: ConnectionEnd, _ node: inout ClusterNode, now: UInt64
  ) {
    table.remove(session.location)
    if pulls.removeValue(forKey: session.location) != nil {
      requests.confirm(.pull(handle(of: session.location)))
    }
    endOperations(of: session, &node, now: now)
    let close = SessionClose(
      handle: handle(of: session.location), number: session.number, reason: end.rawValue)
    send(session.app, .close(close), &node, now: now)
  }

  private mutating func pull(
    _ session: BoundSession, after id: MessageID, _ limit: Int, _ node: inout ClusterNode,
    now: UInt64
  ) {
    let key = RequestTable.Key.pull(handle(of: session.location))
    requests.confirm(key)
    let request = PullRequest(
      handle: handle(of: session.location), number: session.number, sentThrough: id,
      limit: UInt32(clamping: limit))
    guard ask(key, session.app, .pull(request), &node, now: now) else {
      pulls[session.location] = nil
      local.send(.pulled(session.location, .unavailable), to: session.location.loop)
      return
    }
    pulls[session.location] = (session, id, limit)
  }

  // MARK: Acknowledgements

  private mutating func handle(
    _ batch: AcknowledgementBatch, _ app: AppID, _ node: inout ClusterNode, now: UInt64
  ) {
    for part in batch.parts(atMost: Self.mostInBatch) {
      batchNumber += 1
      let message = part.message(batchNumber, at: time.now(), inGroups: readsSets(homes[app], node))
      let locations = part.senders.compactMap { sender in
        sender.location.map { StoredAcknowledgements(location: $0, count: sender.count) }
      }
      if ask(.acks(app, batch: batchNumber), app, .acks(message), &node, now: now) {
        batches[batchNumber] = KeptBatch(app: app, locations: locations, batch: part)
      } else {
        // There is no room for more: the devices get these pushes once more.
        reportStored(locations)
      }
    }
  }

  /// Whether a home reads sets of acknowledgements.
  private func readsSets(_ home: FollowedHome?, _ node: ClusterNode) -> Bool {
    home.flatMap { node.version(with: $0.incarnation) }.map { $0 >= 2 } ?? false
  }

  /// Notifies sessions that their acknowledgements are settled.
  func reportStored(_ locations: [StoredAcknowledgements]) {
    for (loop, stored) in Dictionary(grouping: locations, by: \.location.loop) {
      local.send(.stored(stored), to: loop)
    }
  }

  // MARK: Time

  /// Sends again and gives up what is due, and compares.
  mutating func tick(_ node: inout ClusterNode, now: UInt64) {
    lastTick = now
    if wantsFlush {
      wantsFlush = false
      var hurried: Set<Incarnation> = []
      for kept in batches.values {
        guard let home = homes[kept.app], hurried.insert(home.incarnation).inserted else { continue }
        send(kept.app, .acks(AckBatch(batch: 0, isUrgent: true, senders: [])), &node, now: now)
      }
    }
    let due = requests.popDue(now: now)
    for request in due.again { sendAgain(request, &node, now: now) }
    for request in due.ended { end(request, &node, now: now) }
    // Without a home nobody is slow.
    windows.repeated(
      due.again.compactMap { request in
        guard case .login(let handle) = request.key, homes[app(of: request)] != nil else { return nil }
        return Location(handle)
      }, now: now)
    sendLogins(&node, now: now)
    if now >= nextDigest {
      nextDigest = now + ClusterLimits.digestInterval
      for app in table.apps {
        for message in table.digest(of: app).messages() {
          send(app, .digest(message), &node, now: now)
        }
      }
    }
    for app in replays.due(now: now) {
      if table.numbers(of: app).isEmpty { replays.forget(app) } else { askReplay(of: app, &node, now: now) }
    }
    continueListings(&node, now: now)
  }

  private mutating func sendAgain(
    _ request: RequestTable.Request, _ node: inout ClusterNode, now: UInt64
  ) {
    if case .acks(let batch) = request.message, let kept = batches[batch.batch] {
      // How long ago pushes arrived has changed, and perhaps what their home reads.
      let message = kept.batch.message(
        batch.batch, at: time.now(), inGroups: readsSets(homes[request.app], node))
      send(request.app, .acks(message), &node, now: now)
    } else if isTurn(of: request.message) {
      send(app(of: request), request.message, &node, now: now)
    }
  }

  /// The app of a request, which may have become known since it was made.
  func app(of request: RequestTable.Request) -> AppID { homes.app(of: request, asks) }

  /// Everything that is not answered goes to a new home of all apps.
  mutating func follow(_ home: FollowedHome?, _ node: inout ClusterNode, now: UInt64) {
    homes.follow(home)
    listings = []
    replays.forgetAll()
    late = RecentSet(capacity: 4096)
    guard home != nil else { return }
    for request in requests.restartAll(now: now) { sendAgain(request, &node, now: now) }
  }

  /// Some apps have other homes than before, by what `homes` says: what is not answered goes there.
  mutating func moved(_ apps: Set<AppID>, _ node: inout ClusterNode, now: UInt64) {
    listings.removeAll { apps.contains($0.app) }
    for app in apps {
      // What the home before had for a session may not have come, and what comes now must not be sent before
      // it.
      let hasSessions = homes[app] != nil && !table.numbers(of: app).isEmpty
      if hasSessions { replays.expect(app, now: now) } else { replays.forget(app) }
    }
    for request in requests.restartAll(of: apps, now: now) { sendAgain(request, &node, now: now) }
  }

  /// Asks what an app's sessions lack.
  mutating func askReplay(of app: AppID, _ node: inout ClusterNode, now: UInt64) {
    send(app, replays.ask(app, now: now), &node, now: now)
  }

  /// A request was not answered in time.
  private mutating func end(_ request: RequestTable.Request, _ node: inout ClusterNode, now: UInt64) {
    switch request.message {
    case .login(let login): giveUp(loginAt: Location(login.handle), &node, now: now)
    case .operation(let request), .register(let request): giveUp(request.sequence, &node, now: now)
    case .pull(let pull):
      let location = Location(pull.handle)
      pulls[location] = nil
      local.send(.pulled(location, .unavailable), to: location.loop)
    default: break
    }
  }

  /// Tells a device to try again later.
  mutating func giveUp(_ number: UInt32, _ node: inout ClusterNode, now: UInt64) {
    guard let ask = endAsk(number, &node, now: now), let refusal = ask.refusal else { return }
    local.send(refusal.message, to: refusal.loop)
  }
}
