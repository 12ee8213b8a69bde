import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

/// Facts of devices in the database.
@Suite struct FactTests {
  let folder = TemporaryFolder()
  private static let first = RegistrationNumber(0)

  private static func facts(
    _ store: Store, _ app: AppID, _ number: RegistrationNumber
  ) async throws -> [String] {
    try await store.look { transaction throws(StorageError) in
      let row = try transaction.registrations.deliveryRow(app: app, number: number)
      let values = try transaction.facts.values(app: app)
      return (row?.facts ?? []).compactMap { number in
        values.first { $0.number == number }.map { "\($0.fact.name)=\($0.text)" } ?? "\(number)?"
      }
    }
  }

  private static func report(
    _ facts: [DeviceFact: String], _ store: Store, _ app: AppID, of number: RegistrationNumber = Self.first,
    making room: FactRoom = FactRoom(limit: 100)
  ) async throws -> FactChange? {
    try await store.change { transaction throws(StorageError) in
      try transaction.facts.set(app: app, number: number, facts, making: room)
    }
  }

  private static func want(_ facts: DeviceFactSet, _ store: Store, _ app: AppID) async throws {
    let isKnown = try await store.change { transaction throws(StorageError) in
      try transaction.facts.want(app: app, facts)
    }
    #expect(isKnown)
  }

  @Test func `Only what the app asks for is stored, each value once`() async throws {
    let store = try Store.testing(folder)
    let app = try await store.addApp(registrations: 2)
    #expect(try await Self.report([.model: "a"], store, app) == FactChange())
    try await Self.want([DeviceFactSet(.model), DeviceFactSet(.appVersion)], store, app)
    let change = try await Self.report([.model: "a", .language: "de", .appVersion: "2.1"], store, app)
    #expect(change?.set.map(\.text) == ["a", "2.1"])
    let other = try await Self.report([.model: "a"], store, app, of: RegistrationNumber(1))
    #expect(other?.set.first?.number == change?.set.first?.number)
    #expect(try await Self.facts(store, app, Self.first) == ["model=a", "app_version=2.1"])
    let row = try await store.look { transaction throws(StorageError) in
      try transaction.registrations.find(app: app, number: Self.first)
    }
    #expect(row?.appVersion == "2.1", "the version of the registration is that of the fact")
    #expect(try await Self.report([.model: ""], store, app)?.cleared == [.model])
    #expect(try await Self.facts(store, app, Self.first) == ["app_version=2.1"])
    #expect(try await Self.report([.model: "a"], store, app, of: RegistrationNumber(9)) == nil)
    store.close()
  }

  /// Of a database of a version without facts, and with a table of credentials for APNs alone.
  @Test(.onSQLite) func `A database of before gets facts, and keeps its credentials`() async throws {
    let place = try #require(embeddedMigrations.firstIndex { $0.name == "facts" })
    do {
      let database = try Database(path: folder.database, mode: .create)
      try Migrator.migrate(database, to: Array(embeddedMigrations.prefix(place)), at: .start)
      try database.run(
        """
        INSERT INTO app (id, app_key, name, secret_hash, created_at, next_number, account_id, plan)
        VALUES (1, '000102030405060708090a0b', 'a', zeroblob(32), 1, 2, 1, 'unlimited')
        """)
      for number in 0..<2 as Range<Int64> {
        try database.run(
          """
          INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, app_version,
            created_at, last_seen_at)
          VALUES (1, ?1, CAST(printf('%010d', ?1) AS BLOB), zeroblob(16), 1, x'', '1.0', 1, 1)
          """, .integer(number))
      }
      try database.run(
        """
        INSERT INTO apns_credential (id, app_id, kind, environment, topic, key_id, fingerprint, created_at, changed_at,
          sealed) VALUES (7, 1, 1, 2, 'com.example.app', 'ABC123DEFG', zeroblob(32), 1000, 1000, x'01')
        """)
    }
    let store = try Store.testing(folder)
    let app = AppID(1)
    let row = try await store.look { transaction throws(StorageError) in try transaction.apps.find(app) }
    #expect(row?.facts.isEmpty == true && row?.hasErasedFacts == false)
    let credentials = try await store.look { transaction throws(StorageError) in
      try transaction.credentials.all(app: app)
    }
    #expect(credentials.map(\.id) == [CredentialID(7)])
    #expect(try await Self.facts(store, app, Self.first) == [])
    try await Self.want([DeviceFactSet(.model), DeviceFactSet(.language)], store, app)
    for number in 0..<2 as Range<UInt32> {
      _ = try await Self.report(
        [.model: "a", .language: "l\(number)"], store, app, of: RegistrationNumber(number))
    }
    #expect(try await Self.facts(store, app, Self.first) == ["language=l0", "model=a"])
    #expect(try await Self.facts(store, app, RegistrationNumber(1)) == ["model=a", "language=l1"])
    store.close()
  }

  @Test func `Values that nobody has make room`() async throws {
    let store = try Store.testing(folder)
    let app = try await store.addApp(registrations: 2)
    try await Self.want(DeviceFactSet(.model), store, app)
    let old = try #require(try await Self.report([.model: "a"], store, app)?.set.first)
    var room = FactRoom(limit: 1, known: [.model: 1])
    // Without room, the device has no model.
    #expect(try await Self.report([.model: "b"], store, app, making: room)?.cleared == [.model])
    room.unused = [.model: [old.number]]
    let change = try await Self.report([.model: "b"], store, app, making: room)
    #expect(change?.deleted == [old.number] && change?.set.first?.number == old.number + 1)
    #expect(try await Self.facts(store, app, Self.first) == ["model=b"])
    // What a job before in the same transaction has given to a registration is not deleted.
    let both = try await store.change { transaction throws(StorageError) in
      let first = try transaction.facts.set(
        app: app, number: Self.first, [.model: "b"], making: FactRoom(limit: 1, known: [.model: 1]))
      let number = first?.set.first?.number ?? 0
      let second = try transaction.facts.set(
        app: app, number: RegistrationNumber(1), [.model: "c"],
        making: FactRoom(limit: 1, known: [.model: 1], unused: [.model: [number]]))
      return [first, second]
    }
    #expect(both[1]?.deleted == [] && both[1]?.cleared == [.model])
    store.close()
  }

  @Test func `A fact that is turned off is erased`() async throws {
    let store = try Store.testing(folder)
    let app = try await store.addApp(registrations: 5)
    try await Self.want([DeviceFactSet(.model), DeviceFactSet(.language)], store, app)
    for number in 0..<5 as Range<UInt32> {
      _ = try await Self.report(
        [.model: "m\(number)", .language: "de"], store, app, of: RegistrationNumber(number))
    }
    try await Self.want(DeviceFactSet(.language), store, app)
    let texts = try await store.look { transaction throws(StorageError) in
      try transaction.facts.values(app: app).map(\.text)
    }
    #expect(texts == ["de"], "the values are gone at once")
    #expect(try await Self.facts(store, app, Self.first).count == 2, "its row still has two numbers")
    var steps: [Bool] = []
    while steps.last != true, steps.count < 9 {
      steps.append(
        try await store.change { transaction throws(StorageError) in
          try transaction.facts.erase(app: app, limit: 2)
        })
    }
    #expect(steps == [false, false, true])
    for number in 0..<5 as Range<UInt32> {
      #expect(try await Self.facts(store, app, RegistrationNumber(number)) == ["language=de"])
    }
    let row = try await store.look { transaction throws(StorageError) in try transaction.apps.find(app) }
    #expect(row?.hasErasedFacts == false && row?.facts == DeviceFactSet(.language))
    store.close()
  }
}
