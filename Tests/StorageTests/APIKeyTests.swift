import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

/// API keys and the log of requests in the database.
@Suite struct APIKeyTests {
  let folder = TemporaryFolder()

  private static func new(_ name: String, _ byte: UInt8, networks: [String]? = nil) -> NewAPIKey {
    let grant = APIKeyGrant(
      name: name, rights: [APIRights(.push), APIRights(.reports)],
      networks: networks?.compactMap { IPNetwork($0) }, expiresAt: .start.adding(seconds: 1000))
    return NewAPIKey(grant, secretHash: Array(repeating: byte, count: 32), secret: "brlk4567")
  }

  @Test func `Keys come with their app until they are revoked`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    let ids = try await store.change { t throws(StorageError) in
      [
        try t.apiKeys.add(Self.new("a", 1, networks: ["10.0.0.0/8", "::1"]), to: app, limit: 2, at: .start),
        try t.apiKeys.add(Self.new("b", 2), to: app, limit: 2, at: .start),
        try t.apiKeys.add(Self.new("c", 3), to: app, limit: 2, at: .start),
        try t.apiKeys.add(Self.new("d", 4), to: other, limit: 2, at: .start),
      ].map { $0 ?? 0 }
    }
    #expect(ids[0] > 0 && ids[1] > ids[0] && ids[2] == 0 && ids[3] > ids[1])
    let key = try await store.look { t throws(StorageError) in try t.apps.find(app) }?.key
    func rows() async throws -> [[APIKeyRow]] {
      try await store.look { t throws(StorageError) in
        [
          try t.apps.find(app)?.keys ?? [], try t.apps.find(key: key ?? .random())?.keys ?? [],
          try t.apps.all(in: .all).first { $0.id == app }?.keys ?? [],
          try t.apps.all(of: .standard).first { $0.id == app }?.keys ?? [],
        ]
      }
    }
    var found = try await rows()
    #expect(Set(found.map { $0.map(\.id) }) == [[ids[0], ids[1]]])
    let first = found[0][0]
    #expect(first.grant == Self.new("a", 1, networks: ["10.0.0.0/8", "::1"]).grant)
    #expect(first.secretHash == Array(repeating: 1, count: 32) && first.secretEnd == "4567")
    #expect(first.lastUsedAt == nil && first.revokedAt == nil && first.createdAt == .start)
    let names = try await store.change { t throws(StorageError) in
      try t.apiKeys.noteUse(of: ids[0], app: app, at: .start.adding(seconds: 9))
      try t.apiKeys.noteUse(of: ids[0], app: app, at: .start.adding(seconds: 5))
      try t.apiKeys.noteUse(of: ids[0], app: other, at: .start.adding(seconds: 99))
      return [
        try t.apiKeys.revoke(ids[1], of: other, at: .start),
        try t.apiKeys.revoke(ids[1], of: app, at: .start.adding(seconds: 50)),
        try t.apiKeys.revoke(ids[1], of: app, at: .start.adding(seconds: 60)),
      ]
    }
    #expect(names == [nil, "b", nil])
    found = try await rows()
    #expect(Set(found.map { $0.map(\.id) }) == [[ids[0]]])
    #expect(found[0][0].lastUsedAt == .start.adding(seconds: 9))
    let all = try await store.change { t throws(StorageError) in
      try t.apiKeys.sweep(app: app, before: .start.adding(seconds: 50))
      let before = try t.apiKeys.all(app: app).map(\.id)
      try t.apiKeys.sweep(app: app, before: .start.adding(seconds: 51))
      return [before, try t.apiKeys.all(app: app).map(\.id), try t.apiKeys.all(app: other).map(\.id)]
    }
    #expect(all == [[ids[0], ids[1]], [ids[0]], [ids[3]]])
  }

  // MARK: The log of requests

  private static func row(
    _ kind: APIRequestKind, _ seconds: Int64, status: Int = 200, code: Int = 0, address: String = "192.0.2.1",
    key: Int64? = nil
  ) -> APIRequestRow {
    let call = APICall(
      kind: kind, method: "POST", route: "/v3/push", status: status, code: code, message: "m",
      address: IPAddress(address), key: key)
    let at = Timestamp.start.adding(seconds: seconds)
    return APIRequestRow(call, firstAt: at, lastAt: at.adding(seconds: 1), count: 3)
  }

  private static func add(
    _ rows: [APIRequestRow], to app: AppID, in store: Store, most: Int = 100, before: Int64 = -1
  ) async throws {
    try await store.change { t throws(StorageError) in
      try t.apiRequests.add(rows, to: app, most: { _ in most }, before: .start.adding(seconds: before))
    }
  }

  private static func list(
    _ app: AppID, in store: Store, _ filter: APIRequestFilter = APIRequestFilter(),
    before place: APIRequestPlace = .newest, limit: Int = 100
  ) async throws -> APIRequestList {
    try await store.look { t throws(StorageError) in
      try t.apiRequests.list(app: app, filter, before: place, limit: limit)
    }
  }

  @Test func `Requests are found by result, code, address and key`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    let rows = [
      Self.row(.successful, 1), Self.row(.successful, 2, address: "2001:db8::1", key: 7),
      Self.row(.refused, 3, status: 400, code: 1003), Self.row(.refused, 4, status: 503, code: 1030, key: 7),
      Self.row(.unauthenticated, 5, status: 401, code: 1004, address: "198.51.100.9"),
    ]
    try await Self.add(rows, to: app, in: store)
    try await Self.add([Self.row(.refused, 6, status: 400, code: 1003)], to: other, in: store)
    #expect(try await Self.list(app, in: store) == APIRequestList(rows: rows.reversed(), next: nil))
    func found(_ change: (inout APIRequestFilter) -> Void) async throws -> [Int64] {
      var filter = APIRequestFilter()
      change(&filter)
      return try await Self.list(app, in: store, filter).rows.map {
        $0.firstAt.seconds - Timestamp.start.seconds
      }
    }
    #expect(try await found { $0.kinds = [.successful] } == [2, 1])
    #expect(try await found { $0.kinds = [.refused, .unauthenticated] } == [5, 4, 3])
    #expect(try await found { $0.statuses = 400...499 } == [5, 3])
    #expect(try await found { $0.statuses = 500...999 } == [4])
    #expect(try await found { $0.code = 1003 } == [3])
    #expect(try await found { $0.code = .max } == [])
    #expect(try await found { $0.address = "192.0.2.1" } == [4, 3, 1])
    #expect(try await found { $0.address = "198.51.100." } == [5])
    #expect(try await found { $0.address = "2001:db8" } == [2])
    #expect(try await found { $0.address = "92.0.2.1" } == [])
    #expect(try await found { $0.key = 7 } == [4, 2])
    #expect(try await found { $0.key = 0 } == [5, 3, 1])
  }

  @Test(arguments: [1, 2, 3, 7]) func `Pages go over all kinds in the order of time`(limit: Int) async throws
  {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    let kinds = APIRequestKind.allCases
    let rows = (0..<20).map { Self.row(kinds[$0 * 7 % 5 % 3], Int64($0), code: $0) }
    for part in stride(from: 0, to: 20, by: 6) {
      try await Self.add(Array(rows[part..<min(part + 6, 20)]), to: app, in: store)
    }
    var (place, seen): (APIRequestPlace?, [Int]) = (.newest, [])
    while let here = place {
      let list = try await Self.list(app, in: store, before: here, limit: limit)
      #expect(list.rows.count == limit || list.next == nil)
      seen += list.rows.map(\.call.code)
      if let next = list.next { #expect(APIRequestPlace(next.text) == next) }
      place = list.next
    }
    #expect(seen == (0..<20).reversed())
    for text in ["", "1.2", "1.2.3.4", "1.-2.3", "a.b.c"] { #expect(APIRequestPlace(text) == nil) }
  }

  @Test func `The oldest rows of a kind make room, and old ones go`() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    try await Self.add([Self.row(.refused, 0, code: 1)], to: app, in: store, most: 5)
    for part in 0..<3 {
      let rows = (0..<4).map { Self.row(.unauthenticated, Int64(part * 4 + $0), code: part * 4 + $0) }
      try await Self.add(rows, to: app, in: store, most: 5)
    }
    var list = try await Self.list(app, in: store).rows
    #expect(list.filter { $0.call.kind == .unauthenticated }.map(\.call.code) == [11, 10, 9, 8, 7])
    #expect(
      list.filter { $0.call.kind == .refused }.map(\.call.code) == [1],
      "unauthenticated calls displace nothing else")
    // Rows end a second after they begin.
    try await store.change { t throws(StorageError) in
      try t.apiRequests.sweep(app: app, before: .start.adding(seconds: 10), limit: 2)
    }
    list = try await Self.list(app, in: store).rows
    #expect(list.map(\.call.code) == [11, 10, 9])
    try await Self.add([Self.row(.unauthenticated, 20, code: 20)], to: app, in: store, before: 12)
    list = try await Self.list(app, in: store).rows
    #expect(list.map(\.call.code) == [20, 11])
  }
}
