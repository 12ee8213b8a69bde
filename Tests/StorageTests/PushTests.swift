import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

@Suite struct PushTests {
  let folder = TemporaryFolder()

  private func pending(_ transaction: WriteTransaction, _ push: PushRow) throws(StorageError) {
    try transaction.pushes.insert(push)
    try transaction.deliveries.insertPending(
      id: push.id, app: push.app, target: push.target, expiresAt: push.expiresAt)
  }

  /// Open pushes come back by ID after a restart, singles without content, groups with what was acknowledged.
  @Test func openPushes() async throws {
    var store = try Store.testing(folder)
    let app = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      try pending(transaction, .group(20, app: app, targets: [1, 2]))
      try pending(transaction, .single(10, app: app, target: 4))
      try pending(transaction, .single(30, app: app, target: .max))
      try pending(transaction, .group(40, app: app, targets: []))
      try transaction.appGroups.insertPush(
        AppGroupPushRow(id: MessageID(41), sendno: 0, createdAt: .start, members: []), group: 1, cid: nil)
      try transaction.deliveries.saveDelivered(id: MessageID(20), targets: [1])
      try transaction.deliveries.saveDelivered(id: MessageID(20), targets: [2])
      try transaction.deliveries.settle([Settlement(id: MessageID(10), status: .delivered, at: .start)])
      // After its end, a late save must not leave an orphan.
      try transaction.deliveries.saveDelivered(id: MessageID(10), targets: [2])
    }
    store.close()
    store = try Store.testing(folder)
    defer { store.close() }
    let open = try await store.look { transaction throws(StorageError) in
      var open: [OpenPush] = []
      try transaction.deliveries.open(in: .all) { open.append($0) }
      return open
    }
    #expect(
      open == [
        OpenPush(push: .group(20, app: app, targets: [1, 2]), delivered: [2]),
        OpenPush(push: .single(30, app: app, target: .max, content: []), delivered: nil),
        OpenPush(push: .group(40, app: app, targets: []), delivered: nil),
      ])
    let rest = try await store.look { transaction throws(StorageError) in
      (
        try transaction.pushes.find(id: MessageID(10)), try transaction.pushes.lastID(),
        try transaction.pushes.contents(of: [MessageID(30), MessageID(31), MessageID(20)])
      )
    }
    #expect(rest.0 == .single(10, app: app, target: 4))
    #expect(rest.1 == MessageID(41), "a group's push has its number from the same row")
    #expect(rest.2.map { $0?.content } == [[1, 2], nil, [9]])
    #expect(
      try Store.check(folder.store())
        == Store.CheckReport(
          schemaVersion: folder.store().migrations.count, comparesTables: true, problems: []))
  }

  /// The first end of a push stands; receipts may come before or after it, and the first of each kind stands.
  @Test func outcomes() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let device = RegistrationNumber(4)
    @Sendable func at(_ seconds: Int64) -> Timestamp { .start.adding(seconds: seconds) }
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(1, app: app, target: 4))
      try transaction.pushes.insert(.group(2, app: app, targets: [1, 2]))
      for (status, seconds) in [(OutcomeStatus.delivered, 1), (.expired, 2)] as [(OutcomeStatus, Int64)] {
        try transaction.deliveries.settle([Settlement(id: MessageID(1), status: status, at: at(seconds))])
        let isNew = try transaction.deliveries.markReceipt(
          id: MessageID(1), app: app, by: device, .shown, at: at(seconds + 2))
        #expect(isNew == (seconds == 1))
      }
    }
    try await store.change { transaction throws(StorageError) in
      // Another device than the only target, an unknown push, and another app's push.
      let outsiders: [(UInt64, AppID, UInt32)] = [
        (1, app, 5), (3, app, 4), (2, app, 1), (1, AppID(app.rawValue + 1), 4),
      ]
      for (id, itsApp, number) in outsiders {
        for kind in [PushReceipt.shown, .tapped] {
          let isNew = try transaction.deliveries.markReceipt(
            id: MessageID(id), app: itsApp, by: RegistrationNumber(number), kind, at: at(20))
          #expect(!isNew)
        }
      }
    }
    func outcomes() async throws -> [OutcomeRow?] {
      try await store.look { transaction throws(StorageError) in
        var all: [OutcomeRow?] = []
        for id in 1...3 as ClosedRange<UInt64> {
          all.append(try transaction.deliveries.outcome(of: MessageID(id)))
        }
        return all
      }
    }
    #expect(
      try await outcomes() == [
        OutcomeRow(status: .delivered, at: at(1), shownAt: at(3), tappedAt: nil),
        nil, nil,
      ])
    try await store.change { transaction throws(StorageError) in
      let recall = Settlement(id: MessageID(2), status: .recalled, at: at(9))
      #expect(try transaction.deliveries.settle([recall]).over.isEmpty)
      #expect(try transaction.deliveries.settle([recall]).over == [MessageID(2)], "the first stands")
      let late = Settlement(id: MessageID(2), status: .delivered, at: at(10))
      #expect(try transaction.deliveries.settle([late]).over.isEmpty, "but not against the devices' own word")
    }
    #expect(
      try await outcomes()[1] == OutcomeRow(status: .delivered, at: at(10), shownAt: nil, tappedAt: nil))
  }

  /// A request name belongs to one app and one push; only old ones are swept.
  @Test func requestNames() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let other = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      for (number, app) in [(1, app), (2, other)] as [(UInt64, AppID)] {
        #expect(try transaction.pushes.lookupCID(app: app, cid: "x") == nil)
        try transaction.pushes.insertCID(app: app, cid: "x", id: MessageID(number), sendno: 7, at: .start)
      }
      #expect(
        try transaction.pushes.lookupCID(app: other, cid: "x")
          == CIDRow(id: MessageID(2), sendno: 7, targetCount: 0)
      )
      try transaction.pushes.insertCID(
        app: app, cid: "y", id: MessageID(3), sendno: 8, at: .start.adding(seconds: 5))
    }
    await #expect(throws: StorageError.self) {
      try await store.change(single: true) { transaction throws(StorageError) in
        try transaction.pushes.insertCID(app: app, cid: "x", id: MessageID(4), sendno: 9, at: .start)
      }
    }
    let swept = try await store.change { transaction throws(StorageError) in
      var swept: [Int] = []
      for _ in 0..<4 {
        swept.append(try transaction.pushes.sweepCIDs(before: .start.adding(seconds: 5), limit: 1, in: .all))
      }
      #expect(try transaction.pushes.lookupCID(app: app, cid: "y") != nil)
      return swept
    }
    #expect(swept == [1, 1, 0, 0])
  }

  /// Sweeping goes in small steps, oldest first, and spares what is pending or new enough. A step looks at no
  /// more pushes than its limit, whatever of them is pending; what is left of pushes that are gone goes too.
  @Test func sweep() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let (swept, outcomes) = try await store.change { transaction throws(StorageError) in
      for id in 1...7 as ClosedRange<UInt64> { try pending(transaction, .single(id, app: app, target: 0)) }
      for id in [1, 5, 7] as [UInt64] {
        try transaction.deliveries.settle([Settlement(id: MessageID(id), status: .expired, at: .start)])
      }
      try transaction.deliveries.settle([Settlement(id: MessageID(100), status: .expired, at: .start)])
      var swept: [[UInt64?]] = []
      var position: MessageID? = MessageID(0)
      while let first = position {
        let step = try transaction.pushes.sweep(after: first, below: MessageID(6), limit: 2, in: .all)
        swept.append([UInt64(step.deleted), step.next?.rawValue])
        position = step.next
      }
      _ = try transaction.pushes.sweep(after: MessageID(7), below: MessageID(200), limit: 2, in: .all)
      let ids = [1, 5, 7, 100].map { MessageID($0) }
      var outcomes: [Bool] = []
      for id in ids { outcomes.append(try transaction.deliveries.outcome(of: id) != nil) }
      return (swept, outcomes)
    }
    #expect(swept == [[1, 2], [0, 4], [1, nil]])
    #expect(outcomes == [false, false, true, false])
    let left = try await store.look { transaction throws(StorageError) in
      try transaction.pushes.contents(of: (1...7).map { MessageID($0) })
    }
    #expect(left.map { $0 != nil } == [false, true, true, true, false, true, true])
  }

  /// An app's secret can be replaced and the app be disabled; keys are unique.
  @Test func apps() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let apps = try await store.change { transaction throws(StorageError) in
      #expect(try transaction.apps.setSecret(app: app, hash: Array(repeating: 9, count: 32)))
      #expect(try transaction.apps.setDisabled(app: app, true))
      #expect(try !transaction.apps.setDisabled(app: AppID(77), true))
      return try transaction.apps.all(in: .all)
    }
    #expect(apps.map(\.isDisabled) == [true] && apps.first?.secretHash == Array(repeating: 9, count: 32))
    let key = try #require(apps.first?.key)
    for hash in [[UInt8](repeating: 0, count: 31), [UInt8](repeating: 0, count: 32)] {
      await #expect(throws: StorageError.self) {
        try await store.change { transaction throws(StorageError) in
          try transaction.apps.create(
            key: hash.count == 32 ? key : AppKey(high: 0, low: 0), name: "", secretHash: hash, at: .start)
        }
      }
    }
  }
}
