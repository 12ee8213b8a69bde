import PushBase
import PushDomain
import Testing

@testable import PushChannels

/// What goes over the direct connection once a device has come.
@Suite struct FallingBackTests {
  /// Few, few that become many, and many.
  @Test(arguments: [(1, 2), (1, 40), (40, 80)] as [(UInt32, UInt32)])
  func `A device that was taken over gets what waits when it connects`(first: UInt32, then: UInt32) {
    var state = QueueState(channel: .apns)
    state.add(QueuedPush(7, to: first, fallsBack: true))
    let isDone = state.takeOver(QueuedPush(7, to: then, fallsBack: true))
    #expect(isDone)
    let late = RegistrationNumber(then - 1)
    // Only once.
    for _ in 0..<2 { state.reached(late, waitingSince: QueuedPush.start) }
    #expect(state.failed[MessageID(7)] == [late])
    state.reached(RegistrationNumber(0), waitingSince: QueuedPush.start)
    #expect(state.failed[MessageID(7)] == [late, RegistrationNumber(0)])
    state.expire(at: QueuedPush.start.adding(seconds: 3601))
    #expect(state.open.isEmpty && state.fallingBack.isEmpty)
  }
}
