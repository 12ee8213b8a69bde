import BorealisBase
import Core
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// API keys and the log of requests of an app that gets another home.
@Suite(.serialized, .timeLimit(.minutes(2))) struct KeyMoveTests {
  private static func entry(_ app: App) -> AuditRow {
    AuditRow(
      at: Timestamp(milliseconds: 0), account: app.account, app: app.id, person: nil, who: "x",
      action: "key.create", target: "x", address: "")
  }

  private static func call(_ code: Int, key: Int64) -> APICall {
    APICall(
      kind: .refused, method: "POST", route: "/v3/push", status: 400, code: code, message: "m",
      address: IPAddress("192.0.2.1"), key: key)
  }

  @Test func `Keys, their last use and what waits for the log move with the app`() async throws {
    let cluster = try PostgresCluster.shared()
    let location = Store.Location.postgres(url: cluster.url(of: try cluster.make()))
    let one = try HomeWorld(location, slot: 1, hasInstallation: true)
    let two = try HomeWorld(location, slot: 2)
    defer {
      one.close()
      two.close()
    }
    let made = try await awaitCallback { done in
      one.router.apps.create("test", for: .standard) { done($0) }
    }.get()
    let app = try #require(try await one.find(made.key).get())
    let created = try await awaitCallback { done in
      one.router.apps.createKey(
        APIKeyGrant(name: "x", rights: .all), of: app, noting: Self.entry(app)
      ) { done($0) }
    }.get()
    let (secret, id) = (Array(created.secret.utf8), created.row.id)
    let used = one.clock.now()
    #expect(app.credential(secret, at: used)?.key?.id == id)
    one.router.requestLog.note(Self.call(1003, key: id), of: app)
    #expect(one.router.handOver(app.key, to: (node: two.own.node, home: two.own.home)) != nil)
    // A call that was under way is answered after the app has left.
    one.router.requestLog.note(Self.call(1004, key: id), of: app)
    one.router.finish()

    let moved = try #require(try two.router.load(app.id))
    #expect(moved.credential(secret)?.key?.id == id && moved.keyUses[id] == used)
    let list = await two.router.requestLog.list(
      of: moved, APIRequestFilter(), before: .newest, limit: 10)
    #expect(try list.get().rows.map(\.call) == [Self.call(1003, key: id)])
    let revoked = await awaitCallback { done in
      two.router.apps.revokeKey(id, of: moved, noting: { _ in Self.entry(moved) }) { done($0) }
    }
    _ = try revoked.get()
    #expect(moved.credential(secret) == nil)
    let late = await awaitCallback { done in
      one.router.apps.createKey(
        APIKeyGrant(name: "y", rights: .all), of: app, noting: Self.entry(app)
      ) { done($0) }
    }
    #expect((try? late.get()) == nil, "only its home changes an app")
  }
}
