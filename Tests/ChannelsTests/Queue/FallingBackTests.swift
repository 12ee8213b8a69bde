import BorealisBase
import Core
import Model
import Storage
import Testing

@testable import Channels

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

  /// The call of a push is under way, or has been taken, when its notification is taken over.
  @Test(arguments: [false, true]) func `A leg is taken over while another is under way`(isTaken: Bool) {
    var state = QueueState(channel: .apns)
    let call = QueuedPush(7, to: 2, leg: 2)
    state.add(call)
    let (other, main) = (
      LegKey(push: MessageID(7), leg: 2), LegKey(push: MessageID(7), leg: DeliveryLeg.main)
    )
    if isTaken { state.finish(other, RegistrationNumber(0), ChannelEnd.delivered) }
    let isDone = state.takeOver(QueuedPush(7, to: 1))
    #expect(isDone && state.open[main]?.awaits(RegistrationNumber(0)) == true)
    #expect(state.few.count == 2)
    state.finish(main, RegistrationNumber(0), ChannelEnd.delivered)
    #expect(state.finished.isEmpty && state.open.count == 2, "the call is under way")
    for number in [0, 1] as [UInt32] { state.finish(other, RegistrationNumber(number), ChannelEnd.delivered) }
    #expect(state.open.isEmpty && state.finished.count == 1)
    #expect(state.finished.first?.results.keys.count == 2)
  }

  /// Its end waits for the writer, and then is in the writer's hands.
  @Test func `A recall knows what has become of a push that has just ended`() {
    var state = QueueState(channel: .apns)
    state.add(QueuedPush(7, to: 1))
    let leg = LegKey(push: MessageID(7), leg: DeliveryLeg.main)
    state.finish(leg, RegistrationNumber(0), ChannelEnd.delivered)
    for isBeingSaved in [false, true] {
      #expect(state.open.isEmpty && state.saving.isEmpty == !isBeingSaved)
      let hold = state.hold(MessageID(7), by: PushHolder(), until: 60)
      #expect(hold.answered[DeliveryLeg(.apns)]?.members() == [RegistrationNumber(0)])
      _ = state.nextSteps()
    }
  }

  /// The row that a reader has was stored before.
  @Test func `A push whose end is stored while it is read for others is read again`() {
    var state = QueueState(channel: .apns)
    (state.knowsCredentials, state.isSpilled) = (true, false)
    state.add(QueuedPush(7, to: 1))
    state.takenOver.append(MessageID(7))
    #expect(state.nextSteps().contains { if case .takeOver = $0 { true } else { false } })
    let leg = LegKey(push: MessageID(7), leg: DeliveryLeg.main)
    state.finish(leg, RegistrationNumber(0), ChannelEnd.delivered)
    _ = state.nextSteps()
    state.endSaving(state.saving, isStored: true)
    let isDone = state.takeOver(QueuedPush(7, to: 2))
    #expect(!isDone && state.open.isEmpty)
    state.isTakingOver = false
    state.endReading()
    let isDoneAgain = state.takeOver(QueuedPush(7, to: 2))
    #expect(isDoneAgain && !state.open.isEmpty)
  }

  private final class Idle: ServiceTarget {
    func accepts(_ slot: TokenSlot) -> Bool { true }
    func wake() {}
    func recall(_ tags: [UInt64]) {}
  }

  private func brought(of id: UInt64, _ state: QueueState) -> [RegistrationNumber] {
    (state.failed[MessageID(id)] ?? []).sorted()
  }

  /// A service answers about each device in a request of its own, while others are being stored.
  @Test func `Devices that a service rejects one by one are stored together`() {
    var failed = FailedDeliveries()
    let (id, numbers) = (MessageID(7), (0..<600).map { RegistrationNumber($0) })
    var jobs: [[RegistrationNumber]] = []
    for number in numbers {
      failed.add([number], of: id)
      if let taken = failed.beginStoring()[id] { jobs.append(taken) }
    }
    #expect(jobs == [[numbers[0]]])
    // Not while the others are being stored, and not before the next second.
    failed.tick()
    #expect(failed.beginStoring().isEmpty)
    failed.settled(id, jobs[0], isStored: true)
    #expect(failed.beginStoring().isEmpty && !failed.mayEnd(id))
    failed.add([RegistrationNumber(0)], of: MessageID(8))
    #expect(failed.beginStoring() == [MessageID(8): [RegistrationNumber(0)]], "other pushes do not wait")
    failed.tick()
    #expect(failed.beginStoring()[id] == Array(numbers[1...]))
    failed.settled(id, Array(numbers[1...]), isStored: false)
    #expect(failed[id]?.count == 599 && !failed.mayEnd(id))
    failed.releaseAll()
    #expect(failed.beginStoring()[id]?.count == 599)
    failed.settled(id, Array(numbers[1...]), isStored: true)
    #expect(failed.isEmpty && failed.mayEnd(id))
  }

  /// Few, and many.
  @Test(arguments: [3, 80] as [UInt32])
  func `Who is connected gets what waits for another credential`(count: UInt32) {
    var state = QueueState(channel: .apns)
    let reachable = NumberSet([RegistrationNumber(0), RegistrationNumber(2), RegistrationNumber(99)])
    state.set(Idle(), isStopped: false, for: .only, at: 0)
    state.add(QueuedPush(7, to: count, fallsBack: true))
    state.add(QueuedPush(8, to: count))
    state.add(QueuedPush(9, to: count, fallsBack: true))
    state.bringInstead(to: reachable)
    #expect(state.failed.isEmpty, "it is not removed")
    state.set(nil, isStopped: false, for: .only, at: 0)
    _ = state.hold(MessageID(9), by: PushHolder(), until: 60)
    for _ in 0..<2 { state.bringInstead(to: reachable) }
    #expect(brought(of: 7, state) == [RegistrationNumber(0), RegistrationNumber(2)])
    #expect(brought(of: 8, state).isEmpty && brought(of: 9, state).isEmpty)
    #expect(state.open[LegKey(push: MessageID(7), leg: DeliveryLeg.main)]?.left == Int(count) - 2)
  }

  /// Tokens of the others may be of the service that is in use.
  @Test func `With another service in use, who is known to wait gets it`() {
    var state = QueueState(channel: .apns)
    state.set(Idle(), isStopped: false, for: .only, at: 0)
    state.set(Idle(), isStopped: false, for: ServiceID(rawValue: 2), at: 0)
    state.add(QueuedPush(7, to: 3, fallsBack: true))
    state.set(nil, isStopped: false, for: .only, at: 0)
    let all = NumberSet([0, 1, 2].map { RegistrationNumber($0) })
    state.bringInstead(to: all)
    #expect(state.failed.isEmpty)
    state.open[LegKey(push: MessageID(7), leg: DeliveryLeg.main)]?.deferred.insert(RegistrationNumber(1))
    state.bringInstead(to: all)
    #expect(brought(of: 7, state) == [RegistrationNumber(1)])
  }

  private static func page(_ left: inout LeftPushes, above id: UInt64 = 0) -> MessageID? {
    left.next(above: MessageID(id))?.after
  }

  @Test func `A pass goes on after the ends of what it has found are stored`() {
    var left = LeftPushes()
    left.came(RegistrationNumber(1))
    #expect(Self.page(&left) == nil, "it begins with a second")
    left.tick(before: QueuedPush.start)
    #expect(Self.page(&left, above: 5) == MessageID(5))
    #expect(!left.isSettled && Self.page(&left) == nil, "one page at a time")
    left.end(MessageID(8))
    left.turn(.success(LeftPushes.Found(next: MessageID(9))))
    #expect(!left.isSettled && Self.page(&left) == nil)
    left.stored([ChannelAnswers(id: MessageID(8), channel: .apns, results: [:], news: [:], isFinal: true)])
    #expect(left.isSettled && Self.page(&left) == MessageID(9))
    // It is looked through again, but not at once.
    left.turn(.failure(StorageError(.overloaded, "")))
    #expect(left.isSettled && Self.page(&left) == nil)
    left.tick(before: QueuedPush.start)
    #expect(Self.page(&left) == MessageID(9))
    // Who comes meanwhile has the next pass.
    left.came(RegistrationNumber(2))
    left.turn(.success(LeftPushes.Found()))
    #expect(Self.page(&left) == nil && !left.isIdle)
    left.tick(before: QueuedPush.start)
    let page = left.next(above: MessageID(0))
    #expect(page?.after == MessageID(0) && page?.devices.members() == [RegistrationNumber(2)])
    left.turn(.success(LeftPushes.Found(next: MessageID(9))))
    left.came(RegistrationNumber(3))
    #expect(left.end().members() == [RegistrationNumber(2), RegistrationNumber(3)])
    #expect(left.isIdle && left.end().isEmpty)
  }

  @Test func `A pass leaves most of each second to others`() {
    var left = LeftPushes()
    left.came(RegistrationNumber(1))
    for _ in 0..<2 {
      left.tick(before: QueuedPush.start)
      var pages = 0
      while Self.page(&left) != nil {
        pages += 1
        left.turn(.success(LeftPushes.Found(next: MessageID(UInt64(pages)))))
      }
      #expect(pages == 16)
    }
  }

  @Test(arguments: [false, true]) func `What is being recalled is not handed over`(isHeld: Bool) {
    var state = QueueState(channel: .apns)
    let end = ChannelAnswers(id: MessageID(7), channel: .apns, results: [:], news: [:], isFinal: true)
    let holder = PushHolder()
    if isHeld {
      _ = state.hold(MessageID(7), by: holder, until: 60)
    } else {
      state.withdrawn = [MessageID(7)]
    }
    state.handOver(end, to: RegistrationNumber(1))
    #expect(state.failed.isEmpty && state.finished.isEmpty && state.left.isSettled)
    if isHeld { state.held.resume(MessageID(7), by: holder) } else { state.endReading() }
    state.handOver(end, to: RegistrationNumber(1))
    #expect(state.failed[MessageID(7)] == [RegistrationNumber(1)] && state.finished.count == 1)
    #expect(!state.left.isSettled)
  }
}
