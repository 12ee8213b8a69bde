import BorealisBase
import BorealisDevice
import BorealisProtocol
import Testing

@Suite struct CoreStateTests {
  @Test func pushesOfAnEarlierRunAreMarkedOnce() {
    var run = CoreRun.loggedIn(inHand: [MessageID(1), MessageID(3)])
    run.receive(CoreRun.push(1) + CoreRun.push(2) + Wire.bytes(.recall(MessageID(3))) + CoreRun.push(3))
    #expect(run.delivered.map(\.isRedelivered) == [true, false])
    #expect(run.actions.contains(.noteHandled(MessageID(3))))
    run.handle(1)
    run.wait(1000)
    #expect(run.acknowledged == [3, 1])
  }

  /// A push that could not be noted is not taken: it comes again, and is given to the app then.
  @Test func pushesThatCouldNotBeNotedComeAgain() {
    var run = CoreRun.loggedIn()
    run.receive(CoreRun.push(1) + CoreRun.push(2))
    _ = run.drain()
    run.actions += run.core.storageFailed(notStored: [MessageID(1), MessageID(2)], at: run.now)
    #expect(run.actions.first == .close)
    #expect(run.core.inHandCount == 0)
    run.waitForAttempt()
    run.connected()
    run.receive(CoreRun.helloOK + CoreRun.loginOK() + CoreRun.push(1))
    #expect(run.pushes == [1])
  }

  /// Nor is what an earlier run may have shown new then.
  @Test func theMarkOutlivesAFailureToNote() {
    var run = CoreRun.loggedIn(inHand: [MessageID(1)])
    run.receive(CoreRun.push(1))
    _ = run.drain()
    run.actions += run.core.storageFailed(notStored: [MessageID(1)], at: run.now)
    run.waitForAttempt()
    run.connected()
    run.receive(CoreRun.helloOK + CoreRun.loginOK() + CoreRun.push(1))
    #expect(run.delivered.map(\.isRedelivered) == [true])
  }

  @Test func aliasAndTagsAreKept() {
    var run = CoreRun.loggedIn()
    let steps: [(BorealisProtocol.Operation, DeviceWishes)] = [
      (.setAlias("a"), DeviceWishes(alias: "a")),
      (.addTags(["x", "y"]), DeviceWishes(alias: "a", tags: ["x", "y"])),
      (.deleteTags(["x"]), DeviceWishes(alias: "a", tags: ["y"])),
      (.setTags(["z"]), DeviceWishes(alias: "a", tags: ["z"])),
      (.deleteAlias, DeviceWishes(tags: ["z"])), (.cleanTags, DeviceWishes()),
    ]
    for (operation, wishes) in steps {
      let number = run.submit(operation)
      run.receive(Wire.result(number))
      #expect(run.actions.contains(.storeWishes(wishes)))
      #expect(run.core.wishes == wishes)
      _ = run.drain()
    }
    let refused = run.submit(.setAlias("b"))
    run.receive(Wire.result(refused, .aliasFull))
    #expect(run.core.wishes.isEmpty)
  }

  /// A new registration knows no tokens but the ordinary one: they are told again, as they were told last.
  @Test func tokensAreToldAgainAfterANewRegistration() throws {
    let game = try #require(APNsTokenSlot(.liveActivity, name: "game"))
    let call = OtherToken(.voip, DeviceToken(.production, [1]))
    var run = CoreRun()
    run.start()
    run.connected()
    run.receive(CoreRun.helloOK(version: 2) + CoreRun.loginOK())
    for operation in [
      BorealisProtocol.Operation.setOtherToken(call),
      .setOtherToken(OtherToken(game, DeviceToken(.sandbox, [2]))),
      .setOtherToken(OtherToken(game, DeviceToken(.none, []))),
    ] {
      let number = run.submit(operation)
      run.receive(Wire.result(number))
    }
    run.receive(Wire.bytes(.goAway(.registrationReplaced, retryAfter: 0, host: "")))
    run.start()
    run.connected()
    run.receive(CoreRun.helloOK(version: 2) + Wire.bytes(.error(.userInvalid, .never, message: "")))
    run.waitForAttempt()
    run.connected()
    for isAnswered in [false, true] {
      run.receive(CoreRun.helloOK(version: 2) + (isAnswered ? [] : CoreRun.registerOK))
      _ = run.drain()
      run.receive(CoreRun.loginOK())
      let frames = Wire.frames(run.sent.flatMap { $0 })
      guard case .operation(let number, .setOtherToken(call)) = frames.last else {
        Issue.record("\(frames)")
        return
      }
      if isAnswered { run.receive(Wire.result(number)) }
      // Without an answer they are told again in the next session, with one not.
      run.lost()
      run.waitForAttempt()
      run.connected()
    }
    _ = run.drain()
    run.receive(CoreRun.helloOK(version: 2) + CoreRun.loginOK())
    #expect(run.sent.isEmpty)
  }

  /// The same for tokens of other channels: the last one of each, in the order in which they were told.
  @Test func tokensOfChannelsAreToldAgainAfterANewRegistration() {
    var run = CoreRun.loggedIn(version: 5)
    let tokens = [
      ReportedToken(channel: "fcm", token: "a"), ReportedToken(channel: "fcm", token: "b"),
      ReportedToken(channel: "huawei", token: "c"), ReportedToken(channel: "honor", token: "d"),
      ReportedToken(channel: "honor", token: ""),
    ]
    for token in tokens {
      let number = run.submit(.setChannelToken(token))
      run.receive(Wire.result(number))
    }
    run.receive(Wire.bytes(.goAway(.registrationReplaced, retryAfter: 0, host: "")))
    run.start()
    run.connected()
    run.receive(CoreRun.helloOK(version: 5) + Wire.bytes(.error(.userInvalid, .never, message: "")))
    run.waitForAttempt()
    run.connected()
    run.receive(CoreRun.helloOK(version: 5) + CoreRun.registerOK)
    _ = run.drain()
    run.receive(CoreRun.loginOK())
    let told = Wire.frames(run.sent.flatMap { $0 }).compactMap { frame -> ReportedToken? in
      if case .operation(_, .setChannelToken(let token)) = frame { token } else { nil }
    }
    #expect(told == [tokens[1], tokens[2]])
  }

  @Test func anOldServerIsNotAskedForWhatItDoesNotKnow() {
    var run = CoreRun.loggedIn()
    let number = run.submit(.setOtherToken(OtherToken(.voip, DeviceToken(.production, [1]))))
    #expect(run.sent.isEmpty && run.results.map(\.sequence) == [number])
    #expect(run.results.first?.code == .requestInvalid)
  }

  /// A new registration starts without alias and tags: they are set again, before what the app asked for
  /// meanwhile.
  @Test func aliasAndTagsAreSetAgainAfterANewRegistration() {
    var run = CoreRun(identity: nil, wishes: DeviceWishes(alias: "a", tags: ["y", "x"]))
    run.start()
    let own = run.submit(.setAlias("b"))
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.registerOK)
    let waiting = DeviceWishes(alias: "a", tags: ["y", "x"], areKnownToServer: false)
    #expect(run.actions.contains(.storeWishes(waiting)))
    // The first session ends before the answers have come: it is tried again in the next one.
    run.receive(CoreRun.loginOK())
    #expect(run.sentTypes.suffix(3) == [.setAlias, .setTags, .setAlias])
    run.lost()
    #expect(run.results.isEmpty && run.core.wishes == waiting)
    run.waitForAttempt()
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
    let frames = Wire.frames(run.sent.flatMap { $0 })
    var numbers: [UInt32] = []
    for case .operation(let number, _) in frames { numbers.append(number) }
    #expect(run.sentTypes == [.setAlias, .setTags, .setAlias] && numbers.last == own)
    run.receive(Wire.result(numbers[0]) + Wire.result(numbers[1], .tagIllegal))
    #expect(run.core.wishes == DeviceWishes(alias: "a", tags: ["y", "x"]))
    run.receive(Wire.result(own))
    #expect(run.core.wishes.alias == "b")
    #expect(run.results.map(\.operation) == [.setAlias("a"), .setTags(["x", "y"]), .setAlias("b")])
  }

  @Test func unansweredWishesAreSentAgain() {
    var run = CoreRun(wishes: DeviceWishes(alias: "a", tags: ["x"], areKnownToServer: false))
    run.logIn()
    _ = run.drain()
    run.receive(Wire.result(2))
    run.wait(DeviceCore.operationTime)
    #expect(run.results.map(\.code) == [.ok, .timeout])
    #expect(!run.core.wishes.areKnownToServer)
    run.lost()
    run.waitForAttempt()
    _ = run.drain()
    run.connected()
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
    #expect(run.sentTypes.suffix(2) == [.setAlias, .setTags])
  }

  @Test func longNamesAreClipped() {
    let profile = DeviceProfile(
      appKey: CoreRun.appKey, platform: .ios, appVersion: String(repeating: "é", count: 200),
      clientName: String(repeating: "c", count: 300))
    var core = DeviceCore(server: CoreRun.server, profile: profile, fingerprint: [1], seed: 1)
    _ = core.start(at: 1)
    guard case .send(let bytes) = core.connected(at: 1).first,
      case .register(let request) = Wire.frames(bytes).last
    else {
      Issue.record("nothing was sent")
      return
    }
    #expect(Wire.types(bytes) == [.hello, .register])
    #expect(request.appVersion.utf8.count == 254)
  }
}
