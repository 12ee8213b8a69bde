import BorealisBase
import BorealisProtocol
import Testing

@testable import BorealisDevice

/// Pushes whose notification another channel brings if the device does not acknowledge them in time.
@Suite struct FallbackTests {
  private static let login: Int64 = 1_800_000_000_000

  private func run(answersAfter milliseconds: UInt64 = 0) -> CoreRun {
    var run = CoreRun()
    run.start()
    run.core.steady = 50_000
    run.connected()
    run.core.steady += milliseconds
    run.receive(CoreRun.helloOK + CoreRun.loginOK())
    _ = run.drain()
    return run
  }

  private func push(_ id: UInt64, showBefore moment: Int64) -> [UInt8] {
    ServerFrame.encodePush(
      messageID: MessageID(id), offline: false,
      content: Array(#"{"show_before":\#(moment),"notification":{"alert":"x"}}"#.utf8))
  }

  @Test func `One that is read in time is shown, and acknowledged at once`() {
    var run = run()
    run.core.steady += 999
    run.receive(push(5, showBefore: Self.login + 1000))
    #expect(run.pushes == [5] && run.acknowledged.isEmpty)
    run.handle(5)
    #expect(run.acknowledged == [5], "other acknowledgements wait for a second")
    run.receive(CoreRun.push(6))
    run.handle(6)
    #expect(run.acknowledged == [5])
  }

  @Test func `One that is read later is left to the channel, until the server sends what is left`() {
    var run = run()
    // The process was stopped: the loop's clock knows nothing of that.
    run.core.steady += 1000
    run.receive(push(5, showBefore: Self.login + 1000))
    #expect(run.pushes.isEmpty && run.events == [.leftToChannel(MessageID(5))])
    run.wait(5000)
    #expect(run.acknowledged.isEmpty)
    run.receive(CoreRun.push(5))
    run.handle(5)
    run.wait(1000)
    #expect(run.pushes == [5] && run.acknowledged == [5])
    run.receive(push(5, showBefore: Self.login + 1000))
    run.wait(1000)
    #expect(run.pushes == [5] && run.acknowledged == [5, 5], "a duplicate is acknowledged as always")
  }

  @Test func `The server may have written its time as early as HELLO was sent`() {
    var run = run(answersAfter: 600)
    run.core.steady += 399
    run.receive(push(5, showBefore: Self.login + 1000))
    run.core.steady += 1
    run.receive(push(6, showBefore: Self.login + 1000))
    #expect(run.pushes == [5])
  }

  @Test func `One that the app has not got in time is left to the channel too`() {
    var run = run()
    run.receive(push(5, showBefore: Self.login + 1000) + CoreRun.push(6))
    #expect(run.pushes == [5, 6])
    run.core.steady += 999
    #expect(run.core.timeToShow(MessageID(5)) == 1 && run.core.timeToShow(MessageID(6)) == nil)
    let early = run.core.leaveToChannel(MessageID(5))
    run.core.steady += 1
    let late = [5, 5, 6].map { run.core.leaveToChannel(MessageID($0)) }
    #expect(!early && late == [true, false, false] && run.core.inHandCount == 1)
    _ = run.drain()
    run.receive(CoreRun.push(5))
    run.handle(5)
    run.wait(1000)
    #expect(run.pushes == [5] && run.acknowledged == [5])
  }

  @Test(arguments: [#"{"show_before":,"message":{}}"#, #"{"show_before":99999999999999999999,"message":{}}"#])
  func `A moment that is none changes nothing`(content: String) {
    var run = run()
    run.core.steady += 100_000
    run.receive(
      ServerFrame.encodePush(messageID: MessageID(5), offline: false, content: Array(content.utf8)))
    #expect(run.pushes == [5])
  }
}
