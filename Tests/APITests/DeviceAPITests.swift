import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

@Suite struct DeviceAPITests {
  private func update(_ world: GatewayWorld, _ id: RegistrationID, _ body: String) async -> String {
    await world.call("POST", "/v3/devices/\(id.text)", body).outcome
  }

  private func shown(_ world: GatewayWorld, _ id: RegistrationID) async -> String {
    String(decoding: await world.call("GET", "/v3/devices/\(id.text)").body, as: UTF8.self)
  }

  /// Alias, tags and mobile number are set, shown and removed; what is absent stays.
  @Test func devices() async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    #expect(await shown(world, id) == #"{"tags":[],"alias":null,"mobile":null}"#)
    #expect(await update(world, id, "{}") == "200")
    #expect(
      await update(world, id, #"{"tags":{"add":["b","a","c"]},"alias":"zoe","mobile":"+49-1"}"#) == "200")
    #expect(await shown(world, id) == #"{"tags":["a","b","c"],"alias":"zoe","mobile":"+49-1"}"#)
    #expect(await update(world, id, #"{"tags":{"add":["d"],"remove":["a","x"]},"alias":null}"#) == "200")
    #expect(await shown(world, id) == #"{"tags":["b","c","d"],"alias":"zoe","mobile":"+49-1"}"#)
    #expect(await update(world, id, #"{"tags":"","alias":"","mobile":""}"#) == "200")
    #expect(await shown(world, id) == #"{"tags":[],"alias":null,"mobile":null}"#)
  }

  /// A deleted registration is unknown, and so is its alias; another app's cannot be deleted.
  @Test func deletion() async throws {
    let world = try await GatewayWorld()
    let (id, other) = (try await world.register(), try await world.register())
    let outsider = try await world.register(in: try await world.addApp())
    for device in [id, other] { #expect(await update(world, device, #"{"alias":"zoe"}"#) == "200") }
    #expect(await world.call("DELETE", "/v1/devices/\(outsider.text)").outcome == "400 7002")
    let answer = await world.call("DELETE", "/v1/devices/\(id.text)")
    #expect(answer.outcome == "200" && String(decoding: answer.body, as: UTF8.self) == "{}")
    #expect(await world.call("DELETE", "/v1/devices/\(id.text)").outcome == "400 7002")
    #expect(await world.call("GET", "/v3/devices/\(id.text)").outcome == "400 7002")
    let members = await world.call("GET", "/v3/aliases/zoe")
    #expect(String(decoding: members.body, as: UTF8.self) == #"{"registration_ids":["\#(other.text)"]}"#)
  }

  /// Clients for JPush's Beijing zone ask under other paths for the same.
  @Test func beijing() async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    #expect(await world.call("POST", "/v3/device/\(id.text)", #"{"alias":"zoe"}"#).outcome == "200")
    for (ours, theirs) in [
      ("/v3/devices/\(id.text)", "/v3/device/\(id.text)"), ("/v3/aliases/zoe", "/v3/device/aliases/zoe"),
      ("/v3/tags/", "/v3/device/tags/"),
    ] {
      let (answer, other) = (await world.call("GET", ours), await world.call("GET", theirs))
      #expect(answer.outcome == "200" && answer.body == other.body, "\(theirs)")
    }
  }

  /// Every code that the device API can give for a request, and nothing is changed by it.
  @Test func errors() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(12)
    let outsider = try await world.register(in: try await world.addApp())
    for id in ids.prefix(10) { #expect(await update(world, id, #"{"alias":"full"}"#) == "200") }
    let last = ids[11]
    #expect(await update(world, last, #"{"tags":{"add":["a"]},"alias":"own"}"#) == "200")
    let before = await shown(world, last)
    let path = "/v3/devices/\(last.text)"
    let list = #"{"registration_ids":{"add":["\#(last.text)"#
    let cases: [(String, HTTPResponse)] = [
      ("400 7002", await world.call("GET", "/v3/devices/0123456789abcdef012")),
      ("400 7002", await world.call("GET", "/v3/devices/x")),
      ("400 7002", await world.call("GET", "/v3/devices/\(outsider.text)")),
      ("400 7002", await world.call("POST", path)),
      ("400 7002", await world.call("POST", path, "nonsense")),
      ("400 7002", await world.call("POST", path, #"{"alias":"a-b"}"#)),
      ("400 7002", await world.call("POST", path, #"{"alias":"\#(String(repeating: "a", count: 41))"}"#)),
      ("400 7002", await world.call("POST", path, #"{"tags":{"add":["ok","not ok"]},"alias":"x"}"#)),
      ("400 7002", await world.call("POST", path, #"{"mobile":"abc","alias":"x"}"#)),
      ("400 7015", await world.call("POST", path, #"{"tags":{"add":["b"]},"alias":"full","mobile":"1"}"#)),
      ("400 7013", await world.call("POST", "/v3/tags/a", list + #"","x"]}}"#)),
      ("400 7002", await world.call("POST", "/v3/tags/a", #"{"registration_ids":{"add":["x"]}}"#)),
      ("400 7013", await world.call("POST", "/v3/tags/new", list + #"","\#(outsider.text)"]}}"#)),
      ("400 7002", await world.call("POST", "/v3/tags/new", #"{"registration_ids":{}}"#)),
      ("400 7002", await world.call("POST", "/v3/tags/a%20b", list + #""]}}"#)),
      ("400 7002", await world.call("POST", "/v3/aliases/own", list + #""]}}"#)),
      ("200", await world.call("GET", "/v3/aliases/own?platform=")),
      ("400 7002", await world.call("GET", "/v3/aliases/own?platform=android,palm")),
      ("400 7002", await world.call("GET", "/v3/aliases/a-b")),
      ("400 7002", await world.call("GET", "/v3/tags/a/registration_ids/x")),
      ("400 7002", await world.call("POST", "/v3/devices/status", #"{"registration_ids":[]}"#)),
      ("400 7002", await world.call("POST", "/v3/devices/status", #"{"registration_ids":[1]}"#)),
      ("400 7002", await world.call("POST", path, "\"" + String(repeating: "x", count: 300_000) + "\"")),
      ("405 1001", await world.call("PUT", path, "{}")),
    ]
    for (index, (expected, response)) in cases.enumerated() {
      #expect(response.outcome == expected, "case \(index)")
    }
    #expect(await shown(world, last) == before)
    #expect(world.app.directory.firstTags(100) == ["a"])
  }

  /// Aliases are listed in both forms, by platform, and removed from some or all.
  @Test func aliases() async throws {
    let world = try await GatewayWorld()
    let (phone, pad) = (try await world.register(), try await world.register(platform: .ios))
    for id in [phone, pad] { #expect(await update(world, id, #"{"alias":"zoe"}"#) == "200") }
    func listed(_ query: String) async -> String {
      String(decoding: await world.call("GET", "/v3/aliases/zoe\(query)").body, as: UTF8.self)
    }
    #expect(await listed("") == #"{"registration_ids":["\#(phone.text)","\#(pad.text)"]}"#)
    #expect(await listed("?platform=ios,winphone") == #"{"registration_ids":["\#(pad.text)"]}"#)
    #expect(
      await listed("?new_format=true&platform=android")
        == #"{"data":[{"registration_id":"\#(phone.text)","platform":"android","last_online_date":"2026-09-21"}]}"#
    )
    #expect(await listed("&new_format=true") == (await listed("?new_format=true")))
    #expect(await world.call("GET", "/v3/aliases/nobody").body == Array(#"{"registration_ids":[]}"#.utf8))
    let removal = #"{"registration_ids":{"remove":["\#(phone.text)"]}}"#
    #expect(await world.call("POST", "/v3/aliases/zoe", removal).outcome == "200")
    #expect(await listed("") == #"{"registration_ids":["\#(pad.text)"]}"#)
    #expect(await world.call("DELETE", "/v3/aliases/zoe?platform=android").outcome == "200")
    #expect(await listed("") == #"{"registration_ids":["\#(pad.text)"]}"#)
    #expect(await world.call("DELETE", "/v3/aliases/zoe").body == Array("{}".utf8))
    #expect(await listed("") == #"{"registration_ids":[]}"#)
    #expect(await world.call("DELETE", "/v3/aliases/nobody").outcome == "200")
  }

  /// Its change is on the way to the database when the call looks for who has the alias.
  @Test(.timeLimit(.minutes(1)), arguments: ["DELETE", "POST"])
  func `Removing an alias leaves the one that a device has set meanwhile`(method: String) async throws {
    let world = try await GatewayWorld()
    let (id, other) = (try await world.register(), try await world.register())
    let number = try #require(world.app.directory.find(id))
    for id in [id, other] { #expect(await update(world, id, #"{"alias":"zoe"}"#) == "200") }
    let gate = Semaphore()
    world.store.write { _ throws(StorageError) in
      gate.wait()
      // It may run again.
      gate.signal()
    } completion: { _ in
    }
    world.router.registrations.setAlias("bob", of: number, in: world.app) { _ in }
    let body = #"{"registration_ids":{"remove":["\#(id.text)","\#(other.text)"]}}"#
    #expect(await world.call(method, "/v3/aliases/zoe", body) { gate.signal() }.outcome == "200")
    #expect(world.app.directory.registrations(alias: "bob") == [number])
    #expect(await shown(world, id) == #"{"tags":[],"alias":"bob","mobile":null}"#)
    #expect(await shown(world, other) == #"{"tags":[],"alias":null,"mobile":null}"#)
    #expect(world.app.directory.registrations(alias: "zoe").isEmpty)
  }

  /// Tags are given to many, checked, listed and deleted from all, however many have them.
  @Test func tags() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(450)
    let all = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
    #expect(
      await world.call("POST", "/v3/tags/vip", #"{"registration_ids":{"add":[\#(all)]}}"#).outcome == "200")
    let change = #"{"registration_ids":{"add":["\#(ids[0].text)"],"remove":["\#(ids[1].text)"]}}"#
    #expect(await world.call("POST", "/v3/tags/vip/", change).outcome == "200")
    #expect(await world.call("POST", "/v3/tags/%E6%B5%8B%E8%AF%95", change).outcome == "200")
    #expect(await world.call("GET", "/v3/tags/").body == Array(#"{"tags":["vip","测试"]}"#.utf8))
    for (index, expected) in [(0, "true"), (1, "false"), (449, "true")] {
      let response = await world.call("GET", "/v3/tags/vip/registration_ids/\(ids[index].text)")
      #expect(response.body == Array("{\"result\":\(expected)}".utf8))
    }
    let unknown = await world.call("GET", "/v3/tags/unknown/registration_ids/\(ids[0].text)")
    #expect(unknown.body == Array(#"{"result":false}"#.utf8))
    #expect(await world.call("DELETE", "/v3/tags/vip?platform=ios").outcome == "200")
    #expect(world.app.directory.hasTag("vip", RegistrationNumber(449)))
    #expect(await world.call("DELETE", "/v3/tags/vip").body == Array("{}".utf8))
    #expect(world.app.directory.firstTags(100) == ["测试"])
    #expect(await world.call("DELETE", "/v3/tags/vip").outcome == "200")
    #expect(await shown(world, ids[449]) == #"{"tags":[],"alias":null,"mobile":null}"#)
  }

  /// Who was connected in the last ten minutes, and when who was not was last there, in Chinese time and for
  /// two days.
  @Test func status() async throws {
    let world = try await GatewayWorld()
    let (here, away) = (try await world.register(), try await world.register())
    let number = try #require(world.app.directory.find(away))
    world.app.directory.disconnect(number, from: Location(loop: 0, slot: 0, generation: 0), at: 0)
    let body = #"{"registration_ids":["\#(here.text)","\#(away.text)","x","\#(here.text)"]}"#
    func status() async -> String {
      String(decoding: await world.call("POST", "/v3/devices/status/", body).body, as: UTF8.self)
    }
    // 1790000000 s are 2026-09-21T14:13:20Z.
    let seen = #"{"online":false,"last_online_time":"2026-09-21 22:13:20"}"#
    let online = #"{"online":true}"#
    #expect(await status() == #"{"\#(here.text)":\#(online),"\#(away.text)":\#(online),"x":{}}"#)
    world.clock.advance(seconds: 599)
    #expect(await status() == #"{"\#(here.text)":\#(online),"\#(away.text)":\#(online),"x":{}}"#)
    world.clock.advance(seconds: 1)
    #expect(await status() == #"{"\#(here.text)":\#(seen),"\#(away.text)":\#(seen),"x":{}}"#)
    world.clock.advance(seconds: 2 * 86_400 - 600)
    let gone = #"{"online":false}"#
    #expect(await status() == #"{"\#(here.text)":\#(gone),"\#(away.text)":\#(gone),"x":{}}"#)
  }

  /// Lists and names at their largest are taken, one more is refused.
  @Test func limits() async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    func names(_ count: Int, _ size: Int, _ prefix: String = "t") -> String {
      (0..<count).map { index in
        let name = "\(prefix)\(index)"
        return "\"\(name)\(String(repeating: "_", count: max(0, size - name.utf8.count)))\""
      }.joined(separator: ",")
    }
    func tags(_ list: String, _ key: String = "add") async -> String {
      await update(world, id, #"{"tags":{"\#(key)":[\#(list)]}}"#)
    }
    #expect(await tags(names(100, 4)) == "200")
    #expect(await tags(names(101, 4)) == "400 7002")
    #expect(await tags(names(25, 40)) == "200")
    #expect(await tags(names(25, 40) + #","x""#) == "400 7002")
    #expect(await tags(names(1, 41)) == "400 7002")
    let both = #"{"tags":{"add":[\#(names(20, 40))],"remove":[\#(names(6, 40, "u"))]}}"#
    #expect(await update(world, id, both) == "400 7002")
    #expect(await update(world, id, #"{"tags":""}"#) == "200")
    for part in 0..<10 { #expect(await tags(names(100, 1, "p\(part)_")) == "200") }
    #expect(await tags(#""one more""#.filter { $0 != " " }) == "400 7002")
    #expect(await tags(names(1, 1, "p0_")) == "200")
    let full = #"{"registration_ids":{"add":["\#(id.text)"]}}"#
    #expect(await world.call("POST", "/v3/tags/onemore", full).outcome == "400 7002")
    let many = Array(repeating: 0, count: 1001).indices.map { "\"\($0)\"" }.joined(separator: ",")
    for (path, key) in [("tags/t", "add"), ("tags/t", "remove"), ("aliases/t", "remove")] {
      let body = #"{"registration_ids":{"\#(key)":[\#(many)]}}"#
      #expect(await world.call("POST", "/v3/\(path)", body).outcome == "400 7002")
    }
    let status = await world.call("POST", "/v3/devices/status", #"{"registration_ids":[\#(many)]}"#)
    #expect(status.outcome == "400 7002")
  }

  /// An update that names unknown devices changes nothing and tells which they are.
  @Test func illegalRegistrationIDs() async throws {
    let world = try await GatewayWorld()
    let known = try await world.register()
    let unknown = "0123456789abcdef012"
    for (ids, expected) in [([unknown], "400 7002"), ([known.text, unknown], "400 7013")] {
      let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
      for key in ["add", "remove"] {
        let answer = await world.call("POST", "/v3/tags/a", #"{"registration_ids":{"\#(key)":[\#(list)]}}"#)
        #expect(answer.outcome == expected)
        #expect(answer.json?["error"]?["illegal_rids"] == [.string(unknown)])
      }
    }
    #expect(world.app.directory.firstTags(100) == [])
  }

  /// All that are at fault in one answer: a client that imports IDs from elsewhere may have many.
  @Test(arguments: ["tags/a", "aliases/a"])
  func `Malformed registration IDs are named beside unknown ones`(path: String) async throws {
    let world = try await GatewayWorld()
    let (known, unknown) = (try await world.register(), "0123456789abcdef012")
    for (ids, expected) in [
      ([known.text, "0207870f1b8", unknown, "zz"], "400 7013"), ([unknown, "zz"], "400 7002"),
      (["zz"], "400 7002"), ([known.text, "zz"], "400 7013"),
    ] {
      let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
      let answer = await world.call("POST", "/v3/\(path)", #"{"registration_ids":{"remove":[\#(list)]}}"#)
      #expect(answer.outcome == expected, "\(ids)")
      let named = answer.json?["error"]?["illegal_rids"]?.array?.compactMap(\.string) ?? []
      #expect(named.sorted() == ids.filter { $0 != known.text }.sorted())
    }
  }
}
