import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import API

/// Calls that change several devices change all of them or none, in memory and in the database, and name who
/// stands in the way.
@Suite struct SeveralDevicesTests {
  private static func list(_ ids: [RegistrationID]) -> String {
    ids.map { "\"\($0.text)\"" }.joined(separator: ",")
  }

  /// Gives a device as many tags as it may have.
  private func fill(_ id: RegistrationID, in world: GatewayWorld) async {
    for part in 0..<10 {
      let names = (0..<100).map { "\"f\(part)_\($0)\"" }.joined(separator: ",")
      let answer = await world.call("POST", "/v3/devices/\(id.text)", #"{"tags":{"add":[\#(names)]}}"#)
      #expect(answer.status == 200)
    }
  }

  private func tags(of id: RegistrationID, in world: GatewayWorld) async -> [String] {
    let answer = await world.call("GET", "/v3/devices/\(id.text)")
    return answer.json?["tags"]?.array?.compactMap(\.string) ?? []
  }

  /// The one that is full may be anywhere among a thousand.
  @Test(arguments: [0, 599, 999]) func aFullDeviceKeepsATagFromAll(place: Int) async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(1000)
    let leaving = try await world.registerMany(3)
    let goes = #"{"registration_ids":{"add":[\#(Self.list(leaving))]}}"#
    #expect(await world.call("POST", "/v3/tags/vip", goes).outcome == "200")
    await fill(ids[place], in: world)
    let known = world.app.directory.firstTags(100)
    let lists = #""add":[\#(Self.list(ids))],"remove":[\#(Self.list(leaving))]"#
    for tag in ["vip", "quite_new"] {
      let answer = await world.call("POST", "/v3/tags/\(tag)", #"{"registration_ids":{\#(lists)}}"#)
      #expect(answer.outcome == "400 7002")
      #expect(answer.json?["error"]?["illegal_rids"] == [.string(ids[place].text)])
    }
    #expect(world.app.directory.firstTags(100) == known, "no tag was made for it")
    for id in ids.prefix(3) + ids.suffix(3) where id != ids[place] {
      #expect(await tags(of: id, in: world).isEmpty)
    }
    let numbers = ids.compactMap { world.app.directory.find($0) }
    #expect(!numbers.contains { world.app.directory.hasTag("vip", $0) })
    for id in leaving { #expect(await tags(of: id, in: world) == ["vip"]) }
    // Without it all of the others are changed.
    let rest = ids.enumerated().filter { $0.offset != place }.map(\.element)
    let good = #"{"registration_ids":{"add":[\#(Self.list(rest))],"remove":[\#(Self.list(leaving))]}}"#
    #expect(await world.call("POST", "/v3/tags/vip", good).outcome == "200")
    #expect(await tags(of: rest[998], in: world) == ["vip"])
    #expect(await tags(of: leaving[0], in: world).isEmpty)
  }

  /// A single device's refused tags leave no names behind.
  @Test func aRefusedTagIsNotMade() async throws {
    let world = try await GatewayWorld()
    let id = try await world.register()
    await fill(id, in: world)
    let body = #"{"tags":{"add":["one_more"]},"alias":"x","mobile":"13800000000"}"#
    let answer = await world.call("POST", "/v3/devices/\(id.text)", body)
    #expect(answer.outcome == "400 7002" && answer.json?["error"]?["illegal_rids"] == nil)
    let app = world.app.id
    let number = try await world.store.look { transaction throws(StorageError) in
      try transaction.tags.number(app: app, name: "one_more")
    }
    #expect(number == nil)
    #expect(await world.call("GET", "/v3/devices/\(id.text)").json?["alias"] == .null)
  }

  /// No device is to blame.
  @Test func `The app's tags have a limit of their own`() async throws {
    var routing = RouterOptions()
    routing.tags.ofApp = 2
    let world = try await GatewayWorld(routing: routing)
    let ids = try await world.registerMany(2)
    let list = #"{"registration_ids":{"add":[\#(Self.list(ids))]}}"#
    for tag in ["a", "b"] { #expect(await world.call("POST", "/v3/tags/\(tag)", list).outcome == "200") }
    let one = await world.call("POST", "/v3/devices/\(ids[0].text)", #"{"tags":{"add":["c"]}}"#)
    for answer in [one, await world.call("POST", "/v3/tags/c", list)] {
      #expect(answer.outcome == "400 7002" && answer.json?["error"]?["illegal_rids"] == nil)
      #expect(answer.json?["error"]?["message"]?.string?.contains("The app would have more than") == true)
    }
    #expect(await tags(of: ids[0], in: world) == ["a", "b"])
  }

  /// Two calls over the same devices at once: each is made as a whole, so that all devices end alike.
  @Test func twoAtOnce() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(300)
    let list = Self.list(ids)
    for _ in 0..<5 {
      async let one = world.call("POST", "/v3/tags/t", #"{"registration_ids":{"add":[\#(list)]}}"#)
      async let other = world.call("POST", "/v3/tags/t", #"{"registration_ids":{"remove":[\#(list)]}}"#)
      #expect(await [one.outcome, other.outcome] == ["200", "200"])
      let numbers = ids.compactMap { world.app.directory.find($0) }
      let count = numbers.count { world.app.directory.hasTag("t", $0) }
      #expect(count == 0 || count == 300)
      var stored = 0
      for id in ids { stored += await tags(of: id, in: world).count }
      #expect(stored == count, "memory and disk say the same")
    }
  }

  /// A database that takes no changes changes nothing in memory.
  @Test func nothingIsChangedWithoutTheDisk() async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(250)
    for id in ids.prefix(5) {
      #expect(await world.call("POST", "/v3/devices/\(id.text)", #"{"alias":"own"}"#).status == 200)
    }
    try await world.pragma("query_only = ON")
    let body = #"{"registration_ids":{"add":[\#(Self.list(ids))]}}"#
    #expect(await world.call("POST", "/v3/tags/t", body).outcome == "503 7030")
    let leave = #"{"registration_ids":{"remove":[\#(Self.list(Array(ids.prefix(5))))]}}"#
    #expect(await world.call("POST", "/v3/aliases/own", leave).outcome == "503 7030")
    #expect(world.app.directory.firstTags(100).isEmpty)
    #expect(world.app.directory.registrations(alias: "own").count == 5)
    try await world.pragma("query_only = OFF")
    #expect(await world.call("POST", "/v3/tags/t", body).outcome == "200")
    #expect(await world.call("POST", "/v3/aliases/own", leave).outcome == "200")
    #expect(world.app.directory.registrations(alias: "own").isEmpty)
  }

  /// To lose what one does not have is no error; to be unknown is one.
  @Test(arguments: ["aliases/a", "tags/a"]) func whoDoesNotHaveIt(path: String) async throws {
    let world = try await GatewayWorld()
    let ids = try await world.registerMany(3)
    for id in ids.prefix(2) {
      let body = #"{"alias":"a","tags":{"add":["a"]}}"#
      #expect(await world.call("POST", "/v3/devices/\(id.text)", body).outcome == "200")
    }
    let unknown = "0123456789abcdef012"
    func remove(_ list: String) async -> HTTPResponse {
      await world.call("POST", "/v3/\(path)", #"{"registration_ids":{"remove":[\#(list)]}}"#)
    }
    for (list, expected) in [
      ("\"\(unknown)\"", "400 7002"), (Self.list([ids[0]]) + ",\"\(unknown)\"", "400 7013"),
    ] {
      let answer = await remove(list)
      #expect(answer.outcome == expected)
      #expect(answer.json?["error"]?["illegal_rids"] == [.string(unknown)])
    }
    func holders() -> Int {
      let directory = world.app.directory
      guard path.hasPrefix("tags") else { return directory.registrations(alias: "a").count }
      return ids.compactMap { directory.find($0) }.count { directory.hasTag("a", $0) }
    }
    #expect(holders() == 2, "nothing was changed")
    for _ in 0..<2 { #expect(await remove(Self.list([ids[0], ids[2]])).outcome == "200") }
    #expect(holders() == 1)
  }
}
