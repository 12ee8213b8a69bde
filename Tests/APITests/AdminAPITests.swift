import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// JPush's admin API: developers and the apps of their accounts.
@Suite struct AdminAPITests {
  private struct Developer {
    let authorization: String
    let key: AppKey
    let account: AccountID
  }

  private func developer(_ world: GatewayWorld, plan: String = "unlimited") async throws -> Developer {
    let key = AppKey.random()
    let hash = SHA256.digest(Array(GatewayWorld.secret.utf8))
    let account = try await world.store.change { t throws(StorageError) in
      try t.accounts.create(
        key: key, name: "dev", secretHash: hash, plan: plan, at: Timestamp(milliseconds: 0))
    }
    return Developer(
      authorization: GatewayWorld.basic(key.text, GatewayWorld.secret), key: key, account: account)
  }

  private func create(_ world: GatewayWorld, _ developer: Developer, _ body: String) async -> HTTPResponse {
    await world.call("POST", "/v1/app", body, authorization: developer.authorization)
  }

  private static let deleted = #"{"success":"Synchronized success"}"#

  /// A developer makes an app, uses it with the secret that he was told, and deletes it.
  @Test func life() async throws {
    let world = try await GatewayWorld()
    let developer = try await developer(world, plan: "free")
    let made = await create(
      world, developer, #"{"app_name":"测试","android_package":"com.example.a","group_name":null}"#)
    #expect(made.outcome == "200")
    #expect(
      made.json?.object?.members.map(\.key) == [
        "app_key", "master_secret", "android_package", "is_new_created",
      ])
    #expect(made.json?["is_new_created"] == true && made.json?["android_package"] == "com.example.a")
    let key = try #require(made.json?["app_key"]?.string)
    let secret = try #require(made.json?["master_secret"]?.string)
    #expect(key.count == 24 && secret.count == 24)
    let login = GatewayWorld.basic(key, secret)
    let used = await world.call("GET", "/v3/push/cid", authorization: login)
    #expect(used.outcome == "200" && used.headers["x-rate-limit-quota"] == "600")
    let again = await create(world, developer, #"{"app_name":"other","android_package":"com.example.a"}"#)
    #expect(
      again.json == ["app_key": .string(key), "android_package": "com.example.a", "is_new_created": false])
    let gone = await world.call("POST", "/v1/app/\(key)/delete", authorization: developer.authorization)
    #expect(String(decoding: gone.body, as: UTF8.self) == Self.deleted)
    #expect(await world.call("GET", "/v3/push/cid", authorization: login).outcome == "401 1004")
    let twice = await world.call("POST", "/v1/app/\(key)/delete", authorization: developer.authorization)
    #expect(twice.outcome == "401 4007")
    let anew = await create(world, developer, #"{"app_name":"other","android_package":"com.example.a"}"#)
    #expect(anew.json?["is_new_created"] == true && anew.json?["app_key"]?.string != key)
  }

  /// Apps without a package are always new, and may be deleted in the old Java client's way.
  @Test func withoutPackage() async throws {
    let world = try await GatewayWorld()
    let developer = try await developer(world)
    for path in ["", "/delete"] {
      let made = await create(world, developer, #"{"app_name":"a"}"#)
      #expect(made.json?.object?.members.map(\.key) == ["app_key", "master_secret", "is_new_created"])
      let key = try #require(made.json?["app_key"]?.string)
      let gone = await world.call("DELETE", "/v1/app/\(key)\(path)", authorization: developer.authorization)
      #expect(String(decoding: gone.body, as: UTF8.self) == Self.deleted)
    }
  }

  /// No developer reaches another's apps, no app the admin API, and no developer an app's API.
  @Test func apart() async throws {
    let world = try await GatewayWorld()
    let (first, second) = (try await developer(world), try await developer(world))
    let made = await create(world, first, #"{"app_name":"a","android_package":"com.example"}"#)
    let key = try #require(made.json?["app_key"]?.string)
    for path in ["/v1/app/\(key)/delete", "/v1/app/\(world.app.key.text)/delete", "/v1/app/none/delete"] {
      #expect(await world.call("POST", path, authorization: second.authorization).outcome == "401 4007")
    }
    let other = await create(world, second, #"{"app_name":"b","android_package":"com.example"}"#)
    #expect(other.json?["is_new_created"] == true && other.json?["app_key"]?.string != key)
    #expect(await world.call("POST", "/v1/app", #"{"app_name":"a"}"#).outcome == "401 4004")
    #expect(await world.call("GET", "/v3/tags", authorization: first.authorization).outcome == "401 7004")
    #expect(await world.call("GET", "/v3/tags").outcome == "200")
  }

  @Test func errors() async throws {
    let world = try await GatewayWorld()
    let developer = try await developer(world)
    let long = String(repeating: "x", count: 101)
    for (body, expected) in [
      ("", "400 4002"), ("{", "400 4003"), ("[]", "400 4003"), ("{}", "400 4002"),
      (#"{"app_name":""}"#, "400 4002"), (#"{"app_name":null}"#, "400 4002"),
      (#"{"app_name":1}"#, "400 4003"),
      (#"{"app_name":"\#(long)"}"#, "400 4003"), (#"{"app_name":"a\nb"}"#, "400 4003"),
      (#"{"app_name":"a","android_package":"a b"}"#, "400 4003"),
      (#"{"app_name":"a","android_package":"a..b"}"#, "400 4003"),
      (#"{"app_name":"a","group_name":"\#(long)"}"#, "400 4003"),
      (#""\#(String(repeating: "x", count: 300_000))""#, "400 4003"),
    ] {
      #expect(await create(world, developer, body).outcome == expected, "\(body.prefix(60))")
    }
    #expect(await world.call("GET", "/v1/app", authorization: developer.authorization).outcome == "405 4001")
    #expect(await world.call("POST", "/v1/app", "{}", authorization: nil).outcome == "401 4004")
    let wrong = GatewayWorld.basic(developer.key.text, "wrong")
    #expect(await world.call("POST", "/v1/app", "{}", authorization: wrong).outcome == "401 4004")
    let account = developer.account
    _ = try await world.store.change { t throws(StorageError) in
      try t.accounts.setDisabled(account: account, true)
    }
    #expect(await create(world, developer, #"{"app_name":"a"}"#).outcome == "401 4007")
  }

  /// Calls are counted for each account; business errors come with status 200.
  @Test func limits() async throws {
    var limits = GatewayLimits()
    limits.adminCallsPerMinute = 2
    let world = try await GatewayWorld(limits: limits)
    let (first, second) = (try await developer(world), try await developer(world))
    for expected in ["200", "200", "429 2002"] {
      #expect(await create(world, first, #"{"app_name":"a"}"#).outcome == expected)
    }
    #expect(await create(world, second, #"{"app_name":"a"}"#).headers["x-rate-limit-remaining"] == "1")
    let account = first.account
    _ = try await world.store.change { t throws(StorageError) in
      for _ in 2..<Apps.appsInAccount {
        let hash = [UInt8](repeating: 0, count: 32)
        _ = try t.apps.create(
          NewApp(key: .random(), name: "x", secretHash: hash, account: account),
          at: Timestamp(milliseconds: 0))
      }
    }
    world.clock.advance(seconds: 60)
    let full = await create(world, first, #"{"app_name":"a"}"#)
    #expect(full.status == 200 && full.errorCode == 4003)
  }
}
