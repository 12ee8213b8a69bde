import BorealisBase
import Model
import PushTesting
import Synchronization
import Testing

@testable import Core
@testable import Storage

/// When a push arrived: what is known, and that every reader has the same.
@Suite struct ArrivalTests {
  private static let id = MessageID(firstAt: Timestamp(milliseconds: 1_790_000_000_000))
  private static func at(_ milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: id.time.milliseconds + milliseconds)
  }

  @Test(
    arguments: [
      // received, age, shown: arrived
      (505, nil, nil, 505), (505, 500, nil, 5), (505, 0, nil, 505), (505, nil, 4, 4), (505, 500, 4, 4),
      (505, 502, 4, 3), (505, 9_000_000, nil, 0), (505, nil, 600, 505), (505, 10, 600, 495),
    ] as [(Int64, UInt32?, Int64?, Int64)])
  func `A push arrives after it was accepted, and before anybody tells of it`(
    received: Int64, age: UInt32?, shown: Int64?, arrived: Int64
  ) {
    let arrival = Arrival(
      Self.id, acknowledgedAt: Self.at(received), age: age, reportedAt: shown.map { Self.at($0) })
    #expect(arrival.at == Self.at(arrived) && arrival.isExact == (age != nil))
  }

  @Test func `A push to many is over when the last of them got it, not when that is noticed`() throws {
    let directory = AppDirectory(app: AppID(1))
    for number in 1...2 as ClosedRange<UInt32> {
      directory.insert(
        RegistrationEntry(
          number: RegistrationNumber(number), id: RegistrationID(high: UInt64(number), low: 0),
          platform: .android, secretHash: (1, 2), lastSeen: 0))
    }
    let targets = NumberSet([RegistrationNumber(1), RegistrationNumber(2)])
    _ = directory.open(Self.id, .many(FanOutPush(id: Self.id, expires: .max, targets: targets)))
    _ = directory.acknowledge([Self.id], by: RegistrationNumber(1), at: [Self.at(90)])
    _ = directory.acknowledge([Self.id], by: RegistrationNumber(2), at: [Self.at(20)])
    let ended = try #require(directory.expireGroups(at: 1).first)
    #expect(ended.status == .delivered)
    #expect(ended.settlement(at: Self.at(5000)).at == Self.at(90))
  }

  @Test func `What was shown had arrived by then, whichever way that was told`() {
    func outcome(_ status: OutcomeStatus, shown: Int64?, tapped: Int64?) -> OutcomeRow {
      OutcomeRow(
        status: status, at: Self.at(505), shownAt: shown.map { Self.at($0) },
        tappedAt: tapped.map { Self.at($0) })
    }
    #expect(outcome(.delivered, shown: nil, tapped: nil).endedAt == Self.at(505))
    #expect(outcome(.delivered, shown: 4, tapped: 90).endedAt == Self.at(4))
    #expect(outcome(.delivered, shown: nil, tapped: 90).endedAt == Self.at(90))
    #expect(outcome(.recalled, shown: 4, tapped: nil).endedAt == Self.at(505))
  }
}
