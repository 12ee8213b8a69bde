import BorealisBase
import Model
import Testing

@testable import Channels

/// What is sent late leaves alone what newer pushes have brought.
@Suite struct PushOrderTests {
  private let first = RegistrationNumber(0)

  /// An older push is taken over from the direct connection when a newer one is on the screen.
  @Test(arguments: [false, true])
  func `What is taken over late does not replace a newer banner`(isOpen: Bool) {
    var state = QueueState(channel: .apns)
    let newer = LegKey(push: MessageID(9), leg: DeliveryLeg.main)
    state.add(QueuedPush(9, to: isOpen ? 2 : 1, collapse: "x"))
    state.finish(newer, first, ChannelEnd.delivered)
    #expect(state.open.isEmpty != isOpen)
    let old = LegKey(push: MessageID(7), leg: DeliveryLeg.main)
    _ = state.takeOver(QueuedPush(7, to: 1, collapse: "other"))
    #expect(state.open[old]?.left == 1)
    _ = state.close(old)
    _ = state.takeOver(QueuedPush(7, to: 2, collapse: "x"))
    #expect(state.open[old]?.left == 1 && state.open[old]?.awaits(first) == false)
    _ = state.takeOver(QueuedPush(7, to: 3, collapse: "x"))
    #expect(state.open[old]?.left == 2)
    // A newer one is not affected.
    state.add(QueuedPush(11, to: 2, collapse: "x"))
    #expect(state.open[LegKey(push: MessageID(11), leg: DeliveryLeg.main)]?.left == 2)
  }

  /// As with news that a sender sends to each device by itself: none of them is another's, and no push looks
  /// at all.
  @Test func `Pushes with one ID to different devices leave each other alone`() {
    var state = QueueState(channel: .apns)
    for id in 1...4 as ClosedRange<UInt64> {
      state.add(QueuedPush(id, to: 1, from: UInt32(id), collapse: "x"))
    }
    state.add(QueuedPush(5, to: 1, from: 2, collapse: "x"))
    let other = LegKey(push: MessageID(5), leg: DeliveryLeg.main)
    state.finish(other, RegistrationNumber(2), ChannelEnd.delivered)
    #expect(Set(state.open.keys.map(\.push.rawValue)) == [1, 3, 4])
    // A push to many takes the place of all that are older.
    state.add(QueuedPush(6, to: 20, collapse: "x"))
    let large = LegKey(push: MessageID(6), leg: DeliveryLeg.main)
    state.finish(large, RegistrationNumber(3), ChannelEnd.delivered)
    #expect(Set(state.open.keys.map(\.push.rawValue)) == [1, 4, 6])
  }

  @Test func `What is looked up late does not set an older number`() {
    var order = BadgeOrder()
    let both = [first, RegistrationNumber(1)]
    #expect(order.count(MessageID(9), on: [first]) == [])
    #expect(order.count(MessageID(7), on: both) == [first])
    #expect(order.count(MessageID(9), on: both) == [])
    #expect(order.count(MessageID(8), on: both) == both)
    order.forgetAll()
    #expect(order.count(MessageID(8), on: both) == [])
  }

  @Test func `What was looked up before is outdated once a newer number has gone`() {
    var order = BadgeOrder()
    let moments = [order.advance(), order.advance(), order.advance()]
    order.send(first, readAt: moments[1])
    #expect(moments.map { order.isOutdated(first, readAt: $0) } == [true, false, false])
    order.send(first, readAt: moments[0])
    #expect(order.isOutdated(first, readAt: moments[0]))
    #expect(!order.isOutdated(RegistrationNumber(1), readAt: moments[0]))
  }

  /// More devices than are known one by one.
  @Test func `What is not known of single devices may have happened to all`() {
    var order = BadgeOrder()
    let (early, late) = (order.advance(), order.advance())
    for number in 1...UInt32(20_000) { order.send(RegistrationNumber(number), readAt: late) }
    #expect(order.isOutdated(first, readAt: early) && !order.isOutdated(first, readAt: late))
  }
}
