import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// Schedules with the extension `"zone": "device"`. The clock stands at 22:13:20 in UTC+8 at first, which is
/// 14:13:20 in UTC.
@Suite(.timeLimit(.minutes(2))) struct DeviceClockAPITests {
  private static func single(_ time: String, zone: String = "device") -> String {
    #"{"single":{"time":"\#(time)","zone":"\#(zone)"}}"#
  }

  private static func device(in zone: String, _ world: GatewayWorld) async throws -> RegistrationID {
    let new = try await world.router.newDevice(in: world.app)
    let body =
      #"{"app_key":"\#(world.app.key.text)","registration_id":"\#(new.id.text)","#
      + #""secret":"\#(Hex.encode(new.secret))","facts":{"time_zone":"\#(zone)"}}"#
    #expect(await world.call("POST", "/v1/facts", body, authorization: nil).status == 200)
    return new.id
  }

  private static func want(_ facts: String, _ world: GatewayWorld) async {
    #expect(await world.call("PUT", "/v1/facts/wanted", #"{"wanted":[\#(facts)]}"#).status == 200)
  }

  @Test func `Devices get it at their own time, from Auckland to Los Angeles`() async throws {
    let world = try await GatewayWorld()
    await Self.want(#""time_zone""#, world)
    var devices: [RegistrationID] = []
    for zone in ["Pacific/Auckland", "Asia/Tokyo", "nowhere", "Europe/Berlin", "America/Los_Angeles"] {
      devices.append(try await Self.device(in: zone, world))
    }
    let id = await world.makeSchedule(Self.single("2026-09-23 09:00:00"))
    #expect(id.count == 36)
    let shown = await world.call("GET", "/v3/schedules/\(id)")
    #expect(shown.json?["trigger"] == ["single": ["time": "2026-09-23 09:00:00", "zone": "device"]])
    // In UTC; the clocks of the server are those of China.
    let moments = [
      "2026-09-22 21:00:00", "2026-09-23 00:00:00", "2026-09-23 01:00:00", "2026-09-23 07:00:00",
      "2026-09-23 16:00:00",
    ]
    for (number, text) in moments.enumerated() {
      let moment = FixedZone(secondsEast: 0).moment(of: try #require(LocalTime(text)))
      let wait = moment.seconds - world.clock.now().seconds
      world.clock.advance(seconds: wait - 1)
      await world.tick()
      #expect(await world.runs(of: id).count == number, "\(text)")
      world.clock.advance(seconds: 1)
      for _ in 0..<2 { await world.tick() }
      #expect(await world.runs(of: id).count == number + 1, "\(text)")
    }
    #expect(await world.runs(of: id) == ["0", "0", "0", "0", "0"])
    #expect(devices.allSatisfy { world.pending($0).count == 1 })
    world.clock.advance(seconds: 86_400)
    await world.tick()
    #expect(await world.runs(of: id).count == 5)
    #expect(world.metrics.render().contains("borealis_schedules_fired_total 5\n"))
    let list = await world.call("GET", "/v3/schedules")
    #expect(list.json?["total_count"] == 0)
  }

  @Test func `A periodical schedule keeps its zone, and may change it`() async throws {
    let world = try await GatewayWorld()
    await Self.want(#""time_zone""#, world)
    let daily = world.daily(in: 60)
    let own = daily.replacing(#""time_unit""#, with: #""zone":"device","time_unit""#)
    let id = await world.makeSchedule(own)
    func zone() async -> JSONValue? {
      await world.call("GET", "/v3/schedules/\(id)").json?["trigger"]?["periodical"]?["zone"]
    }
    #expect(await zone() == "device")
    #expect(await world.call("PUT", "/v3/schedules/\(id)", #"{"trigger":\#(daily)}"#).status == 200)
    #expect(await zone() == nil, "the server's zone is not named")
    let server = daily.replacing(#""time_unit""#, with: #""zone":"server","time_unit""#)
    #expect(await world.call("PUT", "/v3/schedules/\(id)", #"{"trigger":\#(server)}"#).status == 200)
    #expect(await zone() == nil)
    #expect(await world.call("PUT", "/v3/schedules/\(id)", #"{"trigger":\#(own)}"#).status == 200)
    #expect(await zone() == "device")
  }

  /// The push of a schedule that does not go with it, the trigger, and what the answer names.
  @Test(arguments: [
    (single("2026-09-23 09:00:00", zone: "Asia/Tokyo"), GatewayWorld.schedulePush, "trigger.single.zone"),
    (
      #"{"single":{"time":"2026-09-23 09:00:00","zone":7}}"#, GatewayWorld.schedulePush, "trigger.single.zone"
    ),
    // Over everywhere: 12 hours behind UTC it is 02:13:20.
    (single("2026-09-21 02:00:00"), GatewayWorld.schedulePush, "trigger.single.time"),
    (
      single("2026-09-23 09:00:00"),
      #"{"platform":"all","audience":"all","notification":{"alert":"x"},"options":{"override_msg_id":1}}"#,
      "override_msg_id"
    ),
  ])
  func `What cannot be is refused with its name`(trigger: String, push: String, name: String) async throws {
    let world = try await GatewayWorld()
    await Self.want(#""time_zone""#, world)
    let answer = await world.call("POST", "/v3/schedules", GatewayWorld.schedule(trigger, push: push))
    #expect(answer.outcome == "400 8100")
    #expect(answer.json?["error"]?["message"]?.string?.contains(name) == true, "\(answer)")
  }

  @Test func `A/B tests have one audience`() async throws {
    let world = try await GatewayWorld()
    await Self.want(#""time_zone""#, world)
    let contents = #""contents":[{"alert":"a"},{"alert":"b"}]"#
    let body = #"{"name":"n",\#(contents),"share":50,"after":60,"audience":"all"}"#
    let test = try #require(await world.call("POST", "/v1/abtests", body).json?["id"]?.string)
    let push = #"{"platform":"all","audience":{"abtest":["\#(test)"]},"notification":{"alert":"-"}}"#
    let trigger = Self.single("2026-09-23 09:00:00")
    let answer = await world.call("POST", "/v3/schedules", GatewayWorld.schedule(trigger, push: push))
    #expect(answer.outcome == "400 8100")
    #expect(answer.json?["error"]?["message"]?.string?.contains("audience.abtest") == true, "\(answer)")
    // A schedule that names one cannot come to follow the devices.
    let zone = #"{"single":{"time":"2026-09-23 09:00:00"}}"#
    let id = await world.makeSchedule(zone, push: push)
    let update = await world.call("PUT", "/v3/schedules/\(id)", #"{"trigger":\#(trigger)}"#)
    #expect(update.outcome == "400 8100")
  }

  @Test func `The app has to ask for the fact`() async throws {
    let world = try await GatewayWorld()
    let body = GatewayWorld.schedule(Self.single("2026-09-23 09:00:00"))
    let answer = await world.call("POST", "/v3/schedules", body)
    #expect(answer.outcome == "400 8100")
    #expect(answer.json?["error"]?["message"]?.string?.contains("time_zone") == true)
    await Self.want(#""time_zone""#, world)
    #expect(await world.call("POST", "/v3/schedules", body).status == 200)
  }

  /// A push to everybody that goes around the earth is one of the day's broadcasts.
  @Test func `All zones together are one broadcast`() async throws {
    let world = try await GatewayWorld()
    await Self.want(#""time_zone""#, world)
    var plan = PlanRow(name: "few")
    plan.broadcasts = 1
    try await world.setPlan(plan)
    for zone in ["Asia/Tokyo", "Asia/Shanghai"] { _ = try await Self.device(in: zone, world) }
    let ids = [
      await world.makeSchedule(Self.single("2026-09-22 09:00:00")),
      await world.makeSchedule(Self.single("2026-09-22 09:30:00")),
    ]
    world.clock.advance(seconds: 12 * 3600)
    await world.tick()
    #expect(await world.runs(of: ids[0]) == ["0", "0"])
    #expect(await world.runs(of: ids[1]) == ["2008"])
  }
}
