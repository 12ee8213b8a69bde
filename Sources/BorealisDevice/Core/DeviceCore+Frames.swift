import BorealisBase
import BorealisProtocol

extension DeviceCore {
  private var isReading: Bool {
    switch phase {
    case .greeting, .session, .draining: true
    default: false
    }
  }

  /// Processes received bytes, which may end anywhere within a frame.
  public mutating func received(_ bytes: [UInt8], at now: UInt64) -> [DeviceAction] {
    guard isReading, !bytes.isEmpty else { return [] }
    lastReceived = now
    pongDue = nil
    input.append(contentsOf: bytes)
    // Moved out so that frames can be read while the machine changes.
    let buffer = input
    input = []
    var at = 0
    scan: while isReading {
      switch buffer.withSpan({ scanFrame($0, at: at, limit: WireLimits.maxFrame) }) {
      case .needMore: break scan
      case .invalid:
        end(.protocolError, .afterBackOff, at: now)
      case .frame(let type, let body, let end):
        if let frame = try? buffer.withSpan({ try ServerFrame(type: type, body: body, in: $0) }) {
          handle(frame, from: buffer, at: now)
        } else {
          self.end(.protocolError, .afterBackOff, at: now)
        }
        at = end
      }
    }
    if isReading {
      input = Array(buffer[at...])
      if let ackDue, ackDue <= now { flushAcks(at: now) }
    }
    return drainActions()
  }

  private mutating func handle(_ frame: ServerFrame, from buffer: [UInt8], at now: UInt64) {
    switch (frame, phase) {
    case (.goAway(let reason, let retryAfter, let host), _):
      goAway(reason, retryAfter: retryAfter, host: host, at: now)
    case (.error(let code, let rule, let message), _): refused(code, rule, message, at: now)
    case (.helloOK(let version, let time, let maxFrame), .greeting(knowsVersion: false, let registering))
    where WireLimits.versions.contains(version):
      self.version = version
      // The server wrote it after HELLO was sent: its time is not later than what follows from this.
      serverAhead = time.milliseconds &- Int64(clamping: helloSent)
      phase = .greeting(knowsVersion: true, registering: registering)
      sendLimit = min(WireLimits.maxFrame, Int(maxFrame))
    case (.registerOK(let id, let secret), .greeting(knowsVersion: true, registering: true)):
      let new = DeviceIdentity(registrationID: id, secret: secret)
      identity = new
      knowsOtherTokens = false
      knownFacts = [:]
      actions.append(.storeIdentity(new))
      if !wishes.isEmpty {
        wishes.areKnownToServer = false
        actions.append(.storeWishes(wishes))
      }
      actions.append(.event(.registered(id)))
      phase = .greeting(knowsVersion: true, registering: false)
      var bytes: [UInt8] = []
      ClientFrame.login(login(new)).encode(into: &bytes)
      send(bytes, at: now)
    case (
      .loginOK(let heartbeat, let ackDelay, _, let pending), .greeting(knowsVersion: true, registering: false)
    ):
      phase = .session
      sessionSince = now
      self.heartbeat = UInt64(heartbeat) * 1000
      self.ackDelay = UInt64(ackDelay)
      actions.append(.event(.loggedIn(pending: pending)))
      restoreWishes(at: now)
      sendWaiting(at: now)
    case (.pong, .greeting(knowsVersion: true, _)), (.pong, .session), (.pong, .draining): break
    case (.factsWanted(let facts), .session), (.factsWanted(let facts), .draining):
      wantedFacts = facts
      // The server erases what it does not ask for.
      knownFacts = knownFacts.filter { facts.contains($0.key) }
      actions.append(.event(.factsWanted(facts)))
      reportFacts(at: now)
    case (.push(let push), .session), (.push(let push), .draining): handle(push, from: buffer, at: now)
    case (.recall(let id), .session), (.recall(let id), .draining): recall(id)
    case (.result(let sequence, let code, let payload), .session),
      (.result(let sequence, let code, let payload), .draining):
      handle(result: sequence, code, payload, at: now)
    default: end(.protocolError, .afterBackOff, at: now)
    }
  }

  private mutating func goAway(_ reason: CloseReason, retryAfter: UInt32, host: String, at now: UInt64) {
    nextServer = reason.reconnect == .never ? nil : ServerAddress(host)
    if reason == .drain, phase == .session {
      phase = .draining(retryAfter: retryAfter)
      drainSince = now
      return
    }
    end(.goAway(reason), reason.reconnect, retryAfter: retryAfter, at: now)
  }

  private mutating func refused(
    _ code: ResultCode, _ rule: ReconnectRule, _ message: String, at now: UInt64
  ) {
    if code == .notRegistered || code == .userInvalid, identity != nil {
      identity = nil
      actions.append(.forgetIdentity)
      end(.refused(code, message: message), .atOnce, at: now)
    } else {
      end(.refused(code, message: message), rule, failing: code, at: now)
    }
  }
}

// MARK: - Pushes
extension DeviceCore {
  /// The app has handled a push: it can be acknowledged. The caller has recorded that before, so that no
  /// later run passes the push to the app again if the acknowledgement is lost. If recording failed, the push
  /// is acknowledged nevertheless, since it is still recorded as in hand and would be marked as redelivered.
  public mutating func pushHandled(_ id: MessageID, at now: UInt64) -> [DeviceAction] {
    let came = inHand.removeValue(forKey: id)
    inHandEarlier.remove(id)
    handled.insert(id)
    acknowledge(id, came: came, at: now)
    if let ackDue, ackDue <= now { flushAcks(at: now) }
    return drainActions()
  }

  private mutating func handle(_ push: PushView, from buffer: [UInt8], at now: UInt64) {
    if handled.contains(push.messageID) {
      // It arrived before, at a time that is no longer known.
      acknowledge(push.messageID, came: nil, at: now)
    } else if inHand[push.messageID] == nil {
      let content = Array(buffer[push.content])
      if let end = Self.showBefore(content) {
        // Neither shown nor acknowledged: the server has another channel bring it, and sends again what is
        // left.
        if isOver(end) { return actions.append(.event(.leftToChannel(push.messageID))) }
        urgent[push.messageID] = end
      }
      inHand[push.messageID] = now
      let copy = DevicePush(
        messageID: push.messageID, isOffline: push.isOffline,
        isRedelivered: inHandEarlier.contains(push.messageID), content: content)
      actions.append(.deliver(copy))
    }
  }

  /// What a content begins with whose notification another channel may bring.
  private static let showBeforeMember = Array("{\"show_before\":".utf8)

  /// The server's time from which on another channel brings a push's notification, in milliseconds; nil if
  /// none does.
  private static func showBefore(_ content: [UInt8]) -> Int64? {
    guard content.starts(with: showBeforeMember) else { return nil }
    let digits = content.dropFirst(showBeforeMember.count).prefix { (48...57).contains($0) }
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  /// Whether a moment of the server's time may be over.
  private func isOver(_ moment: Int64) -> Bool { timeUntil(moment) == 0 }

  /// The milliseconds until a moment of the server's time may be over; nil if that time is not known.
  private func timeUntil(_ moment: Int64) -> UInt64? {
    serverAhead.map { ahead in
      let now = Int64(clamping: steady) &+ ahead
      return moment > now ? UInt64(bitPattern: moment &- now) : 0
    }
  }

  /// The milliseconds for which the app may still get a push in hand; nil if no other channel brings its
  /// notification.
  func timeToShow(_ id: MessageID) -> UInt64? { urgent[id].flatMap { timeUntil($0) } }

  /// Leaves a push in hand, which the app has not got, to the channel that brings its notification: true if
  /// it is too late for the app to get it. It is as if it had not come: what is left of it comes again.
  mutating func leaveToChannel(_ id: MessageID) -> Bool {
    guard timeToShow(id) == 0 else { return false }
    urgent[id] = nil
    inHand[id] = nil
    return true
  }

  /// A push that the app has already stays until it is handled; another copy is a duplicate.
  private mutating func recall(_ id: MessageID) {
    inHandEarlier.remove(id)
    if inHand[id] == nil, handled.insert(id) { actions.append(.noteHandled(id)) }
    actions.append(.event(.recalled(id)))
  }

  private mutating func acknowledge(_ id: MessageID, came: UInt64?, at now: UInt64) {
    switch phase {
    case .session, .draining: break
    // The push arrives again at the next login and is acknowledged then.
    default: return
    }
    acks.append((id, came))
    if ackDue == nil { ackDue = now + ackDelay }
    if urgent.removeValue(forKey: id) != nil { ackDue = now }
    if acks.count >= WireLimits.acksPerFrame.upperBound { flushAcks(at: now) }
  }

  mutating func flushAcks(at now: UInt64) {
    guard !acks.isEmpty else { return }
    var bytes: [UInt8] = []
    if version >= 3 {
      let aged = acks.map { ack in
        let age = ack.came.flatMap { $0 < clockSince ? nil : UInt32(exactly: now &- $0) }
        return AgedAcknowledgement(ack.id, age: age ?? AgedAcknowledgement.unknownAge)
      }
      ClientFrame.encodeAcknowledge(aged, into: &bytes)
    } else {
      ClientFrame.encodeAcknowledge(acks.map(\.id), into: &bytes)
    }
    send(bytes, at: now)
    acks = []
    ackDue = nil
  }
}
