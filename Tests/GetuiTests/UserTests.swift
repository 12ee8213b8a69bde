import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Aliases, tags and what else is known of CIDs.
@Suite(.timeLimit(.minutes(1))) struct UserTests {
  private func number(_ id: RegistrationID, _ world: GetuiWorld) throws -> RegistrationNumber {
    try #require(world.app.directory.find(id))
  }

  private func list(_ entries: [(RegistrationID, String)]) -> String {
    let entries = entries.map { #"{"cid":"\#($0.0.text)","alias":"\#($0.1)"}"# }
    return #"{"data_list":[\#(entries.joined(separator: ","))]}"#
  }

  // MARK: Members that nobody obeys

  private static func ignored(_ response: HTTPResponse) -> String? {
    response.headers[IgnoredMembers.header.lowercased()]
  }

  /// The answers of calls that succeed, and of those with a member that is spelled almost like one that is
  /// obeyed.
  @Test func `Members without effect are named and misspelled ones refused`() async throws {
    let world = try await GetuiWorld()
    let cid = try await world.register(platform: .ios).text
    let token = await world.token()
    let calls: [(method: String, path: String, body: String, names: String)] = [
      (
        "POST", "/user/alias",
        #"{"data_list":[{"cid":"\#(cid)","alias":"a","alias_type":"x"}],"mode":"y","other":""}"#,
        "mode, data_list[0].alias_type"
      ),
      (
        "DELETE", "/user/alias", #"{"data_list":[{"cid":"\#(cid)","alias":"a","alias_type":"x"}]}"#,
        "data_list[0].alias_type"
      ),
      ("POST", "/user/custom_tag/cid/\(cid)", #"{"custom_tag":["t"],"tag_type":1}"#, "tag_type"),
      ("PUT", "/user/custom_tag/batch/t", #"{"cid":["\#(cid)"],"mode":"y"}"#, "mode"),
      ("DELETE", "/user/custom_tag/batch/t", #"{"cid":["\#(cid)"],"mode":"y"}"#, "mode"),
      ("POST", "/user/badge/cid/\(cid)", #"{"badge":"+1","mode":"y"}"#, "mode"),
      (
        "POST", "/user/bind_dt/ios",
        #"{"dt_list":[{"cid":"\#(cid)","device_token":"","mode":"y"}],"type":"z"}"#,
        "type, dt_list[0].mode"
      ),
    ]
    for call in calls {
      let answer = await world.call(call.method, call.path, call.body, token: token)
      #expect(answer.code == 0 && Self.ignored(answer) == call.names, "\(call.path)")
    }
    for (method, path, body, member) in [
      ("POST", "/user/alias", #"{"dataList":[{"cid":"\#(cid)","alias":"a"}]}"#, "dataList"),
      (
        "POST", "/user/alias", #"{"data_list":[{"CID":"x","cid":"\#(cid)","alias":"a"}]}"#, "data_list[0].CID"
      ),
      ("PUT", "/user/custom_tag/batch/t", #"{"cid":["\#(cid)"],"CID":["x"]}"#, "CID"),
      ("POST", "/user/count", #"{"tag":[{"key":"custom_tag","values":["t"]}],"mode":"y"}"#, "mode"),
    ] {
      let answer = await world.call(method, path, body, token: token)
      #expect(answer.code == 20001 && answer.message.contains(member), "\(path): \(answer.message)")
    }
  }

  // MARK: Aliases

  @Test func `An alias is bound, told, and released by binding another`() async throws {
    let world = try await GetuiWorld()
    let cid = try await world.register()
    #expect(await world.ask("GET", "/user/alias/cid/\(cid.text)").json["data"] == [:])
    for alias in ["anna", "小明_1"] {
      #expect(await world.ask("POST", "/user/alias", list([(cid, alias)])).code == 0)
      #expect(await world.ask("GET", "/user/alias/cid/\(cid.text)").json["data"]?["alias"]?.string == alias)
    }
    #expect(await world.ask("GET", "/user/cid/alias/anna").json["data"] == ["cid": []])
    // What one API binds, the other's directory finds.
    #expect(world.app.directory.registrations(alias: "小明_1") == [try number(cid, world)])
    #expect(await world.ask("DELETE", "/user/alias", list([(cid, "anna")])).code == 0)
    #expect(await world.ask("GET", "/user/alias/cid/\(cid.text)").json["data"]?["alias"]?.string == "小明_1")
    #expect(await world.ask("DELETE", "/user/alias", list([(cid, "小明_1")])).code == 0)
    #expect(await world.ask("GET", "/user/alias/cid/\(cid.text)").json["data"] == [:])
  }

  /// Its change is on the way to the database when the call looks for who has the alias.
  @Test(arguments: [false, true])
  func `Releasing an alias leaves the one that a device has set meanwhile`(isOfAll: Bool) async throws {
    let world = try await GetuiWorld()
    let (cid, other) = (try await world.register(), try await world.register())
    #expect(await world.ask("POST", "/user/alias", list([(cid, "anna"), (other, "anna")])).code == 0)
    let token = await world.token()
    #expect(await world.call("GET", "/user/cid/alias/anna", token: token).code == 0)
    let gate = Semaphore()
    world.store.write { _ throws(StorageError) in
      gate.wait()
      // It may run again.
      gate.signal()
    } completion: { _ in
    }
    world.router.registrations.setAlias("bob", of: try number(cid, world), in: world.app) { _ in }
    let body = isOfAll ? "" : list([(cid, "anna"), (other, "anna")])
    let path = isOfAll ? "/user/alias/anna" : "/user/alias"
    #expect(await world.call("DELETE", path, body, token: token) { gate.signal() }.code == 0)
    #expect(world.app.directory.registrations(alias: "bob") == [try number(cid, world)])
    #expect(await world.ask("GET", "/user/alias/cid/\(cid.text)").json["data"]?["alias"] == "bob")
    #expect(await world.ask("GET", "/user/alias/cid/\(other.text)").json["data"] == [:])
  }

  @Test func `The eleventh device of an alias is refused, and nothing of the request is changed`()
    async throws
  {
    let world = try await GetuiWorld()
    var cids: [RegistrationID] = []
    for _ in 0..<11 { cids.append(try await world.register()) }
    #expect(await world.ask("POST", "/user/alias", list(cids.prefix(10).map { ($0, "team") })).code == 0)
    let other = try await world.register()
    let refused = await world.ask("POST", "/user/alias", list([(other, "x"), (cids[10], "team")]))
    #expect(refused.status == 400 && refused.code == 20001)
    #expect(await world.ask("GET", "/user/alias/cid/\(other.text)").json["data"] == [:])
    let told = await world.ask("GET", "/user/cid/alias/team").json["data"]?["cid"]?.array
    #expect(told == cids.prefix(10).map { .string($0.text) })
    #expect(await world.ask("DELETE", "/user/alias/team").code == 0)
    #expect(await world.ask("GET", "/user/cid/alias/team").json["data"] == ["cid": []])
    #expect(await world.ask("DELETE", "/user/alias/team").code == 0)
  }

  @Test func `Wrong lists and names are refused by their field`() async throws {
    let world = try await GetuiWorld()
    let cid = try await world.register()
    let cases: [(String, String)] = [
      ("{}", "data_list can not be empty"), (#"{"data_list":{"a":1}}"#, "data_list type error"),
      (#"{"data_list":[1]}"#, "data_list[0] type error"),
      (#"{"data_list":[{"alias":"a"}]}"#, "data_list[0].cid can not be empty"),
      (#"{"data_list":[{"cid":"\#(cid.text)"}]}"#, "data_list[0].alias can not be empty"),
      (list([(cid, "a-b")]), "data_list[0].alias is invalid"),
      (list([(cid, String(repeating: "中", count: 41))]), "data_list[0].alias size over limit"),
      (list([(cid, "a"), (cid, "b")]), "contains duplicate cid"),
      (#"{"data_list":[{"cid":"0","alias":"a"}]}"#, "target user is invalid"),
      (list(Array(repeating: (cid, "a"), count: 1001)), "data_list size over limit"),
    ]
    for (body, message) in cases {
      let answer = await world.ask("POST", "/user/alias", body)
      #expect(
        answer.status == 400 && answer.code == 20001 && answer.message.hasPrefix(message), "\(answer.message)"
      )
    }
  }

  // MARK: Tags

  private func tags(_ cid: RegistrationID, _ world: GetuiWorld) async -> JSONValue? {
    await world.ask("GET", "/user/custom_tag/cid/\(cid.text)").json["data"]?[cid.text]
  }

  @Test func `All tags of a CID are set once a day`() async throws {
    let world = try await GetuiWorld()
    let cid = try await world.register()
    #expect(await tags(cid, world) == [])
    let path = "/user/custom_tag/cid/\(cid.text)"
    for body in [
      "{}", #"{"custom_tag":["a b"]}"#, #"{"custom_tag":["a","a"]}"#,
      #"{"custom_tag":[\#((0...100).map { "\"t\($0)\"" }.joined(separator: ","))]}"#,
      #"{"custom_tag":[\#((0..<20).map { "\"\(String(repeating: "x", count: 28))\($0)\"" }.joined(separator: ","))]}"#,
    ] {
      #expect(await world.ask("POST", path, body).code == 20001)
    }
    let long = String(repeating: "x", count: 33)
    #expect(await world.ask("POST", path, #"{"custom_tag":["\#(long)"]}"#).code == 30005)
    #expect(await world.ask("POST", path, #"{"custom_tag":["vip","news-1"]}"#).code == 0)
    #expect(await tags(cid, world) == ["news-1 vip"])
    let again = await world.ask("POST", path, #"{"custom_tag":["b"]}"#)
    #expect(again.status == 403 && again.code == 30011)
    world.clock.advance(seconds: 86_400)
    #expect(await world.ask("POST", path, #"{"custom_tag":["b"]}"#).code == 0)
    #expect(await tags(cid, world) == ["b"])
  }

  @Test func `A tag of many CIDs says of each what came of it`() async throws {
    let world = try await GetuiWorld()
    let (full, free) = (try await world.register(), try await world.register())
    let all = (0..<100).map { "\"t\($0)\"" }.joined(separator: ",")
    #expect(
      await world.ask("POST", "/user/custom_tag/cid/\(full.text)", #"{"custom_tag":[\#(all)]}"#).code == 0)
    let body = #"{"cid":["\#(full.text)","\#(free.text)","c0ffee"]}"#
    let added = await world.ask("PUT", "/user/custom_tag/batch/vip", body)
    #expect(added.json["data"] == [full.text: "false", free.text: "true", "c0ffee": "false"])
    #expect(await tags(free, world) == ["vip"])
    let removed = await world.ask("DELETE", "/user/custom_tag/batch/vip", body)
    #expect(removed.json["data"] == [full.text: "true", free.text: "true", "c0ffee": "false"])
    #expect(await tags(free, world) == [])
    #expect(await world.ask("PUT", "/user/custom_tag/batch/vip", "{}").code == 20001)
  }

  @Test func `Tag calls are limited by the minute and by the day`() {
    let rates = TagRates()
    let (app, minute) = (AppID(1), UInt64(60_000_000_000))
    var taken = 0
    for _ in 0..<101 where rates.consume(.add, of: app, day: 1, at: 0) == nil { taken += 1 }
    #expect(taken == 100 && rates.consume(.add, of: app, day: 1, at: 1)?.code == 30012)
    #expect(rates.consume(.remove, of: app, day: 1, at: 1) == nil)
    #expect(rates.consume(.add, of: AppID(2), day: 1, at: 1) == nil)
    for step in 1...110 {
      for _ in 0..<100 where rates.consume(.add, of: app, day: 1, at: UInt64(step) * minute) == nil {
        taken += 1
      }
    }
    #expect(taken == 10_000 && rates.consume(.add, of: app, day: 1, at: 200 * minute)?.code == 30011)
    #expect(rates.consume(.add, of: app, day: 2, at: 200 * minute) == nil)
  }

  // MARK: The rest

  @Test func `Who is on the black list gets nothing until removed`() async throws {
    let world = try await GetuiWorld()
    let (one, two) = (try await world.register(), try await world.register())
    let path = "/user/black/cid/\(one.text),\(two.text)"
    #expect(await world.ask("POST", path, "null").code == 0)
    #expect(world.app.directory.isBlocked(try number(one, world)))
    #expect(await world.ask("DELETE", "/user/black/cid/\(one.text)").code == 0)
    #expect(!world.app.directory.isBlocked(try number(one, world)))
    #expect(world.app.directory.isBlocked(try number(two, world)))
    #expect(
      await world.ask("POST", "/user/black/cid/\(one.text),0").message
        == "target user is invalid: the app has no cid '0'")
    #expect(!world.app.directory.isBlocked(try number(one, world)))
    let many = (0...200).map(String.init).joined(separator: ",")
    #expect(
      await world.ask("POST", "/user/black/cid/\(many)").message
        == "cid size over limit: it has 201 values, at most 200 are allowed")
  }

  @Test func `Status, device status and details are told of known CIDs`() async throws {
    let world = try await GetuiWorld()
    let (phone, other) = (try await world.register(platform: .ios), try await world.register())
    let cids = "\(phone.text),\(other.text),nobody"
    let data = await world.ask("GET", "/user/status/\(cids)").json["data"]
    #expect(data?[phone.text]?["status"]?.string == "offline" && data?["nobody"] == nil)
    let devices = await world.ask("GET", "/user/deviceStatus/\(cids)").json["data"]
    #expect(devices?[other.text] == ["cid_status": "offline", "device_status": "offline"])
    let bound = #"{"dt_list":[{"cid":"\#(phone.text)","device_token":"0A0b"}]}"#
    #expect(await world.ask("POST", "/user/bind_dt/ios", bound).code == 0)
    let details = await world.ask("GET", "/user/detail/\(cids)").json["data"]
    #expect(details?["invalidCids"] == ["nobody"])
    let shown = details?["validCids"]?[phone.text]
    #expect(shown?["phone_type"]?.int64 == 2 && shown?["device_token"]?.string == "0a0b")
    #expect(shown?["client_app_id"]?.string == world.app.key.text)
    #expect(shown?["createTime"]?.string == String(world.clock.now().milliseconds))
    #expect(details?["validCids"]?[other.text]?["phone_type"]?.int64 == 1)
    let removed = #"{"dt_list":[{"cid":"\#(phone.text)","device_token":""}]}"#
    #expect(await world.ask("POST", "/user/bind_dt/ios", removed).code == 0)
    let after = await world.ask("GET", "/user/detail/\(phone.text)").json["data"]?["validCids"]?[phone.text]
    #expect(after != nil && after?["device_token"] == nil)
    let mini = await world.ask("POST", "/user/bind_dt/mp", bound)
    #expect(mini.message.hasPrefix("permission required by bind_dt/mp: known are apn, "))
    let wrong = #"{"dt_list":[{"cid":"\#(other.text)","device_token":"00"}]}"#
    #expect(await world.ask("POST", "/user/bind_dt/ios", wrong).code == 20001)
  }

  @Test func `Badges are set and counted on`() async throws {
    let world = try await GetuiWorld()
    let cid = try await world.register(platform: .ios)
    let device = try number(cid, world)
    let app = world.app.id
    for (badge, expected) in [("7", 7), ("+2", 9), ("-20", 0), ("+1", 1)] as [(String, Int64)] {
      #expect(await world.ask("POST", "/user/badge/cid/\(cid.text)", #"{"badge":"\#(badge)"}"#).code == 0)
      let stored = try await world.store.look { transaction throws(StorageError) in
        try transaction.registrations.find(app: app, number: device)?.badge
      }
      #expect(stored == expected, "\(badge)")
    }
    for badge in ["", "x", "+", "1.5", "99999999999"] {
      #expect(await world.ask("POST", "/user/badge/cid/\(cid.text)", #"{"badge":"\#(badge)"}"#).code == 20001)
    }
  }

  @Test func `An app has only so many tags`() async throws {
    var routing = RouterOptions()
    routing.tags.ofApp = 1
    let world = try await GetuiWorld(routing: routing)
    let cid = try await world.register()
    let path = "/user/custom_tag/cid/\(cid.text)"
    let answer = await world.ask("POST", path, #"{"custom_tag":["a","b"]}"#)
    #expect(answer.code == 20001 && answer.json["msg"]?.string?.contains("the app has") == true)
    #expect(await world.ask("POST", path, #"{"custom_tag":["a"]}"#).code == 0)
  }

  @Test func `A CID that was imported names its registration`() async throws {
    let world = try await GetuiWorld()
    let old = "c0ffee00c0ffee00c0ffee00c0ffee00"
    let id = ImportedID.registrationID(old, in: world.app.key)
    let app = world.app.id
    let now = world.clock.now()
    try await world.store.change { transaction throws(StorageError) in
      _ = try RegistrationImport(into: app, adoption: .token, at: now).add(
        [ImportedRegistration(registrationID: id, platform: .android, alias: "anna")], in: transaction)
    }
    // Reading what was imported is behind no change that could be waited for.
    while world.app.directory.find(id) == nil {
      world.router.tick()
      try await world.store.change { _ throws(StorageError) in }
    }
    #expect(await world.ask("GET", "/user/alias/cid/\(old)").json["data"] == ["alias": "anna"])
    #expect(await world.ask("GET", "/user/cid/alias/anna").json["data"] == ["cid": [.string(id.text)]])
  }
}
