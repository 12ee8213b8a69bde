import BorealisBase
import BorealisDevice
import BorealisProtocol

extension TestPeer {
  /// The next frame with the bytes it lies in, nil when the device has closed.
  func next() throws -> (frame: ClientFrame, bytes: [UInt8])? {
    while true {
      switch scanFrame(input.span, at: 0, limit: WireLimits.maxFrame) {
      case .frame(let type, let body, let end):
        let bytes = input
        input = Array(input[end...])
        return (try ClientFrame(type: type, body: body, in: bytes.span), bytes)
      case .invalid(let error): throw error
      case .needMore: guard try read() else { return nil }
      }
    }
  }

  func expect(_ type: FrameType) throws -> ClientFrame {
    guard let next = try next() else { throw TestServer.Failed(reason: "closed instead of \(type)") }
    guard next.frame.type == type else { throw TestServer.Failed(reason: "\(next.frame) instead of \(type)") }
    return next.frame
  }

  /// Waits for an operation and answers it.
  @discardableResult
  func answer(_ code: ResultCode = .ok, _ payload: ResultPayload = .none) throws -> BorealisProtocol.Operation
  {
    guard let next = try next(), case .operation(let number, let operation) = next.frame else {
      throw TestServer.Failed(reason: "no operation")
    }
    try send(Wire.result(number, code, payload))
    return operation
  }

  /// So many acknowledged pushes, from one ACK or several.
  func acknowledged(_ count: Int) throws -> [UInt64] {
    var ids: [UInt64] = []
    while ids.count < count {
      guard let next = try next() else { throw TestServer.Failed(reason: "closed without acknowledgement") }
      switch next.frame {
      case .acknowledge(let list):
        for index in 0..<list.count { ids.append(list[index, in: next.bytes.span].rawValue) }
      case .acknowledgeWithAges(let list):
        for index in 0..<list.count { ids.append(list[index, in: next.bytes.span].messageID.rawValue) }
      default: throw TestServer.Failed(reason: "\(next.frame) instead of an acknowledgement")
      }
    }
    return ids
  }

  /// Takes the device through registration, if it wants one, and login; tells whether it registered.
  @discardableResult
  func welcome(ackDelay: UInt16 = 0, heartbeat: UInt16 = 300, version: UInt8 = 1) throws -> Bool {
    guard case .hello = try expect(.hello) else { return false }
    try send(CoreRun.helloOK(version: version))
    guard let first = try next() else { throw TestServer.Failed(reason: "closed after HELLO") }
    let isNew = first.frame.type == .register
    if isNew {
      try send(CoreRun.registerOK)
      _ = try expect(.login)
    }
    try send(CoreRun.loginOK(heartbeat: heartbeat, ackDelay: ackDelay))
    return isNew
  }
}
