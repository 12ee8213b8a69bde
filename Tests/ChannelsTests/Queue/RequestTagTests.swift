import BorealisBase
import Core
import Model
import Storage
import Testing

@testable import Channels

@Suite struct RequestTagTests {
  /// An app that leaves and comes back has another queue. What is late for the first one must not be taken
  /// for a request of the second: dispatchers that apps share find queues by the app in the number.
  @Test func `Requests of two queues of an app have different numbers`() {
    let app = AppID(7)
    let row = TokenRow(
      number: RegistrationNumber(1), service: .none, token: [1], tokenAt: Timestamp(milliseconds: 0), badge: 0
    )
    let delivery = Delivery(
      key: LegKey(push: MessageID(1), leg: 0), slot: TokenSlot(ChannelID(rawValue: 77), kind: 1), row: row,
      readAt: ReadMoment(tokens: 0, badges: 0), service: .only)
    let flight = InFlightRequest(
      delivery: delivery, sentAt: Timestamp(milliseconds: 0), target: IdleTarget(), authorization: nil)
    var (one, two) = (InFlightRequests(), InFlightRequests())
    let tags = (0..<3).flatMap { _ in [one.begin(flight, of: app), two.begin(flight, of: app)] }
    #expect(Set(tags).count == tags.count)
    #expect(tags.allSatisfy { $0.app == app })
    let isKnownToAnother = two.complete(tags[0], isAccepted: true) != nil
    let isKnown = one.complete(tags[0], isAccepted: true) != nil
    #expect(isKnown && !isKnownToAnother)
  }
}

private final class IdleTarget: ServiceTarget {
  func accepts(_ slot: TokenSlot) -> Bool { true }
  func wake() {}
  func recall(_ tags: [UInt64]) {}
}
