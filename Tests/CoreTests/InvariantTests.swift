import BorealisBase
import PushTesting
import Storage
import Testing

@testable import Core

/// What the delivery state relies on: each test breaks it, and a precondition or an assertion stops the
/// process.
@Suite(.timeLimit(.minutes(1))) struct InvariantTests {
  @Test func `A push that is twice in one list stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var (lists, list) = (PendingLists(), PendingLists.List())
      for _ in 0..<2 { lists.append(MessageID(1), expires: 9, of: RegistrationNumber(1), to: &list) }
    }
    #expect(end?.says("a list has each push once") == true)
  }

  @Test func `A place that is given back to a list without any stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var (lists, list, other) = (PendingLists(), PendingLists.List(), PendingLists.List())
      lists.append(MessageID(1), expires: 9, of: RegistrationNumber(1), to: &list)
      _ = lists.remove(MessageID(1), of: RegistrationNumber(1), from: &other)
    }
    #expect(end?.says("a place of a list is given back twice") == true)
  }

  @Test func `A list that counts other places than its own stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var (lists, list, other) = (PendingLists(), PendingLists.List(), PendingLists.List())
      for id in 1...2 as ClosedRange<UInt64> {
        lists.append(MessageID(id), expires: 9, of: RegistrationNumber(1), to: &list)
      }
      lists.append(MessageID(3), expires: 9, of: RegistrationNumber(2), to: &other)
      _ = lists.remove(MessageID(1), of: RegistrationNumber(1), from: &other)
    }
    #expect(end?.says("a list has as many places as it counts") == true)
  }

  @Test func `A ledger whose sums do not agree stops the process at the next sweep`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let directory = AppDirectory.withOne()
      _ = directory.open(MessageID(1), .few([RegistrationNumber(0)], expires: 100))
      directory.state.withLock { $0.table.records[0].pending = PendingLists.List() }
      _ = directory.expireListed(places: 10, at: 1)
    }
    #expect(end?.says("the ledger's parts agree") == true)
  }

  @Test func `A registration that goes while pushes wait for it stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let directory = AppDirectory.withOne()
      _ = directory.open(MessageID(1), .few([RegistrationNumber(0)], expires: 100))
      directory.state.withLock { $0.table.remove(RegistrationNumber(0), tags: []) }
    }
    #expect(end?.says("nothing waits for a registration that goes") == true)
  }

  @Test func `A registration number that is used twice stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let directory = AppDirectory.withOne()
      directory.state.withLock { $0.table.insert(.zero) }
    }
    #expect(end?.says("a registration number is used twice") == true)
  }

  @Test func `A push to many that is older than the one before stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let directory = AppDirectory.withOne()
      for id in [2, 1] as [UInt64] {
        let push = FanOutPush(
          id: MessageID(id), expires: 100, targets: NumberSet([RegistrationNumber(0)]))
        _ = directory.open(push.id, .many(push))
      }
    }
    #expect(end?.says("message IDs must grow") == true)
  }

  @Test func `Message IDs that are used up stop the process`() async {
    await #expect(processExitsWith: .failure) {
      let ids = MessageIDs(time: ManualClock(), slot: nil)
      ids.raise(to: MessageID(.max))
      _ = ids.next()
    }
  }

  @Test func `Work for the database inside a directory's lock stops the process`() async {
    let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (database, directory) = (try TestDatabase(), AppDirectory.withOne())
      directory.state.withLock { _ in
        database.store.write { _ throws(StorageError) in
        } completion: { _ in
        }
      }
    }
    #expect(end?.says("a lock of rank 2 is needed inside one of rank 2") == true)
  }
}

extension RegistrationEntry {
  fileprivate static var zero: RegistrationEntry {
    RegistrationEntry(
      number: RegistrationNumber(0), id: RegistrationID(high: 1, low: 2), platform: .android,
      secretHash: (3, 4))
  }
}

extension AppDirectory {
  /// An app's directory with one registration.
  fileprivate static func withOne() -> AppDirectory {
    let directory = AppDirectory(app: AppID(1), limits: PendingLimits(perDevice: 3))
    directory.insert(.zero)
    return directory
  }
}

extension ExitTest.Result {
  fileprivate func says(_ message: String) -> Bool {
    String(decoding: standardErrorContent, as: UTF8.self).contains(message)
  }
}
