import BorealisBase
import BorealisProtocol
import Testing

@testable import BorealisDevice

/// Alias, tags and tokens that are set again for a new registration, and refused.
@Suite struct RestorationTests {
  private static let wishes = DeviceWishes(alias: "a", tags: ["x"], areKnownToServer: false)

  /// In a session, with SET_ALIAS as 1 and SET_TAGS as 2 under way.
  private static func run() -> CoreRun {
    var run = CoreRun(wishes: wishes)
    run.logIn()
    #expect(run.sentTypes.suffix(2) == [.setAlias, .setTags])
    _ = run.drain()
    return run
  }

  private static func logInAgain(_ run: inout CoreRun) {
    run.lost()
    run.waitForAttempt()
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
  }

  @Test(arguments: [6009, 6011, 6014, 6019, 6020, 6024, 9999])
  func `What is refused for a passing reason is sent again in the same session`(code: UInt16) {
    var run = Self.run()
    run.receive(Wire.result(1, ResultCode(rawValue: code)) + Wire.result(2))
    #expect(run.core.wishes == Self.wishes)
    run.wait(Restoration.firstPause - 1)
    #expect(run.sent.isEmpty)
    run.wait(1)
    #expect(run.sentTypes == [.setAlias, .setTags])
    run.receive(Wire.result(3) + Wire.result(4, ResultCode(rawValue: code)))
    _ = run.drain()
    run.wait(2 * Restoration.firstPause - 1)
    #expect(run.sent.isEmpty)
    run.wait(1)
    run.receive(Wire.result(5) + Wire.result(6))
    #expect(run.actions.contains(.storeWishes(DeviceWishes(alias: "a", tags: ["x"]))))
    Self.logInAgain(&run)
    #expect(run.sent.isEmpty)
  }

  @Test(arguments: [6001, 6003, 6004, 6005, 6006, 6007, 6017, 6018, 6027])
  func `What would be refused again is not sent again`(code: UInt16) {
    var run = Self.run()
    run.receive(Wire.result(1, ResultCode(rawValue: code)) + Wire.result(2))
    #expect(run.core.wishes.areKnownToServer)
    run.wait(2 * Restoration.firstPause)
    #expect(run.sent.isEmpty)
    Self.logInAgain(&run)
    #expect(run.sent.isEmpty)
  }

  @Test(arguments: [6043, 6044])
  func `What lasts for hours is sent again after the next login`(code: UInt16) {
    var run = Self.run()
    run.receive(Wire.result(1) + Wire.result(2, ResultCode(rawValue: code)))
    #expect(run.core.wishes == Self.wishes)
    run.wait(2 * Restoration.firstPause)
    #expect(run.sent.isEmpty)
    Self.logInAgain(&run)
    #expect(run.sentTypes == [.setAlias, .setTags])
  }

  @Test func `The pauses grow up to a limit, and begin anew with a session`() {
    var restoration = Restoration()
    var pauses: [UInt64] = []
    for number in 1...9 as ClosedRange<UInt32> {
      restoration.begun(number)
      _ = restoration.ended(number, .serverError, at: 0)
      pauses.append(restoration.again ?? 0)
    }
    #expect(pauses == [5000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000])
    var run = Self.run()
    run.receive(Wire.result(1, .busy) + Wire.result(2, .busy))
    Self.logInAgain(&run)
    run.receive(Wire.result(3, .busy) + Wire.result(4, .busy))
    _ = run.drain()
    run.wait(Restoration.firstPause)
    #expect(run.sentTypes == [.setAlias, .setTags])
  }

  /// Sent behind an operation without a result yet, it would undo what the app has set meanwhile.
  @Test func `The app's own operations come first`() {
    var run = Self.run()
    run.receive(Wire.result(1, .serverError) + Wire.result(2))
    run.wait(Restoration.firstPause - 1)
    let own = run.submit(.setAlias("b"))
    _ = run.drain()
    run.wait(1)
    #expect(run.sent.isEmpty)
    run.receive(Wire.result(own))
    run.wait(Restoration.firstPause)
    var sent: [BorealisProtocol.Operation] = []
    for case .operation(_, let operation) in Wire.frames(run.sent.flatMap { $0 }) { sent.append(operation) }
    #expect(sent == [.setAlias("b"), .setTags(["x"])])
  }

  @Test func `Tokens are sent again as well`() {
    var run = CoreRun.loggedIn(version: 5)
    let token = ReportedToken(channel: "fcm", token: "a")
    let told = run.submit(.setChannelToken(token))
    run.receive(Wire.result(told))
    run.receive(Wire.bytes(.goAway(.registrationReplaced, retryAfter: 0, host: "")))
    run.start()
    run.connected()
    run.receive(CoreRun.helloOK(version: 5) + Wire.bytes(.error(.userInvalid, .never, message: "")))
    run.waitForAttempt()
    run.connected()
    _ = run.drain()
    run.receive(CoreRun.helloOK(version: 5) + CoreRun.registerOK + CoreRun.loginOK())
    var numbers: [UInt32] = []
    for case .operation(let number, .setChannelToken(token)) in Wire.frames(run.sent.flatMap({ $0 })) {
      numbers.append(number)
    }
    #expect(numbers.count == 1)
    for number in numbers { run.receive(Wire.result(number, .serverError)) }
    _ = run.drain()
    run.wait(Restoration.firstPause)
    #expect(run.sentTypes == [.setChannelToken])
  }
}
