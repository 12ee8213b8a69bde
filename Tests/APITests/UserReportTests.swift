import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API

/// `GET /v3/users` and `GET /v1/stats`. The test's clock stands at 2026-09-21 22:13:20 in China.
@Suite struct UserReportTests {
  private let world: GatewayWorld

  init() async throws { world = try await GatewayWorld() }

  private func users(_ unit: String, _ start: String, _ duration: Int) async -> HTTPResponse {
    let start = start.map { $0 == " " ? "%20" : String($0) }.joined()
    return await world.call("GET", "/v3/users?time_unit=\(unit)&start=\(start)&duration=\(duration)")
  }

  /// A device comes and goes; in front if it says so.
  private func visit(_ platform: Platform, isForeground: Bool) async throws {
    let secret = await awaitCallback { done in
      world.router.registrations.register(
        in: world.app, platform: platform, fingerprint: [], tokens: [], appVersion: ""
      ) { done($0) }
    }
    let device = try secret.get()
    let location = Location(loop: 0, slot: 1, generation: 1)
    guard
      case .accepted(let number, _, _, _) = world.app.directory.login(
        device.id, secretHash: SHA256.digest128(device.secret), at: location, isForeground: isForeground)
    else {
      Issue.record("no login")
      return
    }
    world.app.directory.disconnect(number, from: location, at: UInt32(clamping: world.clock.now().seconds))
  }

  private func store() async throws {
    world.router.finish()
    try await world.settle()
  }

  @Test func usersOfDays() async throws {
    try await visit(.android, isForeground: true)
    try await visit(.android, isForeground: false)
    try await store()
    try await visit(.ios, isForeground: true)
    try await store()
    world.clock.advance(seconds: 86_400)
    try await visit(.android, isForeground: true)
    try await store()
    #expect(
      await users("DAY", "2026-09-21", 3).json == [
        "time_unit": "DAY", "start": "2026-09-21", "duration": 3,
        "items": [
          [
            "time": "2026-09-21", "android": ["new": 2, "online": 2, "active": 1],
            "ios": ["new": 1, "online": 1, "active": 1],
          ],
          ["time": "2026-09-22", "android": ["new": 1, "online": 1, "active": 1]],
          ["time": "2026-09-23"],
        ],
      ])
    #expect(
      await users("month", "2026-09", 1).json?["items"] == [
        [
          "time": "2026-09", "android": ["new": 3, "online": 3, "active": 2],
          "ios": ["new": 1, "online": 1, "active": 1],
        ]
      ])
  }

  /// HOUR ends with the day, whatever the duration.
  @Test func usersOfHours() async throws {
    try await visit(.android, isForeground: true)
    try await store()
    let answer = await users("HOUR", "2026-09-21 04", 24).json
    #expect(answer?["duration"] == 24 && answer?["items"]?.array?.count == 20)
    #expect(
      answer?["items"]?.array?[18] == [
        "time": "2026-09-21 22", "android": ["new": 1, "online": 1, "active": 1],
      ])
    #expect(answer?["items"]?.array?[19] == ["time": "2026-09-21 23"])
  }

  @Test func refused() async {
    let calls: [(unit: String, start: String, duration: Int, code: Int)] = [
      ("DAY", "2026-09-21 04", 1, 3004), ("HOUR", "2026-09-21", 1, 3004), ("MONTH", "2026-09-21", 1, 3004),
      ("WEEK", "2026-09-21", 1, 3002), ("DAY", "2026-09-21", 61, 3002), ("DAY", "2026-09-21", 0, 3002),
      ("DAY", "2026-07-01", 1, 3005), ("MONTH", "2026-06", 1, 3005), ("HOUR", "2026-09-20 04", 1, 3002),
      ("MONTH", "2026-09", 3, 3002), ("DAY", "2026-09-22", 1, 3002), ("MONTH", "2026-10", 1, 3002),
      ("HOUR", "2026-09-22 00", 1, 3002), ("MONTH", "9999-12", 1, 3002), ("DAY", "9999-12-31", 2, 3002),
    ]
    for call in calls {
      #expect(await users(call.unit, call.start, call.duration).errorCode == call.code, "\(call)")
    }
  }

  @Test func missing() async {
    for query in ["", "?time_unit=DAY", "?time_unit=DAY&start=2026-09-21"] {
      #expect(await world.call("GET", "/v3/users\(query)").outcome == "400 3002", "\(query)")
    }
  }

  /// Counts by hour, in the same commits as what they count.
  @Test func counts() async throws {
    let devices = try await world.registerMany(3)
    let numbers = devices.compactMap { world.app.directory.find($0) }
    let id = try #require(await world.push().messageID)
    world.clock.advance(seconds: 2)
    let arrival = Arrival(id, acknowledgedAt: world.clock.now(), age: 0)
    world.router.deliveries.acknowledge(
      [arrival], by: numbers[0], in: world.app, newestWhileAway: MessageID(0))
    world.router.deliveries.acknowledge([arrival], by: numbers[1], in: world.app, newestWhileAway: id)
    world.router.deliveries.note([(id, false), (id, true)], by: numbers[0], in: world.app)
    try await store()
    let answer = await world.call("GET", "/v1/stats?unit=hour&from=2026-09-21%2022&to=2026-09-21%2023").json
    let item = answer?["items"]?.array?[0]
    #expect(answer?["unit"] == "hour" && answer?["items"]?.array?.count == 1)
    #expect(item?["time"] == "2026-09-21 22" && item?["pushes"] == 1 && item?["targets"] == 3)
    #expect(item?["delivered"] == ["connection": 2, "apns": 0])
    #expect(item?["shown"] == 1 && item?["tapped"] == 1 && item?["refused"] == 0)
    let median = item?["latency_ms"]?["p50"]?.int64 ?? 0
    #expect((2000...2900).contains(median), "who was away does not count: \(median)")
    let days = await world.call("GET", "/v1/stats?unit=day&from=2026-09-20&to=2026-09-21").json
    #expect(days?["items"]?.array?[0]["time"] == "2026-09-21")
    for bad in [
      "", "?unit=week", "?unit=hour&from=2026-09-21&to=2026-09-22", "?unit=day&from=2026-09-22&to=2026-09-21",
      "?unit=day&from=2020-09-22&to=2026-09-21",
    ] {
      #expect(await world.call("GET", "/v1/stats\(bad)").outcome == "400 3002", "\(bad)")
    }
  }
}
