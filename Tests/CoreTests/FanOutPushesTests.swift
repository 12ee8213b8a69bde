import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Open pushes to many: what a question about one device looks at, and that its pages leave nothing out.
@Suite struct FanOutPushesTests {
  private static let devices = 8

  /// A directory with some registrations.
  private static func directory() -> AppDirectory {
    let directory = AppDirectory(app: AppID(1))
    for number in 0..<UInt32(devices) {
      directory.insert(
        RegistrationEntry(
          number: RegistrationNumber(number), id: RegistrationID(high: UInt64(number) + 1, low: 1),
          platform: .android, secretHash: (0, 0)))
    }
    return directory
  }

  private static func open(
    _ ids: ClosedRange<UInt64>, for numbers: [UInt32] = [0, 1], expires: UInt32 = 100,
    in directory: AppDirectory
  ) {
    let targets = NumberSet(numbers.map { RegistrationNumber($0) })
    for id in ids {
      _ = directory.open(
        MessageID(id), .many(FanOutPush(id: MessageID(id), expires: expires, targets: targets)))
    }
  }

  private static func ids(_ ids: some Sequence<UInt64>) -> [MessageID] { ids.map { MessageID($0) } }

  /// The pages for a registration.
  private static func pages(_ number: UInt32, limit: Int = 64, in directory: AppDirectory) -> [[UInt64]] {
    var pages: [[UInt64]] = []
    var sent = MessageID(0)
    while true {
      let page = directory.pending(for: RegistrationNumber(number), after: sent, at: 50, limit: limit)
      guard let last = page.through ?? page.ids.last else { return pages }
      #expect(last > sent && page.ids.allSatisfy { $0 > sent && $0 <= last }, "pages go on")
      pages.append(page.ids.map(\.rawValue))
      sent = last
    }
  }

  /// A device that has all but the newest of many pushes: no page looks at all of them, and the newest comes
  /// in the end. From then on what it has is passed over.
  @Test func pagesAreBoundedAndEndAtTheNewest() {
    let directory = Self.directory()
    Self.open(1...5000, in: directory)
    _ = directory.acknowledge(Self.ids(1...4999), by: RegistrationNumber(0))
    let first = Self.pages(0, in: directory)
    #expect(first.count == 10 && first.last == [5000] && first.dropLast().allSatisfy(\.isEmpty))
    #expect(Self.pages(0, in: directory) == [[5000]])
    // Another device has none of them.
    let others = Self.pages(1, in: directory)
    #expect(others.flatMap { $0 } == Array(1...5000) && others.allSatisfy { $0.count <= 64 })
  }

  /// The oldest waits and all others are acknowledged: it comes first, and pages without a push lead to the
  /// end.
  @Test func oldestOfMany() {
    let directory = Self.directory()
    Self.open(1...5000, in: directory)
    _ = directory.acknowledge(Self.ids(2...5000), by: RegistrationNumber(0))
    #expect(Self.pages(0, in: directory).flatMap { $0 } == [1])
    #expect(directory.acknowledge([MessageID(1)], by: RegistrationNumber(0)).partly == [MessageID(1)])
    #expect(Self.pages(0, in: directory).flatMap { $0 }.isEmpty)
    #expect(Self.pages(7, in: directory).isEmpty, "nothing was for it")
  }

  /// What is listed is merged with what pages look at, each once and in order.
  @Test func listedPushesAreInTheirPages() {
    let directory = Self.directory()
    let listed = [1, 700, 1400, 2100] as [UInt64]
    for id in 1...2100 as ClosedRange<UInt64> {
      if listed.contains(id) {
        _ = directory.open(MessageID(id), .few([RegistrationNumber(0)], expires: 100))
      } else {
        Self.open(id...id, in: directory)
      }
    }
    _ = directory.acknowledge(
      Self.ids((1...2100).filter { !listed.contains($0) && $0 != 1500 }), by: RegistrationNumber(0))
    #expect(Self.pages(0, in: directory).flatMap { $0 } == [1, 700, 1400, 1500, 2100])
    #expect(
      Self.pages(0, limit: 2, in: directory).filter { !$0.isEmpty } == [[1, 700], [1400, 1500], [2100]])
  }

  /// The count at a login looks at some hundred pushes, however many there are.
  @Test func countIsBounded() {
    let directory = Self.directory()
    Self.open(1...300, in: directory)
    #expect(directory.pendingCount(for: RegistrationNumber(0)) == 300)
    Self.open(301...9000, in: directory)
    let count = directory.pendingCount(for: RegistrationNumber(0))
    #expect(count >= DeliveryLedger.looks && count < DeliveryLedger.looks + 64)
    #expect(directory.pendingCount(for: RegistrationNumber(7)) == 0)
    // It says if it did not get to the oldest.
    _ = directory.acknowledge(Self.ids(2...9000), by: RegistrationNumber(1))
    for isComplete in [false, true] {
      let look = directory.lookAtPending(of: RegistrationNumber(1))
      #expect(look.count == (isComplete ? 1 : 0) && look.isComplete == isComplete)
      #expect(Self.pages(1, in: directory).flatMap { $0 } == [1])
    }
    // How many of those that were sent still wait is counted as long as a window is not full of them.
    let sent = MessageID(600)
    #expect(directory.waitingCount(for: RegistrationNumber(0), through: sent, at: 50) == 600)
    #expect(directory.waitingCount(for: RegistrationNumber(0), through: MessageID(9000), at: 50) == nil)
    _ = directory.acknowledge(Self.ids(1...598), by: RegistrationNumber(0))
    #expect(directory.waitingCount(for: RegistrationNumber(0), through: sent, at: 50) == 2)
  }

  /// A device that has everything of a block is passed over there until a push of it waits for the device
  /// again.
  @Test func whoWasHandedOverWaitsAgain() {
    let (directory, number) = (Self.directory(), RegistrationNumber(0))
    Self.open(1...200, in: directory)
    #expect(directory.pin(MessageID(70)))
    _ = directory.handOver(MessageID(70), NumberSet([number]))
    _ = directory.acknowledge(Self.ids((1...200).filter { $0 != 70 }), by: number)
    #expect(Self.pages(0, in: directory).isEmpty && directory.pendingCount(for: number) == 0)
    #expect(directory.pin(MessageID(70)))
    _ = directory.unpin(
      MessageID(70), opening: LateTargets(numbers: [number], expires: 100, isToOne: false, progress: nil))
    #expect(Self.pages(0, in: directory) == [[70]] && directory.pendingCount(for: number) == 1)
    _ = directory.expireListed(places: 10, at: 50)
  }

  /// A push of paced delivery that was not due at the last look comes when it is.
  @Test func whatWasNotDueIsFoundLater() {
    let directory = Self.directory()
    let targets = NumberSet((0..<8).map { RegistrationNumber($0) })
    let start = Timestamp(milliseconds: 1_000_000)
    let window = PacingWindow(targets: targets, start: start, minutes: 8)
    let push = StoredPush(content: PushContent(variants: []))
    let paced = PacedPush(pacing: window, push: push)
    let group = FanOutPush(id: MessageID(1), expires: 9_000, targets: targets, paced: paced)
    _ = directory.open(MessageID(1), .many(group))
    #expect(Self.pages(7, in: directory).isEmpty && directory.pendingCount(for: RegistrationNumber(7)) == 0)
    _ = directory.deliverDuePacedPushes(at: start.adding(seconds: 480), limit: 100)
    #expect(Self.pages(7, in: directory) == [[1]])
  }

  /// Random pushes, acknowledgements, recalls, ends and replaced registrations: the pages of each device are
  /// what a plain list says.
  @Test(arguments: 0..<6) func pagesAreThoseOfAPlainList(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let directory = Self.directory()
    var plain: [UInt64: (targets: Set<UInt32>, expires: UInt32)] = [:]
    var (next, seconds) = (UInt64(1), UInt32(50))
    for _ in 0..<4000 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<6:
        let targets = Set((0..<UInt32(Self.devices)).filter { _ in Bool.random(using: &random) })
        guard !targets.isEmpty else { continue }
        let expires = UInt32.random(in: 50...120, using: &random)
        Self.open(next...next, for: Array(targets), expires: expires, in: directory)
        plain[next] = (targets, expires)
        next += 1
      case 6..<10:
        let number = UInt32.random(in: 0..<UInt32(Self.devices), using: &random)
        let ids = plain.keys.sorted().filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        _ = directory.acknowledge(Self.ids(ids), by: RegistrationNumber(number))
        for id in ids { plain[id]?.targets.remove(number) }
      case 10:
        guard let id = plain.keys.sorted().randomElement(using: &random) else { continue }
        #expect(directory.withdraw(MessageID(id)).waiting == plain[id]?.targets.count)
        plain[id] = nil
      default:
        seconds = min(seconds + 1, 110)
        _ = directory.expireGroups(at: seconds)
        plain = plain.filter { $0.value.expires > seconds && !$0.value.targets.isEmpty }
      }
      let number = UInt32.random(in: 0..<UInt32(Self.devices), using: &random)
      let expected = plain.filter { $0.value.targets.contains(number) }.keys.sorted()
      var (found, sent): ([MessageID], MessageID) = ([], MessageID(0))
      while true {
        let page = directory.pending(for: RegistrationNumber(number), after: sent, at: 0, limit: 64)
        found += page.ids
        guard let last = page.through ?? page.ids.last else { break }
        sent = last
      }
      #expect(found.map(\.rawValue) == expected)
      #expect(directory.pendingCount(for: RegistrationNumber(number)) <= expected.count)
    }
    #expect(directory.state.withLock { $0.ledger.isConsistent(in: $0.table) })
  }
}
