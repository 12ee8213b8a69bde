import BorealisBase
import BorealisProtocol
import HTTP
import Model
import PushTesting
import Testing

@testable import DeviceGateway

/// The session without a socket, a router or a clock.
@Suite struct DeviceSessionTests {
  static let now = Timestamp(milliseconds: 1_700_000_000_000)
  static let key = AppKey(high: 1, low: 2)

  static func session(_ phase: DeviceSession.Phase, version: UInt8 = 3) -> DeviceSession {
    var session = DeviceSession()
    session.phase = phase
    session.version = version
    session.heartbeat = 60
    return session
  }

  /// One frame of each kind, encoded.
  static func frames() throws -> [String: [UInt8]] {
    let secret = try #require(DeviceSecret([UInt8](repeating: 1, count: 16)))
    let register = RegisterRequest(
      appKey: key, platform: .android, fingerprint: [UInt8](repeating: 2, count: 16), appVersion: "1")
    let login = LoginRequest(
      appKey: key, registrationID: RegistrationID(high: 3, low: 4), secret: secret, heartbeat: 60,
      appState: .foreground)
    var frames: [String: [UInt8]] = [:]
    func add(_ name: String, _ write: (inout [UInt8]) -> Void) { write(&frames[name, default: []]) }
    add("hello") { ClientFrame.hello(Hello(clientName: "test")).encode(into: &$0) }
    add("register") { ClientFrame.register(register).encode(into: &$0) }
    add("login") { ClientFrame.login(login).encode(into: &$0) }
    add("ping") { ClientFrame.ping.encode(into: &$0) }
    add("ack") { ClientFrame.encodeAcknowledge([MessageID(7)], into: &$0) }
    add("aged") { ClientFrame.encodeAcknowledge([AgedAcknowledgement(MessageID(7), age: 1)], into: &$0) }
    add("receipt") { ClientFrame.encodeReceipt([Receipt(.shown, MessageID(7))], into: &$0) }
    add("operation") { ClientFrame.operation(sequence: 5, .getAlias).encode(into: &$0) }
    return frames
  }

  /// A step in a word.
  static func word(_ step: SessionStep?) -> String {
    switch step {
    case nil: "nothing"
    case .send(.pong): "pong"
    case .send(.helloOK(let version, _, _)): "hello \(version)"
    case .send: "other frame"
    case .sendControl(let bytes): bytes.first == 0x8a ? "pong of the WebSocket" : "other control frame"
    case .sendText, .acknowledgePushes: "of a browser"
    case .register(let request): request.appKey == Self.key ? "register" : "register elsewhere"
    case .logIn(let request): request.appKey == Self.key ? "login" : "login elsewhere"
    case .acknowledge(let list): "ack \(list.count)"
    case .acknowledgeWithAges(let list): "aged \(list.count)"
    case .note(let list): "note \(list.count)"
    case .perform(let sequence, .getAlias): "perform \(sequence)"
    case .perform: "another operation"
    case .end(let farewell):
      switch farewell.word {
      case nil: "\(farewell.end) \(farewell.code.rawValue)"
      case .error(.protocolError, .afterBackOff, let message): message
      case .goAway(.protocolError, 0, ""): "go away"
      default: "another end"
      }
    }
  }

  static let moment = DeviceSession.Moment(second: 1000, frameEnd: 1010)

  /// What a session says to some bytes, until it ends or has taken all.
  private static func answers(of session: inout DeviceSession, _ bytes: [UInt8]) -> [String] {
    var input = DeviceInput(bytes, count: bytes.count)
    var words: [String] = []
    while let step = session.next(in: &input, moment, now: now) {
      words.append(word(step))
      if case .end = step { session.end(at: moment.second) }
    }
    return words
  }

  // MARK: What a frame means

  /// Rows: what is expected of the device. Columns: what it sends. A dot stands for a frame out of its place.
  @Test func `What each frame means in each phase`() throws {
    let columns = ["hello", "register", "login", "ping", "ack", "aged", "receipt", "operation"]
    let first = "HELLO comes first"
    let table: [(DeviceSession.Phase, [String])] = [
      (.greeting, ["hello 7", first, first, first, first, first, first, first]),
      (.greeted, [".", "register", "login", "pong", ".", ".", ".", "."]),
      (.waiting, [".", ".", ".", "pong", ".", ".", ".", "."]),
      (.loggedIn, [".", ".", ".", "pong", "ack 1", "aged 1", "note 1", "perform 5"]),
    ]
    let frames = try Self.frames()
    for (phase, row) in table {
      for (column, expected) in zip(columns, row) {
        var session = Self.session(phase)
        let outOfPlace = phase == .loggedIn ? "go away" : "frame out of place"
        let words = Self.answers(of: &session, frames[column] ?? [])
        #expect(words == [expected == "." ? outOfPlace : expected], "\(column) in \(phase)")
      }
    }
  }

  @Test func `An older session has no frames of later versions`() throws {
    let frames = try Self.frames()
    var session = Self.session(.loggedIn, version: 2)
    #expect(Self.answers(of: &session, frames["aged"] ?? []) == ["go away"])
  }

  @Test func `Only whole frames count, and each one moves the deadline of a session`() throws {
    let frames = try Self.frames()
    var session = Self.session(.loggedIn)
    let ping = frames["ping"] ?? []
    #expect(Self.answers(of: &session, Array(ping.dropLast())) == [])
    #expect(session.deadline == 0 && session.frameDeadline == 1010 && session.partialCost > 128)
    #expect(Self.answers(of: &session, Array(ping.suffix(1)) + ping) == ["pong", "pong"])
    #expect(session.deadline == 1000 + UInt32(WireLimits.heartbeatDeadline(interval: 60)))
    #expect(session.frameDeadline == nil && session.partialCost == 0 && session.extras == nil)
  }

  @Test func `Who has not said who he is may send only short frames`() throws {
    var bytes: [UInt8] = []
    let tags = (0..<100).map { String(repeating: "t", count: 30) + "\($0)" }
    ClientFrame.operation(sequence: 1, .setTags(tags)).encode(into: &bytes)
    try #require(bytes.count > WireLimits.maxFrameBeforeLogin)
    var session = Self.session(.greeted)
    #expect(Self.answers(of: &session, Array(bytes.prefix(8))) == ["malformed frame"])
    session = Self.session(.loggedIn)
    #expect(Self.answers(of: &session, Array(bytes.prefix(8))) == [] && session.hasPartial)
  }

  @Test func `A registration that is answered when nobody waits changes nothing`() {
    for phase in [DeviceSession.Phase.greeting, .greeted, .loggedIn, .closing] {
      var session = Self.session(phase)
      #expect(session.registered(nil) == nil)
      #expect(session.phase == phase)
    }
    var session = Self.session(.waiting)
    #expect(Self.word(session.registered(.pong)) == "pong" && session.phase == .greeted)
    session = Self.session(.waiting)
    #expect(Self.word(session.registered(nil)) == "another end")
  }

  @Test(
    arguments: [
      (.greeting, false, true), (.greeted, false, true), (.waiting, true, true), (.loggedIn, false, true),
      (.loggedIn, true, false), (.handshaking, false, false), (.closing, false, false),
    ] as [(DeviceSession.Phase, Bool, Bool)])
  func `What is overdue ends with a word if it can be heard`(
    _ phase: DeviceSession.Phase, _ hasQueued: Bool, _ hasWord: Bool
  ) {
    #expect((Self.session(phase).overdue(hasQueued: hasQueued) != nil) == hasWord)
  }

  // MARK: WebSocket

  private static func webSocket(_ phase: DeviceSession.Phase) -> DeviceSession {
    var session = session(phase)
    session.startWebSocket(limit: 4096)
    return session
  }

  /// What comes of WebSocket frames (opcode with the final bit, content), and whether ours stays for the
  /// peer's Close.
  @Test func `What each WebSocket frame means`() throws {
    let ping = try #require(Self.frames()["ping"])
    let half = Array(ping.prefix(1))
    let table: [([(UInt8, [UInt8])], [String])] = [
      ([(0x82, ping)], ["pong"]),
      ([(0x82, ping + ping)], ["pong", "pong"]),
      ([(0x02, half), (0x80, Array(ping.dropFirst()))], ["pong"]),
      ([(0x02, half), (0x89, [7]), (0x80, Array(ping.dropFirst()))], ["pong of the WebSocket", "pong"]),
      ([(0x82, half)], ["go away"]),
      ([(0x82, [])], ["go away"]),
      ([(0x8a, [1])], []),
      ([(0x81, ping)], ["protocolError 1003"]),
      ([(0x80, ping)], ["protocolError 1002"]),
      ([(0x88, [3, 0xe8]), (0x82, ping)], ["closedByPeer 1000"]),
    ]
    for (frames, expected) in table {
      var session = Self.webSocket(.loggedIn)
      let bytes = frames.flatMap { WebSocketUnwrapper.masked($0.0, $0.1) }
      #expect(Self.answers(of: &session, bytes) == expected, "\(frames)")
    }
  }

  @Test func `A WebSocket's Close is sent once, and the peer's ends the wait for it`() {
    var session = Self.webSocket(.loggedIn)
    #expect(session.closeFrame(.normal) == [0x88, 2, 3, 0xe8] && session.waitsForClose)
    #expect(session.closeFrame(.normal) == nil)
    session.end(at: 1000)
    // Frames of the device are dropped after the end.
    #expect(Self.answers(of: &session, WebSocketUnwrapper.masked(0x82, [1, 1])) == [])
    #expect(
      Self.answers(of: &session, WebSocketUnwrapper.masked(0x88, [3, 0xe8])) == [] && !session.waitsForClose)
  }

  @Test func `A message that does not end is overdue, and one that ends is not`() throws {
    let ping = try #require(Self.frames()["ping"])
    var session = Self.webSocket(.loggedIn)
    #expect(Self.answers(of: &session, WebSocketUnwrapper.masked(0x02, ping)) == ["pong"])
    #expect(session.frameDeadline == 1010 && session.partialCost == 0)
    #expect(Self.answers(of: &session, WebSocketUnwrapper.masked(0x80, ping)) == ["pong"])
    #expect(session.frameDeadline == nil)
  }

  @Test func `What comes after the end is counted`() {
    var session = Self.session(.closing)
    let isBounded = (0..<5).map { _ in session.skip(64 << 10) }
    #expect(isBounded == [true, true, true, true, false])
  }

  /// Frames, whole or damaged, in pieces of any size, plain or in WebSocket fragments of any size: the
  /// session says the same as to each whole frame, and holds no more than one frame.
  @Test(arguments: 0..<300) func `Any bytes in any pieces`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let frames = try Self.frames().sorted { $0.key < $1.key }.map(\.value)
    let phase: DeviceSession.Phase = [.greeting, .greeted, .waiting, .loggedIn][Int(seed % 4)]
    let isWebSocket = seed % 3 == 0
    var (session, whole) = (isWebSocket ? Self.webSocket(phase) : Self.session(phase), Self.session(phase))
    var (words, expected): ([String], [String]) = ([], [])
    for _ in 0..<100 where whole.phase != .closing {
      var frame = frames[Int(random.next() % UInt64(frames.count))]
      if random.next() % 8 == 0 {
        // Not its length, or the frames behind it would be others.
        frame[1 + Int(random.next() % UInt64(frame.count - 1))] ^= UInt8(1 << (random.next() % 8))
      }
      expected += Self.answers(of: &whole, frame)
      var left = frame[...]
      var isFirst = true
      while !left.isEmpty {
        let piece = Array(left.prefix(1 + Int(random.next() % 40)))
        left = left.dropFirst(piece.count)
        var bytes = piece
        if isWebSocket {
          bytes = WebSocketUnwrapper.masked((isFirst ? 2 : 0) | (left.isEmpty ? 0x80 : 0), piece)
          isFirst = false
        }
        while !bytes.isEmpty {
          let part = Array(bytes.prefix(1 + Int(random.next() % 60)))
          bytes.removeFirst(part.count)
          words += Self.answers(of: &session, part)
          #expect(session.partialCost <= 2 * WireLimits.maxFrame)
        }
      }
      #expect(!session.hasPartial && session.phase == whole.phase)
      if whole.phase == .waiting, random.next() % 2 == 0 {
        (session.phase, whole.phase) = (.loggedIn, .loggedIn)
      }
    }
    #expect(words == expected)
  }

  // MARK: Which pushes are sent

  @Test func `The window and the queue bound what is sent`() {
    var limits = PassthroughLimits()
    limits.unsettled = 2
    limits.queuedBytes = 100
    var session = Self.session(.loggedIn)
    session.platform = Platform.android.rawValue
    #expect(session.offer(MessageID(5), isLate: false, queued: 99, limits) == .sent)
    #expect(session.offer(MessageID(5), isLate: false, queued: 100, limits) == .behind)
    session.noteSent(MessageID(5))
    #expect(session.offer(MessageID(5), isLate: false, queued: 0, limits) == .left)
    session.noteSent(MessageID(6))
    #expect(session.offer(MessageID(7), isLate: false, queued: 0, limits) == .behind)
    #expect(session.fallBehind() && !session.fallBehind())
    // Behind, it gets nothing out of turn, whatever room there is.
    session.unsettled = 0
    #expect(session.offer(MessageID(8), isLate: false, queued: 0, limits) == .left)
    #expect(session.beginCatchUp(queued: 0, limits) == .sent && session.isCatchingUp)
    session.isLeaving = true
    #expect(session.offer(MessageID(8), isLate: false, queued: 0, limits) == .left && session.isSettled)
  }

  @Test func `A push out of its turn goes when there is room, once, and is recalled like others`() {
    var limits = PassthroughLimits()
    limits.unsettled = 2
    var session = Self.session(.loggedIn)
    session.platform = Platform.android.rawValue
    #expect(!session.isOutOfTurn(MessageID(5)))
    session.noteSent(MessageID(6))
    #expect(session.isOutOfTurn(MessageID(5)))
    #expect(session.offerOutOfTurn(MessageID(5), queued: 0, limits) == .sent)
    session.noteSentOutOfTurn(MessageID(5))
    #expect(session.sentThrough == MessageID(6) && session.extras == nil)
    #expect(session.offerOutOfTurn(MessageID(5), queued: 0, limits) == .behind, "the window is full")
    #expect(session.readThrough == MessageID(4) && session.extras?.left.count == 1)
    #expect(session.noteRecall(MessageID(5)) && session.extras == nil)
    session.unsettled = 0
    // While older ones are being read, a newer one is remembered until these are through.
    #expect(session.beginCatchUp(queued: 0, limits) == .sent && session.isOutOfTurn(MessageID(9)))
    session.noteSentOutOfTurn(MessageID(9))
    #expect(session.noteRecall(MessageID(9)) && session.noteRecall(MessageID(6)))
    #expect(session.beginKept() && session.offerKept(MessageID(9), queued: 0, limits) == .left)
    #expect(session.offerKept(MessageID(8), queued: 0, limits) == .sent)
    session.endReading()
    _ = session.endCatchUp()
    // What is held back is not read with the others: the set stays until a newer push is sent.
    #expect(session.extras?.sentOutOfTurn == [MessageID(9)])
    session.noteSent(MessageID(10))
    #expect(session.extras == nil)
  }

  @Test func `A push that overtook others does not stand for them`() {
    let limits = PassthroughLimits()
    var session = Self.session(.loggedIn)
    session.platform = Platform.android.rawValue
    #expect(session.offerOutOfTurn(MessageID(9), queued: 0, limits) == .sent)
    session.noteSentOutOfTurn(MessageID(9))
    #expect(session.offerOutOfTurn(MessageID(9), queued: 0, limits) == .left, "once")
    #expect(session.offer(MessageID(9), isLate: true, queued: 0, limits) == .left)
    #expect(session.offer(MessageID(5), isLate: false, queued: 0, limits) == .sent)
    session.noteSent(MessageID(5))
    #expect(session.offerKept(MessageID(9), queued: 0, limits) == .left)
    let before = session.noteRecall(MessageID(9))
    session.noteSent(MessageID(12))
    let after = session.noteRecall(MessageID(9))
    #expect(before && after && session.extras == nil)
  }

  @Test func `What was on its way before a session took pushes is left to what the home says waits`() {
    let limits = PassthroughLimits()
    var session = Self.session(.loggedIn)
    session.platform = Platform.ios.rawValue
    session.newestWhileAway = MessageID(10)
    #expect(session.enter(isForeground: true) || session.isReceptive)
    // The home named nothing that waits: it was recalled.
    #expect(session.offer(MessageID(9), isLate: false, queued: 0, limits) == .left)
    #expect(session.offer(MessageID(10), isLate: false, queued: 0, limits) == .left)
    #expect(session.offer(MessageID(10), isLate: true, queued: 0, limits) == .sent)
    #expect(session.offer(MessageID(11), isLate: false, queued: 0, limits) == .sent)
  }

  @Test func `What is recalled while it is read is not sent`() {
    let limits = PassthroughLimits()
    var session = Self.session(.loggedIn)
    session.platform = Platform.android.rawValue
    #expect(
      !session.noteRecall(MessageID(5)) && session.extras == nil, "nothing is read: nothing to remember")
    #expect(session.beginCatchUp(queued: 0, limits) == .sent && !session.noteRecall(MessageID(5)))
    #expect(session.beginKept() && session.offerKept(MessageID(5), queued: 0, limits) == .left)
    session.endReading()
    #expect(session.extras == nil)
    // More than it remembers: all is read again.
    #expect(session.beginCatchUp(queued: 0, limits) == .sent)
    for id in 10..<1000 as Range<UInt64> where session.noteRecall(MessageID(id)) { Issue.record("\(id)") }
    #expect(session.extras?.recalled.count == 256 && !session.beginKept() && session.extras == nil)
    #expect(session.beginCatchUp(queued: 0, limits) == .sent && session.beginKept())
  }

  @Test func `The latest receipts are remembered, not the first, until all is acknowledged`() {
    var session = Self.session(.loggedIn)
    for id in 1..<101 as Range<UInt64> { session.noteSent(MessageID(id)) }
    for id in 1..<101 as Range<UInt64> {
      session.noteReported([MessageID(id)], at: Timestamp(milliseconds: Self.now.milliseconds + Int64(id)))
    }
    #expect(session.extras?.reported.count == 64 && session.extras?.reported[MessageID(100)] != nil)
    session.noteReported([MessageID(101)], at: Self.now)
    #expect(session.extras?.reported[MessageID(101)] == nil, "it was not sent")
    _ = session.settle(100, PassthroughLimits())
    #expect(session.extras == nil)
  }

  /// Whatever happens in whatever order: every push that is not recalled reaches the device once, those of
  /// their turn in order, and never are more on their way than the window allows. What is recalled before
  /// it was sent never comes, and the device is told of the others.
  @Test(arguments: 0..<400) func `Every push is sent once and in order`(seed: UInt64) {
    var world = DeliveryWorld(seed)
    for _ in 0..<400 { world.step() }
    world.comeToRest()
    #expect(world.sent.sorted() == world.expected)
    let inTurn = world.sent.filter { !world.outOfTurn.contains($0) }
    #expect(inTurn == inTurn.sorted() && world.recalls == world.expectedRecalls)
  }
}

/// A device, its connection and the pushes that are kept for it, as a model around a session.
private struct DeliveryWorld {
  private var session = DeviceSession()
  private var random: SeededRandom
  private var limits = PassthroughLimits()
  private var nextID: UInt64 = 1
  /// Not acknowledged and not recalled, ascending.
  private var kept: [MessageID] = []
  /// Of those, the ones whose moment has not come: they are not read.
  private var held: [MessageID] = []
  private var queued = 0
  private var onDevice: [MessageID] = []
  /// Acknowledged, not stored.
  private var unstored = 0
  /// What the home has answered to a question, on its way to the session.
  private var reading: [MessageID]?
  /// What the home has told since, behind the answer to the question or before it.
  private var wasUnread = false
  private(set) var sent: [MessageID] = []
  private(set) var expected: [MessageID] = []
  private(set) var outOfTurn: Set<MessageID> = []
  private(set) var recalls: [MessageID] = []
  private(set) var expectedRecalls: [MessageID] = []

  init(_ seed: UInt64) {
    random = SeededRandom(seed: seed)
    limits.unsettled = 6
    limits.queuedBytes = 300
    limits.catchUpBatch = 3
    session.phase = .loggedIn
    session.platform = (seed.isMultiple(of: 2) ? Platform.ios : .android).rawValue
    session.isForeground = true
  }

  mutating func step() {
    switch random.next() % 18 {
    case 0...4: accept()
    case 5...7: acknowledge()
    case 8, 9: store()
    case 10, 11: drain()
    case 12: finishReading()
    case 13: failReading()
    case 14: random.next() % 2 == 0 ? withdraw() : enter(isForeground: random.next() % 2 == 0)
    case 15: hold()
    case 16: release()
    default: tick()
    }
    #expect(session.unsettled <= limits.unsettled)
  }

  /// Nothing new comes, and all that is under way arrives.
  mutating func comeToRest() {
    enter(isForeground: true)
    while !held.isEmpty { release() }
    for _ in 0..<2000 {
      acknowledge()
      store()
      drain()
      finishReading()
      tick()
    }
    #expect(kept.isEmpty && session.unsettled == 0 && !session.isBehind && !session.isCatchingUp)
    // What went out of its turn is remembered until a newer push is sent.
    session.noteSent(MessageID(.max))
    #expect(session.extras == nil)
  }

  private mutating func accept() {
    let id = MessageID(nextID)
    nextID += 1
    kept.append(id)
    expected.append(id)
    offer(id)
  }

  private mutating func offer(_ id: MessageID) {
    switch session.offer(id, isLate: false, queued: queued, limits) {
    case .sent:
      #expect(session.isReceptive && inTurn ?? MessageID(0) < id)
      inTurn = id
      session.noteSent(id)
      note(id)
    case .behind: _ = session.fallBehind()
    case .left: break
    }
  }

  /// The newest that was sent in its turn.
  private var inTurn: MessageID?

  private mutating func note(_ id: MessageID) {
    sent.append(id)
    onDevice.append(id)
    queued += 100
  }

  /// One is accepted whose moment comes later.
  private mutating func hold() {
    let id = MessageID(nextID)
    nextID += 1
    held.append(id)
    expected.append(id)
  }

  /// The moment of one has come.
  private mutating func release() {
    guard !held.isEmpty else { return }
    let id = held.remove(at: Int(random.next() % UInt64(held.count)))
    kept.append(id)
    kept.sort()
    guard session.isOutOfTurn(id) else { return offer(id) }
    switch session.offerOutOfTurn(id, queued: queued, limits) {
    case .sent: sendOutOfTurn(id)
    case .behind: _ = session.fallBehind()
    case .left: break
    }
  }

  private mutating func sendOutOfTurn(_ id: MessageID) {
    session.noteSentOutOfTurn(id)
    outOfTurn.insert(id)
    note(id)
  }

  private mutating func acknowledge() {
    guard let id = onDevice.first else { return }
    onDevice.removeFirst()
    session.noteAcknowledged(id)
    guard let place = kept.firstIndex(of: id) else {
      // It was recalled meanwhile: there is nothing to store about it.
      settled(1)
      return
    }
    kept.remove(at: place)
    session.noteUnstored(1)
    unstored += 1
  }

  private mutating func store() {
    let count = unstored
    unstored = 0
    session.noteStored(count)
    settled(count)
  }

  private mutating func settled(_ count: Int) { if session.settle(count, limits) { catchUp() } }

  private mutating func drain() {
    queued = 0
    if session.isBehind { catchUp() }
  }

  private mutating func withdraw() {
    guard !kept.isEmpty else { return }
    let id = kept.remove(at: Int(random.next() % UInt64(kept.count)))
    if !sent.contains(id) { expected.removeAll { $0 == id } } else { expectedRecalls.append(id) }
    // Told also of what it may have seen: it forgets what it has not shown.
    if session.noteRecall(id), sent.contains(id) { recalls.append(id) }
  }

  private mutating func enter(isForeground: Bool) {
    _ = session.enter(isForeground: isForeground)
    catchUp()
  }

  private mutating func tick() {
    if wasUnread {
      wasUnread = false
      catchUp()
    }
    guard session.isBehind else { return }
    session.recount(waiting: kept.count { $0 <= session.sentThrough })
    settled(0)
  }

  private mutating func catchUp() {
    let offer = session.beginCatchUp(queued: queued, limits)
    if offer == .behind { _ = session.fallBehind() }
    // Answered at once, heard later: also an empty answer may be out of date by then.
    if offer == .sent {
      reading = Array(kept.filter { $0 > session.readThrough }.prefix(limits.catchUpBatch))
    }
  }

  private mutating func finishReading() {
    guard let batch = reading else { return }
    reading = nil
    guard let last = batch.last else {
      if session.endCatchUp() { catchUp() }
      return
    }
    guard session.beginKept() else { return catchUp() }
    for id in batch {
      switch session.offerKept(id, queued: queued, limits) {
      case .left: continue
      case .behind:
        _ = session.fallBehind()
        session.endReading()
        return
      case .sent where session.isOutOfTurn(id): sendOutOfTurn(id)
      case .sent:
        #expect(session.isReceptive && inTurn ?? MessageID(0) < id)
        inTurn = id
        session.noteSent(id)
        note(id)
      }
    }
    session.noteLooked(through: last)
    session.endReading()
    catchUp()
  }

  private mutating func failReading() {
    guard reading != nil else { return }
    reading = nil
    session.keptWasUnread()
    wasUnread = true
  }
}
