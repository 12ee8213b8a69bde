import PushCluster
import PushRouter

/// What devices ask for, in their order.
extension GatewaySide {
  /// Whether a request may be sent: of a session's operations the first one that has no result.
  func isTurn(of message: ClusterMessage) -> Bool {
    guard case .operation(let asked) = message else { return true }
    return order.isNext(asked.sequence, of: Location(asked.handle))
  }

  /// What a device asked for has a result, or gets none any more. The operation behind it is sent.
  mutating func endAsk(_ number: UInt32, _ node: inout ClusterNode, now: UInt64) -> DeviceAsk? {
    let ask = asks.removeValue(forKey: number)
    guard case .operation(let session, _) = ask, let next = order.end(number, of: session),
      let request = requests[.device(handle(session), sequence: next)]
    else { return ask }
    send(request.app, request.message, &node, now: now)
    return ask
  }

  /// A session ends: what was asked for on it is not repeated any more, since its device may say something else on its next
  /// connection. What has not been sent is sent once.
  mutating func endOperations(of session: BoundSession, _ node: inout ClusterNode, now: UInt64) {
    for (index, number) in order.end(session.location).enumerated() {
      let key = RequestTable.Key.device(handle(session.location), sequence: number)
      if index > 0, let request = requests[key] { send(request.app, request.message, &node, now: now) }
      requests.confirm(key)
      asks[number] = nil
    }
  }
}
