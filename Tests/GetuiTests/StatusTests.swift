import BorealisBase
import BorealisCrypto
import Channels
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// What answers to pushes say of each device, and by which name.
@Suite(.timeLimit(.minutes(1))) struct StatusTests {
  /// A channel that reaches iPhones with a token for production.
  private final class Apple: ServiceChannel {
    let info = ChannelInfo.apns
    func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
      content.apnsOffers(strategy, .production)
    }
    func deliver(_ push: ChannelPush) {}
  }

  private struct Devices {
    let phone, pad, away, android: RegistrationID
  }

  /// An iPhone with a token and one without, whose apps are in the foreground, an iPhone with a token that is
  /// away, and an Android phone that is online.
  private func devices(_ world: GetuiWorld) async throws -> Devices {
    func make(_ platform: Platform, _ token: UInt8?, isOnline: Bool = true) async throws -> RegistrationID {
      let device = try await world.router.newDevice(
        in: world.app, platform: platform, environment: token == nil ? .none : .production,
        token: token.map { [UInt8](repeating: $0, count: 32) } ?? [])
      if isOnline {
        _ = world.app.directory.login(
          device.id, secretHash: SHA256.digest128(device.secret),
          at: Location(loop: 0, slot: device.number.rawValue, generation: 1), isForeground: true,
          since: UInt32(clamping: world.clock.now().seconds))
      }
      return device.id
    }
    return Devices(
      phone: try await make(.ios, 1), pad: try await make(.ios, nil),
      away: try await make(.ios, 2, isOnline: false), android: try await make(.android, nil))
  }

  /// By strategy and `ttl`: the status of the phone, the pad, the phone that is away, and Android.
  @Test(arguments: [
    (1, 3_600_000, ["online", "online", "offline", "online"]),
    (2, 3_600_000, ["offline", "ignore", "offline", "ignore"]),
    (3, 3_600_000, ["online", "online", "offline", "online"]),
    (3, -1, ["online", "online", "ignore", "online"]),
    (4, 3_600_000, ["offline", "online", "offline", "online"]),
  ])
  func `A status says what is done with the push`(
    strategy: Int, life: Int, expected: [String]
  ) async throws {
    let world = try await GetuiWorld()
    world.router.add(Apple())
    let devices = try await devices(world)
    let ids = [devices.phone, devices.pad, devices.away, devices.android]
    let rest =
      #""settings":{"ttl":\#(life),"strategy":{"default":\#(strategy)}},"push_message":{"transmission":"hi"},"#
      + #""push_channel":{"ios":{"aps":{"alert":{"title":"t","body":"b"}}}}"#
    for (place, id) in ids.enumerated() {
      let body = #"{"request_id":"request-000\#(place)","audience":{"cid":["\#(id.text)"]},\#(rest)}"#
      let single = await world.ask("POST", "/push/single/cid", body)
      #expect(
        single.json["data"]?.object?.members.first?.value
          == .object(JSONObject([id.text: .string("successed_\(expected[place])")])), "\(single.json)")
      // A repeated request has the same.
      #expect(await world.ask("POST", "/push/single/cid", body).body == single.body)
      let batch = await world.ask(
        "POST", "/push/single/batch/cid",
        #"{"msg_list":[\#(body.replacing("request-0", with: "request-1"))]}"#)
      #expect(
        batch.json["data"]?.object?.members.first?.value
          == single.json["data"]?.object?.members.first?.value)
    }
    let stored = await world.ask("POST", "/push/list/message", #"{"request_id":"request-0009",\#(rest)}"#)
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    let names = ids.map { "\"\($0.text)\"" }.joined(separator: ",")
    let list = await world.ask(
      "POST", "/push/list/cid", #"{"audience":{"cid":[\#(names)]},"taskid":"\#(task)"}"#)
    for (id, word) in zip(ids, expected) {
      #expect(list.json["data"]?[task]?[id.text]?.string == "successed_\(word)", "\(list.json)")
    }
  }

  @Test func `Who is left out of a list has the status of those who get nothing`() async throws {
    let world = try await GetuiWorld()
    let devices = try await devices(world)
    #expect(await world.ask("POST", "/user/black/cid/\(devices.android.text)").code == 0)
    // A notification for Android goes to no iPhone.
    let stored = await world.ask(
      "POST", "/push/list/message",
      #"{"request_id":"request-0001","push_message":{"notification":{"title":"t","body":"b","click_type":"none"}}}"#
    )
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    let other = try await world.register()
    let names = [devices.android, devices.phone, other].map { "\"\($0.text)\"" }.joined(separator: ",")
    let list = await world.ask(
      "POST", "/push/list/cid", #"{"audience":{"cid":[\#(names)]},"taskid":"\#(task)"}"#)
    let expected: JSONValue = .object(
      JSONObject([
        devices.android.text: "successed_ignore", devices.phone.text: "successed_ignore",
        other.text: "successed_offline",
      ]))
    #expect(list.json["data"]?[task] == expected, "\(list.json)")
  }

  @Test func `A batch that is refused whole is an error, also if it is asynchronous`() async throws {
    let world = try await GetuiWorld()
    let id = try await world.register()
    func message(_ number: Int, _ cid: String) -> String {
      #"{"request_id":"request-000\#(number)","audience":{"cid":["\#(cid)"]},"push_message":{"transmission":"x"}}"#
    }
    func send(_ messages: [String]) async -> HTTPResponse {
      await world.ask(
        "POST", "/push/single/batch/cid",
        #"{"is_async":true,"msg_list":[\#(messages.joined(separator: ","))]}"#)
    }
    let refused = await send([message(1, "nobody"), message(2, "nobody")])
    #expect(refused.code == 20001 && refused.status == 400 && refused.message == "target user is invalid")
    let mixed = await send([message(3, id.text), message(4, "nobody")])
    #expect(
      mixed.code == 0 && mixed.json["data"]?["request-0004"] == ["nobody": "20001: target user is invalid"])
    let whole = await send([message(5, id.text)])
    #expect(whole.code == 0 && whole.json["data"] == nil)
    #expect(world.pending(id).count == 2)
  }

  // MARK: Names

  @Test func `An imported device keeps its CID in every answer`() async throws {
    let world = try await GetuiWorld()
    let cid = "c0ffee00c0ffee00c0ffee00c0ffee00"
    let id = ImportedID.registrationID(cid, in: world.app.key)
    let (app, now) = (world.app.id, world.clock.now())
    try await world.store.change { transaction throws(StorageError) in
      _ = try RegistrationImport(into: app, adoption: .token, at: now).add(
        [ImportedRegistration(registrationID: id, platform: .android, alias: "anna", formerID: cid)],
        in: transaction)
    }
    while world.app.directory.find(id) == nil {
      world.router.tick()
      try await world.store.change { _ throws(StorageError) in }
    }
    let native = try await world.register()
    let bind = #"{"data_list":[{"cid":"\#(native.text)","alias":"anna"}]}"#
    #expect(await world.ask("POST", "/user/alias", bind).code == 0)
    let holders = await world.ask("GET", "/user/cid/alias/anna").json["data"]?["cid"]?.array
    #expect(holders == [.string(cid), .string(native.text)])
    // Nothing waits for an imported device before it has come.
    let expected = JSONValue.object(
      JSONObject([cid: "successed_ignore", native.text: "successed_offline"]))
    let message = #""push_message":{"transmission":"hi"}"#
    let single = #"{"request_id":"request-0001","audience":{"alias":["anna"]},\#(message)}"#
    let answer = await world.ask("POST", "/push/single/alias", single)
    #expect(answer.json["data"]?.object?.members.first?.value == expected, "\(answer.json)")
    let batch = await world.ask(
      "POST", "/push/single/batch/alias",
      #"{"msg_list":[\#(single.replacing("request-0001", with: "request-0002"))]}"#)
    #expect(batch.json["data"]?.object?.members.first?.value == expected, "\(batch.json)")
    let stored = await world.ask("POST", "/push/list/message", #"{"request_id":"request-0003",\#(message)}"#)
    let task = try #require(stored.json["data"]?["taskid"]?.string, "\(stored.message)")
    for isDetailed in [false, true] {
      let list = await world.ask(
        "POST", "/push/list/alias",
        #"{"audience":{"alias":["anna"]},"taskid":"\#(task)","need_alias_detail":\#(isDetailed)}"#)
      let found = list.json["data"]?[task]
      #expect((isDetailed ? found?["anna"] : found) == expected, "\(list.json)")
    }
  }
}
