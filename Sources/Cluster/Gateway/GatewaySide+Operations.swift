import BorealisBase
import Core

/// What devices ask for, in their order.
extension GatewaySide {
  /// Whether a request may be sent: of a session's operations the first one that has no result.
  func isTurn(of message: ClusterMessage) -> Bool {
    guard case .operation(let asked) = message else { return true }
    return order.isNext(asked.sequence, of: Location(asked.handle))
  }

  /// What a device asked for has a result, or gets none any more. The operation behind it is sent.
  mutating func endAsk(_ number: UInt32, _ node: inout ClusterNode, now: UInt64) -> DeviceAsk? {
    let ask = asks.end(number)
    guard case .operation(let session, _) = ask, let next = order.end(number, of: session),
      let request = requests[.device(handle(of: session), sequence: next)]
    else { return ask }
    send(request.app, request.message, &node, now: now)
    return ask
  }

  /// A connection has ended that waited for a login or a registration: its home is not asked any more, and
  /// what is on the way is void.
  mutating func withdraw(_ location: Location, _ node: inout ClusterNode, now: UInt64) {
    if logins[location] != nil { return giveUp(loginAt: location, &node, now: now) }
    guard let number = asks.registration(at: location) else { return }
    let key = RequestTable.Key.device(handle(of: location), sequence: number)
    // The app of its key may have become known since.
    let home = requests[key].map { app(of: $0) } ?? AppID.none
    asks.end(number)
    guard requests.confirm(key) else { return }
    send(home, .close(SessionClose(handle(of: location))), &node, now: now)
  }

  /// A session ends: what was asked for on it is not repeated any more, since its device may say something
  /// else on its next connection. What has not been sent is sent once.
  mutating func endOperations(of session: BoundSession, _ node: inout ClusterNode, now: UInt64) {
    for (index, number) in order.end(session.location).enumerated() {
      let key = RequestTable.Key.device(handle(of: session.location), sequence: number)
      if index > 0, let request = requests[key] { send(request.app, request.message, &node, now: now) }
      requests.confirm(key)
      asks.end(number)
    }
  }
}
