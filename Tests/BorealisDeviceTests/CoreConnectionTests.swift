import BorealisBase
import BorealisDevice
import BorealisProtocol
import Testing

@Suite struct CoreConnectionTests {
  @Test func firstStartRegistersThenLogsInOnTheSameConnection() {
    var run = CoreRun(identity: nil)
    run.start()
    #expect(run.drain() == [.connect(CoreRun.server)])
    run.connected()
    // HELLO and REGISTER in one packet.
    #expect(run.sent.count == 1)
    #expect(run.sentTypes == [.hello, .register])
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.registerOK)
    // Stored before it is used.
    #expect(run.actions.first == .storeIdentity(CoreRun.identity))
    #expect(run.events == [.registered(CoreRun.identity.registrationID)])
    #expect(run.sentTypes == [.login])
    run.receive(CoreRun.loginOK())
    #expect(run.events.last == .loggedIn(pending: 2))
    #expect(run.connects.isEmpty)
    #expect(run.core.isLoggedIn)
  }

  @Test func laterStartsLogInInOnePacket() {
    var run = CoreRun()
    run.start()
    run.connected()
    #expect(run.sent.count == 1)
    #expect(run.sentTypes == [.hello, .login])
  }

  /// The same bytes give the same actions wherever they are cut.
  @Test func everySplitOfTheStream() {
    let head = CoreRun.helloOK + CoreRun.registerOK + CoreRun.loginOK()
    let middle = CoreRun.push(5) + CoreRun.push(300, offline: true) + CoreRun.push(5)
    let tail =
      Wire.bytes(.recall(MessageID(9))) + CoreRun.push(9) + Wire.result(1, .aliasFull) + Wire.bytes(.pong)
      + Wire.bytes(.goAway(.drain, retryAfter: 10, host: "")) + CoreRun.push(11)
    let stream = head + middle + tail

    func actions(cuts: [Int]) -> [DeviceAction] {
      var run = CoreRun(identity: nil)
      run.start()
      _ = run.submit(.setAlias("a"))
      run.connected()
      var from = 0
      for cut in cuts + [stream.count] {
        run.receive(Array(stream[from..<cut]))
        from = cut
      }
      run.lost()
      return run.actions
    }
    let whole = actions(cuts: [])
    #expect(whole.contains(.noteHandled(MessageID(9))))
    #expect(
      whole.contains(
        .event(.operationResult(OperationResult(sequence: 1, operation: .setAlias("a"), code: .aliasFull)))))
    for cut in 0...stream.count { #expect(actions(cuts: [cut]) == whole) }
    for first in stride(from: 0, to: stream.count, by: 7) {
      for second in stride(from: first, to: stream.count, by: 5) {
        #expect(actions(cuts: [first, second]) == whole)
      }
    }
    #expect(actions(cuts: Array(1..<stream.count)) == whole)
  }

  @Test func connectionLostMidFrameLeavesNothingBehind() {
    let push = CoreRun.push(5)
    for cut in 1..<push.count {
      var run = CoreRun.loggedIn()
      run.receive(Array(push[..<cut]))
      run.lost()
      #expect(run.pushes.isEmpty)
      run.waitForAttempt()
      #expect(run.connects == [CoreRun.server])
      run.connected()
      run.receive(CoreRun.helloOK + CoreRun.loginOK() + push)
      #expect(run.pushes == [5])
    }
  }

  @Test(
    arguments: [
      [0x00], [0x81, 0x00], [0xff, 0xff, 0xff], [0x01, 0x7f], [0x02, 0x02, 0x00],
      Array(CoreRun.helloOK), CoreRun.registerOK, CoreRun.loginOK(),
    ] as [[UInt8]])
  func brokenOrMisplacedFramesEndTheSession(bytes: [UInt8]) {
    var run = CoreRun.loggedIn()
    run.receive(bytes)
    #expect(run.actions.first == .close)
    guard case .disconnected(.protocolError, retryIn: .some(let wait)) = run.events.first else {
      Issue.record("no disconnection")
      return
    }
    #expect(wait <= 2000)
  }

  /// Whatever a server sends, and whenever: no trap, at most one connection, and a next step unless it is
  /// over.
  @Test(arguments: 0..<40 as Range<UInt64>) func hostileBytes(seed: UInt64) {
    var random = seed
    func next(_ limit: UInt64) -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (random >> 33) % limit
    }
    let frames: [[UInt8]] = [
      CoreRun.helloOK, CoreRun.registerOK, CoreRun.loginOK(heartbeat: 1, ackDelay: 65_535), CoreRun.push(1),
      CoreRun.push(.max), Wire.bytes(.recall(MessageID(1))), Wire.bytes(.pong), Wire.result(1),
      Wire.result(2, .ok, .alias("a")), Wire.bytes(.goAway(.drain, retryAfter: .max, host: "a:1")),
      Wire.bytes(.goAway(.slowReader, retryAfter: .max, host: "")),
      Wire.bytes(.error(.notRegistered, .never, message: "")),
      Wire.bytes(.error(.busy, .atOnce, message: "")),
    ]
    var run = CoreRun(identity: seed % 2 == 0 ? nil : CoreRun.identity, seed: seed)
    run.start()
    var isConnected = false
    for _ in 0..<400 {
      switch next(8) {
      case 0: run.connected()
      case 1: run.lost()
      case 2: run.wait(next(100_000))
      case 3: _ = run.submit([.setAlias("a"), .getAlias, .getTags, .cleanTags][Int(next(4))])
      case 4: run.handle(next(3))
      default:
        var bytes = frames[Int(next(UInt64(frames.count)))]
        if next(4) == 0 { bytes[Int(next(UInt64(bytes.count)))] ^= UInt8(1 << next(8)) }
        run.receive(Array(bytes.prefix(next(3) == 0 ? Int(next(40)) : bytes.count)))
      }
      for action in run.drain() {
        if case .connect = action {
          #expect(!isConnected)
          isConnected = true
        }
        if case .close = action {
          #expect(isConnected)
          isConnected = false
        }
        if case .event(.disconnected) = action { isConnected = false }
        if case .event(.disconnected(_, retryIn: nil)) = action { run.start() }
      }
      #expect(run.core.nextDeadline != nil)
    }
  }

  @Test(arguments: [
    CoreRun.loginOK(), CoreRun.push(1), Wire.bytes(.pong), Wire.result(1),
    // A version that was not offered.
    Wire.bytes(.helloOK(version: 8, serverTime: Timestamp(milliseconds: 0), maxFrame: 65_536)),
  ])
  func nothingButHelloOKComesFirst(bytes: [UInt8]) {
    var run = CoreRun()
    run.start()
    run.connected()
    run.receive(bytes)
    #expect(run.actions.contains(.close))
    #expect(!run.core.isLoggedIn)
  }

  @Test(
    arguments: [
      (CloseReason.drain, true, 0), (.replaced, false, 0), (.slowReader, true, 2000),
      (.heartbeatMissed, true, 0), (.protocolError, true, 2000), (.loggedOut, false, 0),
      (.registrationReplaced, false, 0), (.appDisabled, true, 2000), (.tooManyConnections, true, 2000),
      (CloseReason(rawValue: 77), true, 2000),
    ] as [(CloseReason, Bool, UInt64)])
  func goAway(reason: CloseReason, comesBack: Bool, random: UInt64) {
    var run = CoreRun.loggedIn()
    run.receive(Wire.bytes(.goAway(reason, retryAfter: 500, host: "")))
    if reason == .drain {
      // Pushes may be under way: the server closes.
      #expect(run.events.isEmpty)
      run.receive(CoreRun.push(8))
      #expect(run.pushes == [8])
      _ = run.drain()
      run.lost()
      #expect(!run.actions.contains(.close))
    } else {
      #expect(run.actions.first == .close)
    }
    guard case .disconnected(.goAway(reason), retryIn: let wait) = run.events.first else {
      Issue.record("no disconnection")
      return
    }
    if comesBack {
      let most = random == 0 ? 1000 : 500 + random
      #expect(wait.map { (500...most).contains($0) } == true)
    } else {
      #expect(wait == nil)
      run.wait(10_000_000)
      #expect(run.connects.isEmpty)
      run.start()
      #expect(run.connects == [CoreRun.server])
    }
  }

  @Test func hostHoldsForTheNextConnectionOnly() {
    var run = CoreRun.loggedIn()
    run.receive(Wire.bytes(.goAway(.drain, retryAfter: 0, host: "other.example.com:7901")))
    run.lost()
    run.wait(0)
    #expect(run.connects == [ServerAddress(host: "other.example.com", port: 7901)])
    run.lost()
    run.waitForAttempt()
    #expect(run.connects.last == CoreRun.server)
  }

  @Test(arguments: ["", "host", "host:0", "host:65536", "::1:80", "a b:1", ":80", "[::1]", "ho/st:1"])
  func badHostsAreIgnored(host: String) {
    #expect(ServerAddress(host) == nil)
    var run = CoreRun.loggedIn()
    run.receive(Wire.bytes(.goAway(.drain, retryAfter: 0, host: host)))
    run.lost()
    run.wait(0)
    #expect(run.connects == [CoreRun.server])
  }

  @Test func addressesReadAndWrite() {
    for text in ["a:1", "[::1]:7900", "192.0.2.1:65535"] { #expect(ServerAddress(text)?.text == text) }
  }

  @Test(arguments: [ResultCode.notRegistered, .userInvalid])
  func unknownRegistrationRegistersAnew(code: ResultCode) {
    var run = CoreRun()
    run.start()
    run.connected()
    _ = run.drain()
    run.receive(Wire.bytes(.error(code, .never, message: "gone")))
    #expect(run.actions.contains(.forgetIdentity))
    run.wait(0)
    #expect(run.connects == [CoreRun.server])
    _ = run.drain()
    run.connected()
    #expect(run.sentTypes == [.hello, .register])
  }

  @Test(arguments: [1005, 1008, 1009, 6015, 9002] as [UInt16])
  func finalRefusalsStop(number: UInt16) {
    let code = ResultCode(rawValue: number)
    var run = CoreRun()
    run.start()
    let first = run.submit(.getTags)
    run.connected()
    run.receive(Wire.bytes(.error(code, .never, message: "no")))
    #expect(run.events.first == .disconnected(.refused(code, message: "no"), retryIn: nil))
    let second = run.submit(.getTags)
    #expect(
      run.results == [first, second].map { OperationResult(sequence: $0, operation: .getTags, code: code) })
    _ = run.drain()
    run.wait(10_000_000)
    #expect(run.actions.isEmpty)
  }

  @Test func failuresGrowTheWaitAndAMinuteOfSessionEndsThem() {
    var run = CoreRun()
    run.start()
    for failure in 1...12 {
      _ = run.drain()
      run.lost()
      guard case .disconnected(_, retryIn: .some(let wait)) = run.events.first else {
        Issue.record("no wait")
        return
      }
      #expect(wait <= UInt64(min(300, 1 << failure)) * 1000)
      run.wait(wait)
      #expect(run.connects == [CoreRun.server])
    }
    for (duration, starts) in [(59_999, false), (60_000, true)] as [(UInt64, Bool)] {
      run.connected()
      run.receive(CoreRun.helloOK + CoreRun.loginOK())
      run.wait(duration)
      run.lost()
      #expect((run.core.backOffFailures == 1) == starts)
      run.waitForAttempt()
    }
  }

  @Test func networkChangeConnectsAtOnce() {
    var run = CoreRun()
    run.start()
    run.lost()
    _ = run.drain()
    run.actions += run.core.networkChanged(at: run.now)
    #expect(run.connects == [CoreRun.server])
    run.actions += run.core.networkChanged(at: run.now)
    #expect(run.connects.count == 1)
  }

  @Test func silentServerIsGivenUp() {
    var run = CoreRun()
    run.start()
    run.wait(DeviceCore.loginTime - 1)
    #expect(run.events.isEmpty)
    run.wait(1)
    #expect(run.actions.contains(.close))
    run.waitForAttempt()
    run.connected()
    _ = run.drain()
    run.wait(DeviceCore.loginTime)
    guard case .disconnected(.loginTimeout, _) = run.events.first else {
      Issue.record("no time-out")
      return
    }
  }

  @Test func failedStorageOfANewRegistrationIsNotUsed() {
    var run = CoreRun(identity: nil)
    run.start()
    run.connected()
    run.receive(CoreRun.helloOK + CoreRun.registerOK)
    _ = run.drain()
    run.actions += run.core.storageFailed(at: run.now)
    #expect(run.actions.first == .close)
    #expect(run.core.identity == nil)
  }
}
