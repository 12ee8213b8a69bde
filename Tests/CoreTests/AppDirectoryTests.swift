import BorealisBase
import Storage
import Testing

@testable import Core

@Suite struct AppDirectoryTests {
  private let directory: AppDirectory

  init() {
    directory = AppDirectory(app: AppID(1), limits: PendingLimits(perDevice: 3))
    for number in 0..<10 as Range<UInt32> {
      directory.insert(
        RegistrationEntry(
          number: RegistrationNumber(number), id: id(number), platform: .android,
          secretHash: (UInt64(number), 7)))
    }
  }

  private func id(_ number: UInt32) -> RegistrationID { RegistrationID(high: UInt64(number) + 1000, low: 5) }

  private func place(_ slot: UInt32) -> Location { Location(loop: 0, slot: slot, generation: 1) }

  private func login(_ number: UInt32, _ place: Location) -> LoginOutcome {
    directory.login(id(number), secretHash: (UInt64(number), 7), at: place, isForeground: true)
  }

  private func pending(_ number: UInt32, after sent: UInt64 = 0, at seconds: UInt32 = 50) -> [UInt64] {
    directory.pending(for: .init(number), after: .init(sent), at: seconds, limit: 100).ids.map(\.rawValue)
  }

  /// The last login wins; a late disconnect of the earlier connection changes nothing.
  @Test func lastLoginWins() {
    guard case .accepted(let number, replaced: nil, replacedSince: _, newest: _) = login(3, place(30)) else {
      Issue.record("first login")
      return
    }
    guard case .accepted(_, replaced: place(30), replacedSince: _, newest: _) = login(3, place(31)) else {
      Issue.record("second login")
      return
    }
    directory.disconnect(number, from: place(30), at: 60)
    #expect(directory.onlineCount == 1)
    let dispatch = directory.open(.init(5), .few([number], expires: 100))
    #expect(dispatch.reachable == [DispatchPlan.Reachable(number: number, location: place(31))])
    directory.disconnect(number, from: place(31), at: 60)
    #expect(directory.onlineCount == 0)
    #expect(directory.open(.init(6), .few([number], expires: 100)).reachable == [])
  }

  /// Wrong secrets and unknown IDs are told apart inside, and neither connects.
  @Test func credentialsAreChecked() {
    for hash in [(3, 8), (4, 7), (0, 0)] as [(UInt64, UInt64)] {
      guard case .wrongSecret = directory.login(id(3), secretHash: hash, at: place(1), isForeground: true)
      else {
        Issue.record("\(hash) was let in")
        continue
      }
    }
    let outsider = RegistrationID(high: 1003, low: 6)
    guard case .unknown = directory.login(outsider, secretHash: (3, 7), at: place(1), isForeground: true)
    else {
      Issue.record("a outsider was let in")
      return
    }
    #expect(directory.onlineCount == 0)
  }

  /// Singles and groups come out merged by ID, without what is dead, acknowledged, withdrawn or already sent.
  @Test func pendingIsOneOrderedList() {
    _ = directory.open(.init(10), .few([.init(1)], expires: 100))
    let group = FanOutPush(id: .init(11), expires: 100, targets: NumberSet([.init(1), .init(2)]))
    _ = directory.open(group.id, .many(group))
    _ = directory.open(.init(12), .few([.init(1)], expires: 40))
    _ = directory.open(.init(13), .few([.init(1)], expires: 100))
    #expect(pending(1) == [10, 11, 13])
    #expect(pending(1, after: 10) == [11, 13])
    #expect(pending(2) == [11])
    #expect(pending(3) == [])
    let strange = directory.acknowledge([.init(11), .init(10), .init(99)], by: .init(3))
    #expect(strange.ended.isEmpty && strange.partly.isEmpty, "nobody acknowledges for another")
    let known = directory.acknowledge([.init(11), .init(99), .init(11)], by: .init(1))
    #expect(known.partly == [.init(11)] && known.ended.isEmpty)
    #expect(directory.progress(.init(11))?.delivered.members() == [.init(1)])
    #expect(pending(1) == [10, 13])
    #expect(pending(2) == [11])
    #expect(directory.withdraw(.init(11)).waiting == 1)
    #expect(directory.withdraw(.init(11)).waiting == 0)
    #expect(pending(2) == [])
    #expect(directory.withdraw(.init(10)).waiting == 1)
    #expect(pending(1) == [13])
    #expect(directory.expireListed(places: 4096, at: 50).ended.map(\.id) == [.init(12)])
  }

  /// Acknowledgements of several devices come to the same as each by itself.
  @Test func batchOfAcknowledgements() {
    let all = NumberSet([.init(1), .init(2), .init(3)])
    for id in [20, 21] as [UInt64] {
      _ = directory.open(.init(id), .many(FanOutPush(id: .init(id), expires: 100, targets: all)))
    }
    _ = directory.open(.init(22), .few([.init(2)], expires: 100))
    var batch = AcknowledgementBatch()
    // No push arrives before it was accepted.
    let accepted = MessageID(20).time.milliseconds
    for (number, ids) in [(1, [20, 21]), (2, [20, 99, 22, 21]), (7, [20]), (99_999, [21]), (3, [21, 21])]
      as [(UInt32, [UInt64])]
    {
      batch.add(by: .init(number), at: nil, newestWhileAway: .init(0))
      let now = Timestamp(milliseconds: accepted + Int64(number))
      for id in ids { batch.add(Arrival(.init(id), acknowledgedAt: now)) }
    }
    #expect(batch.count == 10)
    let taken = directory.acknowledge(batch)
    #expect(taken.counts == [2, 3, 0, 0, 1])
    #expect(taken.change.ended.map(\.id) == [.init(22)])
    #expect(taken.endPlaces == [4])
    // The last is a repeat that the ledger knows of: no news.
    #expect(taken.late.map(\.place) == [3, 6, 7])
    let acknowledgers = taken.acknowledgers(batch)
    #expect(acknowledgers.map(\.id) == [.init(20), .init(21)])
    #expect(
      acknowledgers.map(\.numbers) == [[.init(1), .init(2)], [.init(1), .init(2), .init(3)]])
    #expect(acknowledgers.map { $0.moments.map { $0.milliseconds - accepted } } == [[1, 2], [1, 2, 3]])
    #expect(directory.progress(.init(20))?.delivered.members() == [.init(1), .init(2)])
    #expect(pending(3) == [20])
    batch.removeAll()
    #expect(batch.isEmpty && directory.acknowledge(batch).change.isEmpty)
  }

  /// Over the bound the oldest makes room and is reported, so that it can be settled.
  @Test func fullListDropsItsOldest() {
    for value in 1...3 as ClosedRange<UInt64> {
      #expect(directory.open(.init(value), .few([.init(1)], expires: 100)).change.ended.isEmpty)
    }
    let full = directory.open(.init(4), .few([.init(1)], expires: 100)).change
    #expect(full.ended.map(\.id) == [.init(1)] && full.ended.first?.status == .dropped)
    #expect(pending(1) == [2, 3, 4])
  }

  /// A fan-out push is over when all have it or its time is up.
  @Test func groupsEnd() {
    let targets = NumberSet([.init(1), .init(2)])
    _ = directory.open(.init(1), .many(FanOutPush(id: .init(1), expires: 100, targets: targets)))
    _ = directory.open(.init(2), .many(FanOutPush(id: .init(2), expires: 60, targets: targets)))
    _ = directory.acknowledge([.init(1)], by: .init(1))
    #expect(directory.expireGroups(at: 50).isEmpty)
    _ = directory.acknowledge([.init(1)], by: .init(2))
    #expect(directory.expireGroups(at: 50).map(\.id) == [.init(1)])
    #expect(directory.expireGroups(at: 60).map(\.id) == [.init(2)])
  }

  /// Removing a registration closes its connection and releases what waited, and numbers it never had are
  /// harmless.
  @Test func replacedRegistrationIsGone() {
    _ = login(1, place(9))
    _ = directory.open(.init(4), .few([.init(1)], expires: 100))
    let removed = directory.remove(.init(1), tags: [])
    #expect(removed.location == place(9) && removed.released.ended.map(\.id) == [.init(4)])
    #expect(directory.onlineCount == 0 && directory.registrationCount == 9)
    #expect(pending(1) == [] && directory.find(id(1)) == nil)
    let orphan = directory.open(.init(5), .few([.init(1)], expires: 100))
    #expect(orphan.change.ended.map(\.status) == [.replaced] && orphan.reachable == [])
    #expect(directory.remove(.init(1), tags: []).location == nil)
    #expect(directory.acknowledge([.init(4)], by: .init(77_777)).ended.isEmpty)
  }
}
