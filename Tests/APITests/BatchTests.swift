import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

@Suite struct BatchTests {
  private static let byID = "/v3/push/batch/regid/single"
  private static let byAlias = "/v3/push/batch/alias/single"

  private static func batch(_ entries: [(cid: String, entry: String)]) -> String {
    let list = entries.map { "\"\($0.cid)\":\($0.entry)" }.joined(separator: ",")
    return "{\"pushlist\":{\(list)}}"
  }

  /// What each entry came to: `sent`, or the code.
  private static func outcomes(_ response: HTTPResponse) -> [String: String] {
    var found: [String: String] = [:]
    for member in response.json?.object?.members ?? [] {
      let isSent = member.value["msg_id"]?.string.flatMap { MessageID(decimal: Array($0.utf8)) } != nil
      found[member.key] =
        isSent && member.value.object?.count == 1
        ? "sent" : (member.value["error"]?["code"]?.int64).map { "\($0)" } ?? "malformed"
    }
    return found
  }

  @Test func `Each entry is answered for itself, under its cid`() async throws {
    let world = try await GatewayWorld()
    let (anna, ben) = (try await world.register(), try await world.register(platform: .ios))
    let key = world.app.key.text
    let other = try await world.addApp()
    let content = #""platform":"all","notification":{"alert":"x"}"#
    let cases: [(cid: String, entry: String, expected: String)] = [
      ("\(key)-1", "{\"target\":\"\(anna.text)\",\(content)}", "sent"),
      (
        "\(key)-2",
        "{\"target\":\"\(ben.text)\",\"platform\":[\"ios\"],\"message\":{\"msg_content\":\"x\"},\"options\":{\"time_to_live\":60}}",
        "sent"
      ),
      ("\(key)-3", "{\"target\":\"0123456789abcdef012\",\(content)}", "1011"),
      ("\(key)-4", "{\"target\":\"nonsense\",\(content)}", "1003"),
      ("\(key)-5", "{\(content)}", "1002"),
      ("\(key)-6", "{\"target\":null,\(content)}", "1002"),
      ("\(key)-7", "{\"target\":[\"\(anna.text)\"],\(content)}", "1003"),
      ("\(key)-8", "{\"target\":\"\(anna.text)\",\"platform\":\"all\"}", "1002"),
      ("\(key)-9", "{\"target\":\"\(anna.text)\",\"audience\":\"all\",\(content)}", "1009"),
      ("\(key)-10", "{\"target\":\"\(anna.text)\",\"cid\":\"\(key)-x\",\(content)}", "1009"),
      ("\(key)-11", "[]", "1003"),
      (
        "\(key)-12",
        "{\"target\":\"\(ben.text)\",\"platform\":[\"android\"],\"notification\":{\"alert\":\"x\"}}", "1011"
      ),
      ("\(key)-13", "{\"target\":\"\(ben.text)\",\(content),\"sms_message\":{\"temp_id\":1}}", "2007"),
      ("\(other.key.text)-1", "{\"target\":\"\(anna.text)\",\(content)}", "1003"),
      ("\(key)- ", "{\"target\":\"\(anna.text)\",\(content)}", "1003"),
    ]
    let response = await world.call("POST", Self.byID, Self.batch(cases.map { ($0.cid, $0.entry) }))
    #expect(response.status == 200)
    let found = Self.outcomes(response)
    for one in cases { #expect(found[one.cid] == one.expected, "\(one.cid)") }
    #expect(found.count == cases.count)
    #expect(world.pending(anna).count == 1)
    #expect(world.pending(ben).count == 1)
  }

  /// Each entry is a push: those that find no call left are refused, and may be sent again under the same
  /// names.
  @Test func `Entries count as calls`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    try await world.setPlan(PlanRow(name: "small", pushCalls: 5))
    let entry = "{\"target\":\"\(device.text)\",\"platform\":\"all\",\"notification\":{\"alert\":\"x\"}}"
    let cids = (1...7).map { "\(world.app.key.text)-\($0)" }
    let body = Self.batch(cids.map { ($0, entry) })
    let first = await world.call("POST", Self.byID, body)
    #expect(first.headers["x-rate-limit-remaining"] == "0")
    let found = Self.outcomes(first)
    #expect(cids.map { found[$0] } == Array(repeating: "sent", count: 5) + ["2002", "2002"])
    #expect(await world.call("POST", Self.byID, body).outcome == "429 2002")
    world.clock.advance(seconds: 60)
    let again = Self.outcomes(
      await world.call("POST", Self.byID, Self.batch(cids.suffix(3).map { ($0, entry) })))
    #expect(cids.suffix(3).allSatisfy { again[$0] == "sent" })
    #expect(world.pending(device).count == 7)
  }

  /// A client that got 2002 for some entries sends the whole batch again.
  @Test func `A batch that is repeated is complete in the end`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    try await world.setPlan(PlanRow(name: "small", pushCalls: 5))
    let entry = "{\"target\":\"\(device.text)\",\"platform\":\"all\",\"notification\":{\"alert\":\"x\"}}"
    let cids = (1...8).map { "\(world.app.key.text)-\($0)" }
    let body = Self.batch(cids.map { ($0, entry) })
    for (sent, left) in [(5, "0"), (8, "2"), (8, "1")] {
      let response = await world.call("POST", Self.byID, body)
      let found = Self.outcomes(response)
      let expected = Array(repeating: "sent", count: sent) + Array(repeating: "2002", count: 8 - sent)
      #expect(cids.map { found[$0] } == expected)
      #expect(response.headers["x-rate-limit-remaining"] == left)
      world.clock.advance(seconds: sent == 8 ? 0 : 62)
    }
    #expect(world.pending(device).count == 8)
  }

  @Test func `By alias, each device of it gets the push`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(3)
    for device in devices.prefix(2) {
      _ = await world.call("POST", "/v3/devices/\(device.text)", #"{"alias":"anna"}"#)
    }
    let key = world.app.key.text
    let content = #""platform":"all","notification":{"alert":"x"}"#
    let response = await world.call(
      "POST", Self.byAlias,
      Self.batch([
        ("\(key)-1", "{\"target\":\"anna\",\(content)}"), ("\(key)-2", "{\"target\":\"nobody\",\(content)}"),
        ("\(key)-3", "{\"target\":\"an na\",\(content)}"),
      ]))
    #expect(Self.outcomes(response) == ["\(key)-1": "sent", "\(key)-2": "1011", "\(key)-3": "1003"])
    #expect(devices.map { world.pending($0).count } == [1, 1, 0])
  }

  @Test func `A repeated batch gives the first answer and sends nothing`() async throws {
    let world = try await GatewayWorld()
    let devices = try await world.registerMany(2)
    let entries = devices.enumerated().map { index, device in
      (
        cid: "\(world.app.key.text)-\(index)",
        entry: "{\"target\":\"\(device.text)\",\"platform\":\"all\",\"notification\":{\"alert\":\"x\"}}"
      )
    }
    let first = await world.call("POST", Self.byID, Self.batch(entries))
    let second = await world.call("POST", Self.byID, Self.batch(entries.reversed()))
    for entry in entries {
      let id = first.json?[entry.cid]?["msg_id"]
      #expect(id != nil)
      #expect(second.json?[entry.cid]?["msg_id"] == id)
    }
    #expect(devices.map { world.pending($0).count } == [1, 1])
  }

  @Test func `A thousand entries in one body of over a megabyte are taken; one more is not`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let text = String(repeating: "x", count: 1500)
    let entries = (0...1000).map { index in
      (
        cid: "\(world.app.key.text)-\(index)",
        entry:
          "{\"target\":\"\(device.text)\",\"platform\":\"all\",\"message\":{\"msg_content\":\"\(text)\"}}"
      )
    }
    let refused = await world.call("POST", Self.byID, Self.batch(entries))
    #expect(refused.outcome == "400 1003")
    #expect(world.pending(device) == [])
    let taken = await world.call("POST", Self.byID, Self.batch(Array(entries.dropLast())))
    #expect(Self.outcomes(taken).values.allSatisfy { $0 == "sent" })
    #expect(Set(world.pending(device)).count == 1000)
  }

  /// The time for an entry grows with its members, not with their square: this one would take many minutes.
  @Test func `An entry with very many members is refused like any other`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let more = (0..<100_000).map { "\"k\($0)\":1" }.joined(separator: ",")
    let cid = "\(world.app.key.text)-1"
    let entry = "{\"target\":\"\(device.text)\",\"platform\":\"all\",\(more)}"
    let response = await world.call("POST", Self.byID, Self.batch([(cid, entry)]))
    #expect(Self.outcomes(response) == [cid: "1009"])
  }

  @Test(arguments: [
    ("", "400 1002"), ("{", "400 1003"), ("[]", "400 1003"), ("{}", "400 1002"),
    (#"{"pushlist":{}}"#, "400 1002"), (#"{"pushlist":[1]}"#, "400 1003"),
    (#"{"pushlist":null}"#, "400 1002"), (#"{"pushlist":{"a":1},"audience":"all"}"#, "400 1009"),
  ]) func `A body that is wrong as a whole is refused as a whole`(body: String, expected: String) async throws
  {
    let world = try await GatewayWorld()
    for path in [Self.byID, Self.byAlias] {
      #expect(await world.call("POST", path, body).outcome == expected)
    }
  }

  @Test func `Only these paths take larger bodies`() async throws {
    let world = try await GatewayWorld()
    let body = "{\"pushlist\":{\"a\":\"" + String(repeating: "x", count: 300_000) + "\"}}"
    #expect(await world.call("POST", "/v3/push", body).outcome == "400 1005")
    #expect(await world.call("POST", Self.byID, body).status == 200)
    let large = "{\"pushlist\":{\"a\":\"" + String(repeating: "x", count: 4 << 20) + "\"}}"
    #expect(await world.call("POST", Self.byID, large).outcome == "400 1005")
    #expect(Gateway.largestBody(GatewayLimits()) == 10 << 20 + 16 << 10)
  }
}
