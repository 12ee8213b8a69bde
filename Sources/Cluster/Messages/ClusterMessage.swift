import BorealisProtocol

/// What one node tells another. All of it are values, and losing or repeating any of it does no harm.
package enum ClusterMessage: Hashable, Sendable {
  case hello(NodeHello)
  case position(LinkPosition)
  case applied(LinkApplied)

  case login(SessionLogin)
  case close(SessionClose)
  case state(SessionState)
  case acks(AckBatch)
  case operation(DeviceRequest)
  case register(DeviceRequest)
  case receipts(DeviceRequest)
  case pull(PullRequest)
  case replay(ReplayRequest)
  case digest(DigestMessage)
  case sessions(SessionList)
  case recalled(RecallConfirmation)
  case recount(RecountRequest)
  case lateReceived(LateConfirmation)

  case loginResult(SessionLoginResult)
  case stateApplied(StateApplied)
  case stored(AcksStored)
  case result(DeviceResult)
  case pushOne(SinglePush)
  case pushMany(FanOutMessage)
  case late(LatePush)
  case pulled(PulledPart)
  case recall(PushRecall)
  case endSession(SessionEnd)
  case replayed(ReplayEnd)
  case home(HomeNotice)
  case wantSessions(SessionsWanted)
  case waiting(RecountResult)
  case factsWanted(FactsWanted)

  /// The type of the frames that it is in.
  package var type: MessageType { parts.type }

  /// Appends the body.
  func write(into output: inout [UInt8]) { parts.body.write(into: &output) }

  private var parts: (type: MessageType, body: any MessageBody) {
    switch self {
    case .hello(let body): (.hello, body)
    case .position(let body): (.position, body)
    case .applied(let body): (.applied, body)
    case .login(let body): (.login, body)
    case .close(let body): (.close, body)
    case .state(let body): (.state, body)
    case .acks(let body): (.acks, body)
    case .operation(let body): (.operation, body)
    case .register(let body): (.register, body)
    case .receipts(let body): (.receipts, body)
    case .pull(let body): (.pull, body)
    case .replay(let body): (.replay, body)
    case .digest(let body): (.digest, body)
    case .sessions(let body): (.sessions, body)
    case .recalled(let body): (.recalled, body)
    case .recount(let body): (.recount, body)
    case .lateReceived(let body): (.lateReceived, body)
    case .loginResult(let body): (.loginResult, body)
    case .stateApplied(let body): (.stateApplied, body)
    case .stored(let body): (.stored, body)
    case .result(let body): (.result, body)
    case .pushOne(let body): (.pushOne, body)
    case .pushMany(let body): (.pushMany, body)
    case .late(let body): (.late, body)
    case .pulled(let body): (.pulled, body)
    case .recall(let body): (.recall, body)
    case .endSession(let body): (.endSession, body)
    case .replayed(let body): (.replayed, body)
    case .home(let body): (.home, body)
    case .wantSessions(let body): (.wantSessions, body)
    case .waiting(let body): (.waiting, body)
    case .factsWanted(let body): (.factsWanted, body)
    }
  }

  /// Reads the body of an entry; nil if no message of this version has the type.
  init?(_ type: MessageType, from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError) {
    switch type {
    case .hello: self = .hello(try NodeHello(from: &reader, in: bytes))
    case .position: self = .position(try LinkPosition(from: &reader, in: bytes))
    case .applied: self = .applied(try LinkApplied(from: &reader, in: bytes))
    case .login: self = .login(try SessionLogin(from: &reader, in: bytes))
    case .close: self = .close(try SessionClose(from: &reader, in: bytes))
    case .state: self = .state(try SessionState(from: &reader, in: bytes))
    case .acks: self = .acks(try AckBatch(from: &reader, in: bytes))
    case .operation: self = .operation(try DeviceRequest(from: &reader, in: bytes))
    case .register: self = .register(try DeviceRequest(from: &reader, in: bytes))
    case .receipts: self = .receipts(try DeviceRequest(from: &reader, in: bytes))
    case .pull: self = .pull(try PullRequest(from: &reader, in: bytes))
    case .replay: self = .replay(try ReplayRequest(from: &reader, in: bytes))
    case .digest: self = .digest(try DigestMessage(from: &reader, in: bytes))
    case .sessions: self = .sessions(try SessionList(from: &reader, in: bytes))
    case .recalled: self = .recalled(try RecallConfirmation(from: &reader, in: bytes))
    case .recount: self = .recount(try RecountRequest(from: &reader, in: bytes))
    case .lateReceived: self = .lateReceived(try LateConfirmation(from: &reader, in: bytes))
    case .loginResult: self = .loginResult(try SessionLoginResult(from: &reader, in: bytes))
    case .stateApplied: self = .stateApplied(try StateApplied(from: &reader, in: bytes))
    case .stored: self = .stored(try AcksStored(from: &reader, in: bytes))
    case .result: self = .result(try DeviceResult(from: &reader, in: bytes))
    case .pushOne: self = .pushOne(try SinglePush(from: &reader, in: bytes))
    case .pushMany: self = .pushMany(try FanOutMessage(from: &reader, in: bytes))
    case .late: self = .late(try LatePush(from: &reader, in: bytes))
    case .pulled: self = .pulled(try PulledPart(from: &reader, in: bytes))
    case .recall: self = .recall(try PushRecall(from: &reader, in: bytes))
    case .endSession: self = .endSession(try SessionEnd(from: &reader, in: bytes))
    case .replayed: self = .replayed(try ReplayEnd(from: &reader, in: bytes))
    case .home: self = .home(try HomeNotice(from: &reader, in: bytes))
    case .wantSessions: self = .wantSessions(try SessionsWanted(from: &reader, in: bytes))
    case .waiting: self = .waiting(try RecountResult(from: &reader, in: bytes))
    case .factsWanted: self = .factsWanted(try FactsWanted(from: &reader, in: bytes))
    default: return nil
    }
  }

  /// Whether it may wait for others, up to `ClusterLimits.acknowledgementDelay`.
  var isAcknowledgement: Bool {
    switch self {
    case .acks(let batch): !batch.isUrgent
    case .stored: true
    default: false
    }
  }

  /// Whether it carries pushes, which a peer that is behind does not get.
  package var isDelivery: Bool {
    switch self {
    case .pushOne, .pushMany, .pulled, .late, .replayed: true
    default: false
    }
  }
}

extension ClusterMessage {
  /// When a device asked, in milliseconds of the sender's clock; 0 if it is not said, or no device did.
  package var askedAt: UInt64 {
    switch self {
    case .login(let login): login.askedAt
    case .operation(let request), .register(let request): request.askedAt
    default: 0
    }
  }

  /// Whether only the home of the entry's app may send it.
  package var isFromHome: Bool { type.rawValue >= MessageType.loginResult.rawValue }
}
