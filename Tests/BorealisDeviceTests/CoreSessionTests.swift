import BorealisBase
import BorealisDevice
import BorealisProtocol
import Testing

@Suite struct CoreSessionTests {
  @Test func acknowledgesOnlyWhatWasHandledAndGathers() {
    var run = CoreRun.loggedIn(ackDelay: 1000)
    run.receive(CoreRun.push(1) + CoreRun.push(2) + CoreRun.push(3))
    #expect(run.pushes == [1, 2, 3])
    run.wait(5000)
    #expect(run.acknowledged.isEmpty)
    run.handle(2)
    run.wait(500)
    run.handle(1)
    run.wait(499)
    #expect(run.sent.isEmpty)
    _ = run.drain()
    run.wait(1)
    #expect(run.acknowledged == [2, 1])
    #expect(run.sent.count == 1)
  }

  @Test func acknowledgesAtOnceWithoutDelayOrWhenFull() {
    var run = CoreRun.loggedIn(ackDelay: 0)
    run.receive(CoreRun.push(1))
    run.handle(1)
    #expect(run.acknowledged == [1])
    run = CoreRun.loggedIn(ackDelay: 60_000)
    for id in 1...512 as ClosedRange<UInt64> { run.handle(id) }
    #expect(run.acknowledged == Array(1...512))
  }

  @Test func repeatsAreDroppedAndAcknowledged() {
    var run = CoreRun.loggedIn()
    run.receive(CoreRun.push(1) + CoreRun.push(1))
    #expect(run.pushes == [1])
    run.handle(1)
    run.lost()
    run.waitForAttempt()
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK() + CoreRun.push(1) + CoreRun.push(2))
    #expect(run.pushes == [2])
    run.wait(1000)
    #expect(run.acknowledged == [1])
  }

  @Test func `The age counts from the arrival, not from when the app was done`() {
    var run = CoreRun.loggedIn(version: 3)
    run.receive(CoreRun.push(1))
    run.wait(5000)
    run.handle(1)
    run.receive(CoreRun.push(2) + CoreRun.push(2))
    run.handle(2)
    _ = run.drain()
    run.wait(1000)
    #expect(
      run.ages == [
        AgedAcknowledgement(MessageID(1), age: 6000), AgedAcknowledgement(MessageID(2), age: 1000),
      ])
  }

  /// The clock stands still while the process is stopped: an age across that would be too small.
  @Test func `What came before a stop has no age, and the server is asked at once whether it is there`() {
    var run = CoreRun.loggedIn(version: 3)
    run.receive(CoreRun.push(1))
    run.resume()
    #expect(run.sentTypes == [.ping])
    run.receive(Wire.bytes(.pong))
    run.wait(10)
    run.receive(CoreRun.push(2))
    run.handle(1)
    run.handle(2)
    _ = run.drain()
    run.wait(1000)
    #expect(
      run.ages == [
        AgedAcknowledgement(MessageID(1), age: AgedAcknowledgement.unknownAge),
        AgedAcknowledgement(MessageID(2), age: 1000),
      ])
  }

  @Test func repeatsAreDroppedAfterARestart() {
    var handled = RecentMessages()
    for id in 1...3 as ClosedRange<UInt64> { handled.insert(MessageID(id)) }
    var run = CoreRun.loggedIn(handled: handled)
    run.receive((1...5).flatMap { CoreRun.push(UInt64($0), offline: true) })
    #expect(run.pushes == [4, 5])
    run.wait(1000)
    #expect(run.acknowledged == [1, 2, 3])
    #expect(run.delivered.first?.isOffline == true)
    #expect(run.delivered.first?.content == Array("{\"message\":{\"msg_content\":\"hi\"}}".utf8))
  }

  @Test func pushInHandIsNotShownTwiceAcrossReconnects() {
    var run = CoreRun.loggedIn()
    run.receive(CoreRun.push(1))
    run.lost()
    run.waitForAttempt()
    run.connected()
    run.receive(CoreRun.helloOK + CoreRun.loginOK() + CoreRun.push(1))
    #expect(run.pushes == [1])
    run.handle(1)
    run.wait(1000)
    #expect(run.acknowledged == [1])
  }

  @Test func recallBeforeAndAfterThePush() {
    var run = CoreRun.loggedIn()
    run.receive(Wire.bytes(.recall(MessageID(7))))
    #expect(run.drain() == [.noteHandled(MessageID(7)), .event(.recalled(MessageID(7)))])
    run.receive(CoreRun.push(7))
    #expect(run.pushes.isEmpty)
    run.wait(1000)
    #expect(run.acknowledged == [7])
    run.receive(CoreRun.push(8))
    _ = run.drain()
    run.receive(Wire.bytes(.recall(MessageID(8))))
    #expect(run.actions == [.event(.recalled(MessageID(8)))])
  }

  @Test func pingsAfterSilenceAndGivesUpWithoutAnswer() {
    var run = CoreRun.loggedIn(heartbeat: 30)
    run.wait(29_999)
    #expect(run.sentTypes.isEmpty)
    run.wait(1)
    #expect(run.sentTypes == [.ping])
    run.receive(Wire.bytes(.pong))
    run.wait(20_000)
    #expect(run.events.isEmpty)
    run.wait(10_000)
    #expect(run.sentTypes == [.ping, .ping])
    run.wait(9999)
    #expect(run.events.isEmpty)
    run.wait(1)
    #expect(run.actions.contains(.close))
    guard case .disconnected(.heartbeatTimeout, retryIn: .some) = run.events.first else {
      Issue.record("no time-out")
      return
    }
  }

  @Test func pausedReadingBlamesNobodyForAMissingPong() {
    var run = CoreRun.loggedIn(heartbeat: 30)
    run.core.readingPaused(true, at: run.now)
    run.wait(100_000)
    #expect(run.events.isEmpty)
    #expect(run.sentTypes.count == 3)
    run.core.readingPaused(false, at: run.now)
    run.wait(9999)
    #expect(run.events.isEmpty)
    run.wait(1)
    #expect(run.events.count == 1)
  }

  /// The connection may end while reading is paused: the next one is read from the beginning.
  @Test func aPauseEndsWithTheConnection() {
    var run = CoreRun.loggedIn(heartbeat: 30)
    run.core.readingPaused(true, at: run.now)
    run.lost()
    run.waitForAttempt()
    run.connected()
    run.receive(CoreRun.helloOK + CoreRun.loginOK(heartbeat: 30))
    _ = run.drain()
    run.wait(30_000 + DeviceCore.pongTime)
    #expect(run.sentTypes == [.ping])
    guard case .disconnected(.heartbeatTimeout, retryIn: .some) = run.events.first else {
      Issue.record("no time-out")
      return
    }
  }

  @Test func aChangeOfTheNetworkIsAReasonToAsk() {
    var run = CoreRun.loggedIn(heartbeat: 30)
    run.actions += run.core.networkChanged(at: run.now)
    #expect(run.sentTypes == [.ping])
    run.wait(DeviceCore.pongTime)
    guard case .disconnected(.heartbeatTimeout, retryIn: .some) = run.events.first else {
      Issue.record("no time-out")
      return
    }
  }

  @Test func operationsWaitForTheLoginAndKeepTheirOrder() {
    var run = CoreRun()
    run.start()
    let numbers = [
      run.submit(.setAlias("a")), run.submit(.addTags(["x"])), run.submit(.getAlias), run.submit(.getTags),
    ]
    #expect(Set(numbers).count == 4)
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
    #expect(run.sentTypes == [.setAlias, .addTags, .getAlias, .getTags])
    // Results in another order.
    run.receive(
      Wire.result(numbers[3], .ok, .tags(["x", "y"])) + Wire.result(numbers[0])
        + Wire.result(numbers[2], .ok, .alias("a")) + Wire.result(numbers[1], .deviceTagsFull)
        + Wire.result(numbers[0]) + Wire.result(99))
    #expect(
      run.results == [
        OperationResult(sequence: numbers[3], operation: .getTags, code: .ok, value: .tags(["x", "y"])),
        OperationResult(sequence: numbers[0], operation: .setAlias("a"), code: .ok),
        OperationResult(sequence: numbers[2], operation: .getAlias, code: .ok, value: .alias("a")),
        OperationResult(sequence: numbers[1], operation: .addTags(["x"]), code: .deviceTagsFull),
      ])
  }

  @Test func operationsTimeOutSentOrNot() {
    for isLoggedIn in [true, false] {
      var run = isLoggedIn ? CoreRun.loggedIn() : CoreRun()
      let number = run.submit(.cleanTags)
      if !isLoggedIn {
        #expect(run.results == [OperationResult(sequence: number, operation: .cleanTags, code: .stopped)])
        _ = run.drain()
        run.start()
        let queued = run.submit(.cleanTags)
        run.wait(DeviceCore.operationTime)
        #expect(run.results == [OperationResult(sequence: queued, operation: .cleanTags, code: .timeout)])
        continue
      }
      run.wait(DeviceCore.operationTime - 1)
      #expect(run.results.isEmpty)
      run.wait(1)
      #expect(run.results == [OperationResult(sequence: number, operation: .cleanTags, code: .timeout)])
      run.receive(Wire.result(number))
      #expect(run.results.count == 1)
    }
  }

  @Test func unansweredOperationsAreSentAgainAfterAReconnect() {
    var run = CoreRun.loggedIn()
    let number = run.submit(.checkTag("x"))
    run.lost()
    run.actions += run.core.networkChanged(at: run.now)
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK() + Wire.result(number, .ok, .hasTag(true)))
    #expect(run.sentTypes == [.checkTag])
    #expect(
      run.results == [
        OperationResult(sequence: number, operation: .checkTag("x"), code: .ok, value: .hasTag(true))
      ])
  }

  @Test(arguments: [
    (BorealisProtocol.Operation.setAlias(String(repeating: "a", count: 256)), ResultCode.aliasTooLong),
    (.addTags([String(repeating: "a", count: 256)]), .tagTooLong),
    (.setTags(Array(repeating: String(repeating: "a", count: 255), count: 300)), .tagsTooLong),
    (.setTags(Array(repeating: String(repeating: "a", count: 40), count: 2000)), .tooManyTags),
  ])
  func whatFitsNoFrameIsRefusedHere(operation: BorealisProtocol.Operation, code: ResultCode) {
    var run = CoreRun.loggedIn()
    let number = run.submit(operation)
    #expect(run.results == [OperationResult(sequence: number, operation: operation, code: code)])
    #expect(run.sent.isEmpty)
  }

  @Test func manyOperationsAreRefused() {
    var run = CoreRun.loggedIn()
    for _ in 0..<DeviceCore.mostOperations { _ = run.submit(.getAlias) }
    #expect(run.results.isEmpty)
    let last = run.submit(.getAlias)
    #expect(run.results == [OperationResult(sequence: last, operation: .getAlias, code: .tooFrequent)])
  }

  @Test(arguments: [0, 1, 2, 3])
  func logoutEndsForGood(way: Int) {
    var run = CoreRun.loggedIn()
    let number = run.submit(.logout)
    let other = run.submit(.getTags)
    switch way {
    case 0: run.receive(Wire.result(number))
    case 1: run.receive(Wire.bytes(.goAway(.loggedOut, retryAfter: 0, host: "")))
    case 2: run.receive(Wire.bytes(.goAway(.loggedOut, retryAfter: 0, host: "")) + Wire.result(number))
    default: run.lost()
    }
    #expect(
      run.results == [
        OperationResult(sequence: number, operation: .logout, code: .ok),
        OperationResult(sequence: other, operation: .getTags, code: .stopped),
      ])
    _ = run.drain()
    run.wait(1_000_000)
    #expect(run.actions.isEmpty)
    run.start()
    #expect(run.connects == [CoreRun.server])
  }

  @Test func logoutWaitsForTheLoginThatIsUnderWay() {
    var run = CoreRun()
    run.start()
    let alias = run.submit(.deleteAlias)
    let logout = run.submit(.logout)
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
    // After LOGOUT the connection ends: it waits for the other result.
    #expect(run.sentTypes == [.deleteAlias])
    run.receive(Wire.result(alias))
    #expect(run.sentTypes == [.deleteAlias, .logout])
    run.receive(Wire.result(logout))
    #expect(run.results.map(\.code) == [.ok, .ok])
    #expect(run.events.last == .disconnected(.stopped, retryIn: nil))
  }

  @Test(arguments: [0, 1, 2]) func logoutNeedsNoServer(way: Int) {
    var run = CoreRun()
    run.start()
    switch way {
    case 0:
      _ = run.submit(.logout)
      run.lost()
    case 1:
      run.lost()
      _ = run.drain()
      _ = run.submit(.logout)
      #expect(!run.actions.contains(.close))
    default:
      run.connected()
      run.receive(CoreRun.helloOK + CoreRun.loginOK())
      _ = run.submit(.logout)
      run.wait(DeviceCore.operationTime)
      #expect(run.actions.contains(.close))
    }
    #expect(run.results.map(\.code) == [.ok])
    #expect(run.events.contains(.disconnected(.stopped, retryIn: nil)))
    _ = run.drain()
    run.wait(1_000_000)
    #expect(run.actions.isEmpty)
  }

  @Test func receiptsAreSentNowOrAfterTheLogin() {
    var run = CoreRun.loggedIn()
    run.report(.shown, 1)
    #expect(run.sentTypes == [.receipt])
    run.lost()
    _ = run.drain()
    for id in 1...300 as ClosedRange<UInt64> { run.report(.tapped, id) }
    run.actions += run.core.networkChanged(at: run.now)
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
    let bytes = run.sent.flatMap { $0 }
    guard case .receipt(let list) = Wire.frames(bytes).first else {
      Issue.record("no receipt")
      return
    }
    #expect(list.count == DeviceCore.mostReceipts)
    #expect(list[0, in: bytes.span] == Receipt(.tapped, MessageID(45)))
  }

  @Test func stopAcknowledgesFirst() {
    var run = CoreRun.loggedIn()
    run.receive(CoreRun.push(1))
    run.handle(1)
    let number = run.submit(.getAlias)
    _ = run.drain()
    run.stop()
    #expect(run.acknowledged == [1])
    #expect(run.actions.contains(.close))
    #expect(run.results == [OperationResult(sequence: number, operation: .getAlias, code: .stopped)])
    #expect(run.core.nextDeadline == nil)
  }

  @Test func appStateIsToldAtTheNextLogin() {
    var run = CoreRun.loggedIn()
    _ = run.submit(.appState(.foreground))
    run.lost()
    run.actions += run.core.networkChanged(at: run.now)
    _ = run.drain()
    run.connected()
    guard case .login(let login) = Wire.frames(run.sent.flatMap { $0 }).last else {
      Issue.record("no login")
      return
    }
    #expect(login.appState == .foreground)
  }
}
