import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import API

/// What a group learns of its pushes and of its apps' users (JPush REST v3, group reports).
@Suite(.timeLimit(.minutes(2))) struct GroupReportTests {
  private static let push =
    #"{"platform":"all","audience":"all","notification":{"alert":"x"},"message":{"msg_content":"y"}}"#

  private let world: GatewayWorld
  private let second: App
  private let group: TestGroup

  init() async throws {
    world = try await GatewayWorld()
    second = try await world.addApp()
    // The third app has no device, so its part of each push is refused.
    group = try await world.makeGroup([world.app, second, try await world.addApp()])
  }

  private func report(_ ids: String) async throws -> [JSONValue] {
    try await world.settle()
    let answer = await world.call(group, "GET", "/v3/group/messages/detail?group_msgids=\(ids)")
    #expect(answer.status == 200)
    return try #require(answer.json?.array)
  }

  private func acknowledge(_ id: String?, by device: RegistrationID, in app: App) throws {
    let id = try #require(id.flatMap { MessageID(decimal: Array($0.utf8)) })
    let number = try #require(app.directory.find(device))
    world.router.deliveries.acknowledge([id], by: number, in: app)
    world.router.deliveries.note([(id, true)], by: number, in: app)
  }

  /// The counts of all apps together, in the shapes of an app's own report.
  @Test func `A push is told as the sum over the apps`() async throws {
    let androids = [try await world.register(), try await world.register(in: second)]
    let phone = try await world.register(platform: .ios, in: second)
    let sent = try #require(await world.call(group, "POST", "/v3/grouppush", Self.push).json)
    let id = try #require(sent["group_msgid"]?.string)
    for (app, device) in zip([world.app, second], androids) {
      try acknowledge(sent[app.key.text]?["msg_id"]?.string, by: device, in: app)
    }
    try acknowledge(sent[second.key.text]?["msg_id"]?.string, by: phone, in: second)
    let found = try await report(" \(id), ,")
    #expect(
      found
        == [
          [
            "group_msgid": .string(id),
            "jpush": [
              "target": 2, "online_push": nil, "sent": 2, "received": 2, "display": 2, "click": 2,
              "msg_click": nil,
            ],
            "android_pns": [
              "pns_target": nil, "pns_sent": nil, "pns_received": nil, "pns_display": nil, "xm_detail": nil,
              "hw_detail": nil, "honor_detail": nil, "mz_detail": nil, "oppo_detail": nil,
              "vivo_detail": nil, "asus_detail": nil, "fcm_detail": nil, "nio_detail": nil,
            ],
            "ios": [
              "apns_target": nil, "apns_sent": nil, "apns_received": nil, "apns_display": nil,
              "apns_click": nil, "msg_target": 1, "msg_received": 1, "msg_display": 1, "msg_click": 1,
            ], "hmos": nil,
          ]
        ].map { $0 })
  }

  /// Neither a number that means nothing, nor another group's push, nor an app's own push is told of.
  @Test func `A group learns of its own pushes only`() async throws {
    _ = try await world.register()
    let other = try await world.makeGroup([world.app])
    let theirs = await world.call(other, "POST", "/v3/grouppush", Self.push).json
    let id = try #require(theirs?["group_msgid"]?.string)
    let part = try #require(theirs?[world.app.key.text]?["msg_id"]?.string)
    let found = try await report("\(id),7,\(part)")
    #expect(found.map { $0["group_msgid"]?.string } == [id, "7", part])
    for element in found {
      for member in element.object?.members.dropFirst() ?? [] {
        let values = member.value.object?.members.map(\.value) ?? [member.value]
        #expect(values.allSatisfy { $0.isNull })
      }
    }
  }

  @Test func `What is asked wrongly is refused`() async throws {
    let eleven = (1...11).map(String.init).joined(separator: ",")
    for query in ["", "?group_msgids=", "?group_msgids=x", "?group_msgids=\(eleven)", "?msg_ids=1"] {
      let answer = await world.call(group, "GET", "/v3/group/messages/detail\(query)")
      #expect(answer.outcome == "400 3002", "\(query)")
    }
    let path = "/v3/group/messages/detail?group_msgids=1"
    #expect(await world.call("GET", path).outcome == "401 3001")
    #expect(await world.call("GET", path, authorization: nil).outcome == "401 3001")
    #expect(await world.call("GET", "/v3/group/users").outcome == "401 3001")
    #expect(await world.call(group, "GET", "/v3/users").outcome == "401 3001")
    #expect(await world.call(group, "GET", "/v3/group/users").outcome == "400 3002")
    let old = "/v3/group/users?time_unit=DAY&start=2026-01-01&duration=1"
    #expect(await world.call(group, "GET", old).outcome == "400 3005")
  }

  /// The test's clock stands at 2026-09-21 22:13:20 in China.
  @Test func `Users are those of all apps`() async throws {
    for app in [world.app, second, second] { _ = try await world.register(in: app) }
    _ = try await world.register(platform: .ios, in: second)
    let outsider = try await world.addApp()
    _ = try await world.register(in: outsider)
    world.router.finish()
    try await world.settle()
    for (unit, start, count) in [("DAY", "2026-09-21", 1), ("HOUR", "2026-09-21%2022", 2)] {
      let query = "time_unit=\(unit)&start=\(start)&duration=\(count)"
      let json = await world.call(group, "GET", "/v3/group/users?\(query)").json
      #expect(json?["items"]?.array?.count == count)
      let item = json?["items"]?.array?.first
      #expect(item?["android"] == ["new": 3] && item?["ios"] == ["new": 1], "\(unit)")
    }
    let empty = try await world.makeGroup([])
    let nobody = await world.call(
      empty, "GET", "/v3/group/users?time_unit=DAY&start=2026-09-21&duration=1")
    #expect(nobody.json?["items"] == [["time": "2026-09-21"]])
  }

  /// What is deleted cannot be counted any more, and spoils nothing.
  @Test func `An app that is gone is left out`() async throws {
    _ = try await world.register()
    _ = try await world.register(in: second)
    let sent = try #require(await world.call(group, "POST", "/v3/grouppush", Self.push).json)
    let id = try #require(sent["group_msgid"]?.string)
    #expect(try await report(id).first?["jpush"]?["target"] == 2)
    let gone = second.id
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.apps.delete(gone, at: Timestamp(milliseconds: 1))
    }
    while world.router.apps.loaded(second.key) != nil { world.router.tick() }
    #expect(try await report(id).first?["jpush"]?["target"] == 1)
  }
}
