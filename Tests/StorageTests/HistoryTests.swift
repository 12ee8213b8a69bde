import BorealisBase
import PushTesting
import Testing

@testable import Storage

@Suite struct HistoryTests {
  private let folder = TemporaryFolder()

  private static let senders: [PushSender] = [.api, .schedule(3), .group(4), .person(PersonID(1))]

  /// A push whose traits, sender and end follow from its number.
  private static func add(
    _ number: UInt64, of app: AppID, _ transaction: WriteTransaction
  ) throws(StorageError) {
    let traits: PushTraits = [
      number % 2 == 0 ? .notification : .message, number % 3 == 0 ? .everybody : .tags,
    ]
    let sender = number % 5 == 0 ? senders[Int(number / 5 % 4)] : .api
    try transaction.pushes.insert(
      .single(number, app: app, target: 0, content: [UInt8(number % 7)]),
      from: PushSource(sender: sender, traits: number % 11 == 0 ? traits.union(.batch) : traits, object: [1]))
    let status = [OutcomeStatus.open, .delivered, .expired, .recalled][Int(number % 4)]
    guard status != .open else { return }
    try transaction.deliveries.settle([Settlement(id: MessageID(number), status: status, at: .start)])
  }

  /// All pages of a list, one after the other; `meanwhile` runs between them.
  private func walk(
    _ store: Store, _ app: AppID, _ filter: PushFilter = PushFilter(), limit: Int, looks: Int,
    matches: (@Sendable (PushSummary) -> Bool)? = nil, meanwhile: (Int) async throws -> Void = { _ in }
  ) async throws -> [UInt64] {
    var (seen, filter, page): ([UInt64], PushFilter, Int) = ([], filter, 0)
    while true {
      let asked = filter
      let history = try await store.look { transaction throws(StorageError) in
        try transaction.pushes.history(of: app, asked, limit: limit, looks: looks, matches: matches)
      }
      #expect(history.pushes.count <= limit)
      seen += history.pushes.map(\.id.rawValue)
      guard let next = history.next else { return seen }
      #expect(next < asked.before)
      filter.before = next
      try await meanwhile(page)
      page += 1
    }
  }

  @Test(arguments: [(1, 100), (7, 100), (50, 3), (3, 7), (200, 200)])
  func `No push is twice on the pages or missing while others come`(limit: Int, looks: Int) async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    try await store.change { transaction throws(StorageError) in
      for number in 1...120 as ClosedRange<UInt64> {
        try Self.add(number, of: number % 4 == 1 ? other : app, transaction)
      }
    }
    let seen = try await walk(
      store, app, limit: limit, looks: looks,
      meanwhile: { page in
        try await store.change { transaction throws(StorageError) in
          try Self.add(1000 + UInt64(page), of: app, transaction)
        }
      })
    #expect(seen == (1...120).filter { $0 % 4 != 1 }.reversed())
  }

  @Test func `Each filter lets through what it names, page by page`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let numbers: ClosedRange<UInt64> = 1...200
    try await store.change { transaction throws(StorageError) in
      for number in numbers { try Self.add(number, of: app, transaction) }
    }
    func filter(_ change: (inout PushFilter) -> Void) -> PushFilter {
      var filter = PushFilter()
      change(&filter)
      return filter
    }
    let cases: [(PushFilter, (UInt64) -> Bool)] = [
      (filter { $0.states = [.open] }, { $0 % 4 == 0 }),
      (filter { $0.states = [.expired, .recalled] }, { $0 % 4 > 1 }),
      (filter { $0.kinds = .message }, { $0 % 2 == 1 }),
      (filter { $0.audiences = [.everybody, .file] }, { $0 % 3 == 0 }),
      (filter { ($0.kinds, $0.audiences) = (.notification, .tags) }, { $0 % 2 == 0 && $0 % 3 != 0 }),
      (filter { $0.isBatch = true }, { $0 % 11 == 0 }),
      (
        filter { ($0.sender, $0.isBatch) = (.api, false) },
        { ($0 % 5 != 0 || $0 / 5 % 4 == 0) && $0 % 11 != 0 }
      ),
      (filter { $0.sender = .person }, { $0 % 5 == 0 && $0 / 5 % 4 == 3 }),
      (filter { ($0.sender, $0.states) = (.schedule, [.delivered]) }, { $0 % 20 == 5 && $0 % 4 == 1 }),
      (filter { ($0.from, $0.before) = (MessageID(50), MessageID(60)) }, { (50..<60).contains($0) }),
    ]
    for (index, (filter, isMeant)) in cases.enumerated() {
      let wanted = numbers.filter(isMeant).reversed() as [UInt64]
      for (limit, looks) in [(1000, 1000), (4, 1000), (4, 9), (1, 1)] {
        let seen = try await walk(store, app, filter, limit: limit, looks: looks)
        #expect(seen == wanted, "case \(index), \(limit) of \(looks)")
      }
    }
    let chosen = try await walk(store, app, limit: 5, looks: 10, matches: { $0.content == [3] })
    #expect(chosen == numbers.filter { $0 % 7 == 3 }.reversed())
  }

  @Test func `However rare what is looked for, so many are looked at and no more`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      for number in 1...100 as ClosedRange<UInt64> { try Self.add(number, of: app, transaction) }
    }
    let history = try await store.look { transaction throws(StorageError) in
      try transaction.pushes.history(of: app, limit: 10, looks: 20) { _ in false }
    }
    #expect(history.pushes.isEmpty && history.next == MessageID(81))
  }

  @Test func `A push knows where it comes from until it is swept`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let source = PushSource(
      sender: .person(PersonID(1)), traits: [.message, .file], object: Array("{}".utf8))
    try await store.change { transaction throws(StorageError) in
      _ = try transaction.people.add(
        NewPerson(email: "a@b.cd", name: "Ada", password: "", language: "en", isOperator: false), at: .start)
      try transaction.pushes.insert(.single(5, app: app, target: 0), from: source)
      try transaction.pushes.insert(.single(6, app: app, target: 0))
      try transaction.deliveries.settle([Settlement(id: MessageID(5), status: .delivered, at: .start)])
    }
    let (found, plain, list) = try await store.look { transaction throws(StorageError) in
      (
        try transaction.pushes.source(of: MessageID(5)), try transaction.pushes.source(of: MessageID(6)),
        try transaction.pushes.history(of: app, limit: 9, looks: 9).pushes
      )
    }
    #expect(found?.source == source && found?.name == "Ada")
    #expect(plain?.source == PushSource() && plain?.name == nil)
    #expect(list.map(\.senderName) == [nil, "Ada"] && list.map(\.sender) == [.api, .person(PersonID(1))])
    let left = try await store.change { transaction throws(StorageError) in
      _ = try transaction.pushes.sweep(
        after: MessageID(0), below: MessageID(100), limit: 10, in: .all)
      return try transaction.reading.database.first("SELECT count(*) FROM push_sender") { $0.integer() }
    }
    #expect(left == 0)
  }
}
