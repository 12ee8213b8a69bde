import BorealisBase
import Core

/// Changes of who this node is.
extension GatewaySide {
  /// What no home has answered of an app, with nil of all, for a home in this process; nothing of it is kept
  /// here any more.
  mutating func handOver(_ app: AppID? = nil) -> [GatewayMessage] {
    var messages: [GatewayMessage] = []
    for batch in batches.keys.sorted() {
      guard let kept = batches[batch], kept.app == app ?? kept.app else { continue }
      messages.append(.acknowledgements(kept.app, kept.batch))
      batches[batch] = nil
    }
    let (homes, asks) = (homes, asks)
    let all = requests.restartAll(now: time.sinceBoot()) { app == nil || homes.app(of: $0, asks) == app }
    for request in all {
      if let message = request.local(logins, asks) { messages.append(message) }
      requests.confirm(request.key)
      forget(request)
    }
    // Those that no home was sent.
    for login in logins.values where app.map({ homes.app(of: login.app) == $0 }) ?? true {
      messages.append(.login(login))
      _ = endLogin(at: login.location)
    }
    if let app { _ = table.removeAll(of: app) } else { table = SessionTable() }
    return messages
  }

  private mutating func forget(_ request: RequestTable.Request) {
    switch request.message {
    case .login(let login): _ = endLogin(at: Location(login.handle))
    case .pull(let pull): pulls[Location(pull.handle)] = nil
    case .operation(let asked):
      _ = order.end(Location(asked.handle))
      asks.end(asked.sequence)
    case .receipts(let asked), .register(let asked): asks.end(asked.sequence)
    default: break
    }
  }

  /// This node has another name: what names its sessions is given up, and the devices try again.
  mutating func rejoin(as incarnation: Incarnation) {
    for request in requests.restartAll(now: time.sinceBoot()) {
      if case .acks = request.key { continue }
      requests.confirm(request.key)
    }
    for location in logins.keys {
      local.send(.loginResult(location, .refused(.unavailable)), to: location.loop)
    }
    for location in pulls.keys { local.send(.pulled(location, .unavailable), to: location.loop) }
    for (message, loop) in asks.refusals { local.send(message, to: loop) }
    (logins, loginsByID, pulls, asks, windows) = ([:], [:], [:], DeviceAsks(), LoginWindows())
    order = OperationOrder()
    homes.clear()
    own = incarnation
    let sessions = table.all
    table = SessionTable()
    for (location, session) in sessions {
      table.insert(session.renamed(Handle(location, of: incarnation)), at: location)
    }
  }
}

extension RequestTable.Request {
  /// It as a home in this process takes it; nil if nobody waits for it.
  fileprivate func local(_ logins: [Location: DeviceLogin], _ asks: DeviceAsks) -> GatewayMessage? {
    func bound(_ handle: Handle, _ number: RegistrationNumber) -> BoundSession {
      BoundSession(app: app, number: number, location: Location(handle))
    }
    switch message {
    case .login(let login): return logins[Location(login.handle)].map { .login($0) }
    case .pull(let pull):
      return .pull(bound(pull.handle, pull.number), after: pull.sentThrough, limit: Int(pull.limit))
    case .receipts(let told):
      return OperationCoding.decodeReceipts(told.body).map {
        .receipts(bound(told.handle, told.number), $0)
      }
    case .register(let asked):
      return OperationCoding.decodeDevice(
        asked.body, at: Location(asked.handle), askedAt: asked.askedAt * 1_000_000
      ).map { .register($0) }
    case .operation(let asked):
      guard case .operation(let location, let sequence) = asks[asked.sequence],
        let operation = OperationCoding.decode(asked.body)
      else { return nil }
      let session = BoundSession(app: app, number: asked.number, location: location)
      return .operation(
        session, sequence: sequence, operation, askedAt: asked.askedAt * 1_000_000)
    default: return nil
    }
  }
}

extension NodeSession {
  fileprivate func renamed(_ handle: Handle) -> NodeSession {
    NodeSession(
      handle: handle, app: app, number: number, id: id, order: order, isForeground: isForeground,
      since: since
    )
  }
}
