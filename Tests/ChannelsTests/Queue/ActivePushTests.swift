import BorealisBase
import Model
import Testing

@testable import Channels
@testable import Core
@testable import Storage

/// The content of a push that is never sent.
private final class Nothing: Sendable {}

/// What a push on its way by a channel remembers.
@Suite struct ActivePushTests {
  /// A push to numbers 0 ..< count, some of whom were answered before.
  private func push(
    _ count: UInt32, answered: [UInt32] = [], pacing: PacingWindow? = nil,
    at now: Timestamp = Timestamp(milliseconds: 0)
  ) throws -> ActivePush {
    let row = AppRow(
      id: AppID(1), key: AppKey(high: 1, low: 1), name: "", secretHash: [],
      createdAt: Timestamp(milliseconds: 0),
      nextNumber: 0, isDisabled: false)
    let targets = (0..<count).map { RegistrationNumber($0) }
    let stored = StoredPush(
      content: PushContent(variants: []), elsewhere: NumberSet(targets))
    let push = ChannelPush(
      app: App(row, limits: PendingLimits(), at: now), id: MessageID(7), targets: .many(NumberSet(targets)),
      push: stored,
      expires: Timestamp(milliseconds: 1000), pacing: pacing)
    return ActivePush(
      push,
      QueuedPart(targets: push.targets, slot: TokenSlot(.apns, kind: 1), content: QueuedContent(Nothing())),
      results: ["delivered": NumberSet(answered.map { RegistrationNumber($0) })], at: now)
  }

  /// Of a push that is spread over some time, those are claimed whose moment has come, also after a restart.
  @Test func claimsWhoseMomentHasCome() throws {
    let start = Timestamp(milliseconds: 1_790_000_000_000)
    let targets = NumberSet((0..<60).map { RegistrationNumber($0) })
    let pacing = PacingWindow(targets: targets, start: start, minutes: 1)
    var push = try push(60, pacing: pacing, at: start)
    let first = [push.claim(10), push.claim(10)]
    #expect(first == [[RegistrationNumber(0)], []])
    let isDue = push.advancePacing(to: start.adding(seconds: 20))
    #expect(isDue)
    let earlier = push.advancePacing(to: start)
    #expect(!earlier)
    let second = push.claim(100).map(\.rawValue)
    #expect(second == Array(1...20))
    push.claimed.remove(RegistrationNumber(3))
    push.position = RegistrationNumber(0)
    let third = push.claim(100)
    #expect(third == [RegistrationNumber(3)])
    var again = try self.push(60, answered: Array(0...20), pacing: pacing, at: start.adding(seconds: 30))
    let fourth = again.claim(100).map(\.rawValue)
    #expect(fourth == Array(21...30))
    let isLast = again.advancePacing(to: pacing.end)
    let fifth = again.claim(100).map(\.rawValue)
    #expect(isLast && fifth == Array(31...59))
    let isMore = again.advancePacing(to: pacing.end.adding(seconds: 1))
    #expect(!isMore)
  }

  /// Everybody is claimed once, whatever the size of the bites, except those that were answered.
  @Test(arguments: [1, 3, 7, 100, 1000]) func claimsEachOnce(bite: Int) throws {
    var push = try push(500, answered: [0, 4, 499])
    #expect(push.left == 497)
    var claimed: [UInt32] = []
    while true {
      let more = push.claim(bite)
      claimed += more.map(\.rawValue)
      if more.count < bite { break }
    }
    #expect(claimed == (0..<500).filter { ![0, 4, 499].contains($0) })
    #expect(push.claim(bite) == [])
  }

  /// Those who are given back are claimed again, those who wait for their service are not.
  @Test func givenBack() throws {
    var push = try push(10)
    _ = push.claim(10)
    push.claimed.remove(RegistrationNumber(3))
    push.claimed.remove(RegistrationNumber(5))
    push.deferred.insert(RegistrationNumber(5))
    push.position = RegistrationNumber(0)
    #expect(push.claim(10) == [RegistrationNumber(3)])
  }

  /// Each device ends once; the sum of the outcomes is the number of devices, over restarts and at the end of
  /// the time.
  @Test func outcomesAddUp() throws {
    var push = try push(10, answered: [9])
    func counts() -> [String: Int] { push.results.mapValues(\.count) }
    push.finish(RegistrationNumber(0), "delivered")
    push.finish(RegistrationNumber(0), "Unregistered")
    push.finish(RegistrationNumber(77), "delivered")
    push.finish(RegistrationNumber(9), "delivered")
    #expect(push.left == 8 && counts() == ["delivered": 2])
    push.finishAll("Expired")
    #expect(push.left == 0 && counts() == ["delivered": 2, "Expired": 8])
    push.finishAll("Expired")
    #expect(counts().values.reduce(0, +) == 10)
    #expect(
      push.news.mapValues(\.count) == ["delivered": 1, "Expired": 8], "what the earlier run had is saved")
  }
}
