import BorealisBase
import BorealisProtocol

/// An operation without a result yet.
struct PendingOperation: Sendable {
  let sequence: UInt32
  let operation: Operation
  let frame: [UInt8]
  let deadline: UInt64
  var isSent = false
}

extension DeviceCore {
  /// Submits an operation; it is sent now or after the next login, and again after a lost connection, until
  /// its result or its timeout. The result is an event with the returned number.
  public mutating func submit(
    _ operation: Operation, at now: UInt64
  ) -> (sequence: UInt32, actions: [DeviceAction]) {
    sequence &+= 1
    let number = sequence
    remember(operation)
    var frame: [UInt8] = []
    let fits = ClientFrame.operation(sequence: number, operation).encode(into: &frame)
    if case .stopped(let code) = phase {
      report(number, operation, code)
    } else if !fits {
      report(number, operation, Self.refusal(of: operation))
    } else if operations.count >= Self.mostOperations {
      report(number, operation, .tooFrequent)
    } else {
      operations.append(
        PendingOperation(
          sequence: number, operation: operation, frame: frame, deadline: now &+ Self.operationTime))
      if phase == .session { sendWaiting(at: now) }
      if case .waiting = phase, operation == .logout { end(.stopped, .never, at: now) }
    }
    return (number, drainActions())
  }

  /// Sends a receipt of a push; kept for the next login while there is no session.
  public mutating func report(_ receipt: Receipt, at now: UInt64) -> [DeviceAction] {
    if receipts.count >= Self.mostReceipts { receipts.removeFirst() }
    receipts.append(receipt)
    if phase == .session { sendWaiting(at: now) }
    return drainActions()
  }

  /// The state that REGISTER and LOGIN report at the next connection.
  private mutating func remember(_ operation: Operation) {
    switch operation {
    case .appState(let state): profile.appState = state
    case .setToken(let token): profile.token = token
    case .setOtherToken(let other): otherTokens[other.slot] = other.token
    case .setChannelToken(let told):
      channelTokens.removeAll { $0.hasSamePlace(as: told) }
      if !told.token.isEmpty { channelTokens.append(told) }
    default: break
    }
  }

  /// Why an operation does not fit its frame.
  private static func refusal(of operation: Operation) -> ResultCode {
    switch operation {
    case .setAlias: .aliasTooLong
    case .checkTag: .tagTooLong
    case .setTags(let tags), .addTags(let tags), .deleteTags(let tags):
      if tags.contains(where: { $0.utf8.count > WireLimits.maxCounted }) {
        .tagTooLong
      } else {
        tags.count > WireLimits.tagsPerOperation ? .tooManyTags : .tagsTooLong
      }
    default: .requestInvalid
    }
  }

  mutating func sendWaiting(at now: UInt64) {
    var bytes: [UInt8] = []
    ClientFrame.encodeReceipt(receipts.filter { $0.kind.version <= version }, into: &bytes)
    receipts = []
    var tooLarge: [UInt32] = []
    var tooNew: [UInt32] = []
    for index in operations.indices {
      // The server ends the connection after LOGOUT: results of others would be lost.
      if operations[index].operation == .logout, index > 0 { break }
      guard !operations[index].isSent else { continue }
      guard operations[index].operation.version <= version else {
        tooNew.append(operations[index].sequence)
        continue
      }
      // A frame has up to three bytes of length before what the server limits.
      guard operations[index].frame.count <= sendLimit else {
        tooLarge.append(operations[index].sequence)
        continue
      }
      operations[index].isSent = true
      bytes.append(contentsOf: operations[index].frame)
    }
    send(bytes, at: now)
    for number in tooLarge { finish(number, ResultCode(rawValue: 6026), at: now) }
    for number in tooNew { finish(number, .requestInvalid, at: now) }
  }

  mutating func handle(result number: UInt32, _ code: ResultCode, _ payload: [UInt8], at now: UInt64) {
    // A result may come after its operation has timed out.
    guard let pending = operations.first(where: { $0.sequence == number && $0.isSent }) else { return }
    guard let value = try? ResultPayload(payload, answering: pending.operation.type, code: code) else {
      end(.protocolError, .afterBackOff, at: now)
      return
    }
    if code == .ok { note(pending.operation) }
    finish(number, code, value, at: now)
    if pending.operation == .logout, code == .ok {
      flushAcks(at: now)
      end(.stopped, .never, at: now)
    } else if phase == .session, operations.first?.operation == .logout {
      sendWaiting(at: now)
    }
  }

  private mutating func report(
    _ number: UInt32, _ operation: Operation, _ code: ResultCode, _ value: ResultPayload = .none
  ) {
    let result = OperationResult(sequence: number, operation: operation, code: code, value: value)
    actions.append(.event(.operationResult(result)))
  }

  private mutating func finish(
    _ number: UInt32, _ code: ResultCode, _ value: ResultPayload = .none, at now: UInt64
  ) {
    guard let index = operations.firstIndex(where: { $0.sequence == number }) else { return }
    let pending = operations.remove(at: index)
    report(number, pending.operation, code, value)
    if restoration.ended(number, code, at: now) { noteRestored() }
    if case .setFacts(let facts) = pending.operation, factReport.ended(number, code, at: now) {
      knownFacts.merge(facts) { $1 }
      reportFacts(at: now)
    }
  }

  /// Ends the operations that match, in the order they were submitted.
  mutating func finish(_ code: ResultCode, where matches: (Operation) -> Bool) {
    for pending in operations where matches(pending.operation) {
      report(pending.sequence, pending.operation, code)
    }
    operations.removeAll { matches($0.operation) }
  }
}

// MARK: - Wishes
extension DeviceCore {
  /// Sets alias, tags and tokens again if the registration is new, before the app's own operations.
  mutating func restoreWishes(at now: UInt64) {
    var lost: [Operation] = wishes.areKnownToServer ? [] : wishes.operations
    if !knowsOtherTokens {
      let tokens = otherTokens.filter { !$0.value.bytes.isEmpty }.map { OtherToken($0.key, $0.value) }
      lost += tokens.map { .setOtherToken($0) }.filter { $0.version <= version }
      lost += channelTokens.map { .setChannelToken($0) }.filter { $0.version <= version }
    }
    var restored: [PendingOperation] = []
    for operation in lost {
      sequence &+= 1
      var frame: [UInt8] = []
      guard ClientFrame.operation(sequence: sequence, operation).encode(into: &frame) else { continue }
      restoration.begun(sequence)
      restored.append(
        PendingOperation(
          sequence: sequence, operation: operation, frame: frame, deadline: now &+ Self.operationTime))
    }
    operations.insert(contentsOf: restored, at: 0)
  }

  /// The server has what it takes.
  private mutating func noteRestored() {
    knowsOtherTokens = true
    guard !wishes.areKnownToServer else { return }
    wishes.areKnownToServer = true
    actions.append(.storeWishes(wishes))
  }

  private mutating func note(_ operation: Operation) {
    let before = wishes
    wishes.apply(operation)
    if wishes != before { actions.append(.storeWishes(wishes)) }
  }
}

// MARK: - Facts
extension DeviceCore {
  /// Facts that the app knows, or that have changed; an empty one is not known any more.
  public mutating func setFacts(_ facts: [DeviceFact: String], at now: UInt64) -> [DeviceAction] {
    profile.facts.merge(facts) { $1 }
    reportFacts(at: now)
    return drainActions()
  }

  /// Reports what the server asks for and does not know; one report at a time.
  mutating func reportFacts(at now: UInt64) {
    guard phase == .session, factReport.inFlight.isEmpty else { return }
    let new = profile.facts.filter { fact, value in
      wantedFacts.contains(fact) && fact.accepts(value) && knownFacts[fact, default: ""] != value
    }
    var frame: [UInt8] = []
    guard !new.isEmpty,
      ClientFrame.operation(sequence: sequence &+ 1, .setFacts(new)).encode(into: &frame)
    else { return }
    sequence &+= 1
    factReport.begun(sequence)
    operations.append(
      PendingOperation(
        sequence: sequence, operation: .setFacts(new), frame: frame, deadline: now &+ Self.operationTime))
    sendWaiting(at: now)
  }
}

// MARK: - Time
extension DeviceCore {
  /// When to call `tick` at the latest; nil when only an outside event can change something.
  public var nextDeadline: UInt64? {
    var next = operations.lazy.map(\.deadline).min() ?? .max
    switch phase {
    case .stopped: break
    case .waiting(let until): next = min(next, until)
    case .connecting, .greeting: next = min(next, attemptSince &+ Self.loginTime)
    case .session:
      next = min(next, pingDue, ackDue ?? .max, restoration.again ?? .max, factReport.again ?? .max)
      if let pongDue, !isPaused { next = min(next, pongDue) }
    case .draining: next = min(next, drainSince &+ Self.drainTime, ackDue ?? .max)
    }
    return next == .max ? nil : next
  }

  /// Time has passed.
  public mutating func tick(at now: UInt64) -> [DeviceAction] {
    while let late = operations.first(where: { $0.deadline <= now }) {
      if late.operation == .logout {
        end(.stopped, .never, at: now)
      } else {
        finish(late.sequence, .timeout, at: now)
      }
    }
    if let ackDue, ackDue <= now { flushAcks(at: now) }
    if phase == .session, restoration.isDue(at: now, isIdle: operations.isEmpty) {
      restoreWishes(at: now)
      sendWaiting(at: now)
    }
    if phase == .session, factReport.isDue(at: now, isIdle: true) { reportFacts(at: now) }
    switch phase {
    case .stopped: break
    case .waiting(let until): if until <= now { connect(at: now) }
    case .connecting, .greeting:
      if attemptSince &+ Self.loginTime <= now {
        end(phase == .connecting ? .connectFailed("no answer") : .loginTimeout, .afterBackOff, at: now)
      }
    case .session:
      if let pongDue, pongDue <= now, !isPaused {
        end(.heartbeatTimeout, .afterBackOff, at: now)
      } else if pingDue <= now {
        ping(at: now)
      }
    case .draining(let retryAfter):
      if drainSince &+ Self.drainTime <= now {
        end(.goAway(.drain), .atOnce, retryAfter: retryAfter, at: now)
      }
    }
    return drainActions()
  }

  mutating func ping(at now: UInt64) {
    var bytes: [UInt8] = []
    ClientFrame.ping.encode(into: &bytes)
    send(bytes, at: now)
    if pongDue == nil { pongDue = now &+ Self.pongTime }
  }

  /// The process was stopped or the machine suspended, for a time that `now` does not count: the connection
  /// may be dead, so a PING is sent immediately.
  public mutating func resumed(at now: UInt64) -> [DeviceAction] {
    clockSince = now &+ 1
    if phase == .session { ping(at: now) }
    return drainActions()
  }

  /// The caller has stopped or resumed reading because the app is slow: an unread PONG is no timeout.
  public mutating func readingPaused(_ paused: Bool, at now: UInt64) {
    if isPaused, !paused, pongDue != nil { pongDue = now &+ Self.pongTime }
    isPaused = paused
  }

  /// One interval after the last frame sent; also after the last one received, unless a PING is out already.
  private var pingDue: UInt64 { (pongDue == nil ? min(lastSent, lastReceived) : lastSent) &+ heartbeat }
}
