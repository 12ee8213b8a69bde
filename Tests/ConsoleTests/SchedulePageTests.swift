import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Pushes that go later: the fields that say when, the form of what is scheduled, and the pages.
@Suite struct SchedulePageTests {
  // MARK: When

  private static func timing(_ fields: [String: String]) -> PushTiming {
    var timing = PushTiming()
    timing.mode = PushTiming.Mode(rawValue: fields["when"] ?? "") ?? .now
    timing.unit = PushTiming.Unit(rawValue: fields["unit"] ?? "") ?? .day
    timing.weekdays = Set((fields["weekdays"] ?? "").compactMap(\.wholeNumberValue))
    (timing.at, timing.time) = (fields["at"] ?? "", fields["time"] ?? "")
    (timing.from, timing.through) = (fields["from"] ?? "", fields["through"] ?? "")
    timing.monthDays = fields["month_days"] ?? ""
    timing.clocks = fields["clocks"] == "device" ? .device : .server
    return timing
  }

  /// 2023-11-14 22:13:20 UTC.
  private static let now = Timestamp(milliseconds: 1_700_000_000_000)

  private static let clocks = ScheduleClocks(
    server: FixedZone(secondsEast: 0), zones: TimeZones(["W": FixedZone(secondsEast: -12 * 3600)]))

  @Test(arguments: [
    (["when": "once", "at": "2023-11-15T08:00"], "once, 2023-11-15 08:00:00"),
    (
      ["when": "once", "at": "2023-11-14T20:00", "clocks": "device"],
      "once, 2023-11-14 20:00:00, each device's own time"
    ),
    (
      ["when": "repeating", "time": "08:00", "clocks": "device"],
      "every day at 08:00:00, from 2023-11-14 to 2024-11-13, each device's own time"
    ),
    (["when": "once", "at": "2023-11-15T08:00:30"], "once, 2023-11-15 08:00:30"),
    (
      ["when": "repeating", "time": "08:00"],
      "every day at 08:00:00, from 2023-11-14 to 2024-11-13"
    ),
    (
      [
        "when": "repeating", "unit": "week", "weekdays": "04", "time": "20:30", "from": "2023-12-01",
        "through": "2023-12-31",
      ],
      "every week (Mon, Fri) at 20:30:00, from 2023-12-01 to 2023-12-31"
    ),
    (
      ["when": "repeating", "unit": "month", "month_days": "31, 1", "time": "00:00", "from": "2024-01-01"],
      "every month (day 1, 31) at 00:00:00, from 2024-01-01 to 2024-12-31"
    ),
  ])
  func `Times become a trigger, and a trigger times`(fields: [String: String], words: String) throws {
    let timing = Self.timing(fields)
    let trigger = try #require(try timing.trigger(at: Self.now, by: Self.clocks))
    #expect(TriggerText.phrase(trigger).english == words)
    let form = try #require(PushTiming(trigger))
    #expect(try form.trigger(at: Self.now, by: Self.clocks) == trigger)
  }

  @Test(arguments: [
    (["when": "once"], "at"), (["when": "once", "at": "tomorrow"], "at"),
    (["when": "once", "at": "2023-11-14T22:13"], "at"),
    (["when": "once", "at": "2023-11-14T10:13", "clocks": "device"], "at"),
    (["when": "once", "at": "2025-01-01T08:00"], "at"),
    (["when": "repeating"], "time"),
    (["when": "repeating", "time": "08:00", "from": "2023-11-01", "through": "2023-11-14"], "time"),
    (["when": "repeating", "time": "08:00", "from": "1 May"], "from"),
    (["when": "repeating", "time": "08:00", "from": "2024-02-01", "through": "2024-01-01"], "through"),
    (["when": "repeating", "time": "08:00", "from": "2024-02-01", "through": "2026-01-01"], "through"),
    (["when": "repeating", "unit": "week", "time": "08:00"], "weekday_0"),
    (["when": "repeating", "unit": "month", "time": "08:00", "month_days": "1, 32"], "month_days"),
    (["when": "repeating", "unit": "month", "time": "08:00"], "month_days"),
  ])
  func `Each time that cannot be is named by its field`(fields: [String: String], field: String) throws {
    let error = #expect(throws: FieldProblem.self) {
      try Self.timing(fields).trigger(at: Self.now, by: Self.clocks)
    }
    #expect(error?.field == field)
  }

  @Test(arguments: [
    #"{"periodical":{"start":"2024-01-01 00:00:00","end":"2024-02-01 23:59:59","time":"08:00:00","time_unit":"day","frequency":2}}"#,
    #"{"periodical":{"start":"2024-01-01 12:00:00","end":"2024-02-01 23:59:59","time":"08:00:00","time_unit":"day","frequency":1}}"#,
  ])
  func `A trigger that the form has no fields for has no form`(json: String) throws {
    let trigger = try #require(ScheduleTrigger(stored: Array(json.utf8)))
    #expect(PushTiming(trigger) == nil)
  }

  // MARK: The form of a push object

  @Test func `The form of a push object says what the form that made it said`() throws {
    var forms: [PushForm] = []
    for audience in PushForm.Audience.allCases {
      for kind in PushForm.Kind.allCases {
        var form = PushForm()
        (form.kind, form.audience, form.text, form.title) = (kind, audience, "Half <price>\nnow", "Sale")
        if audience == .segment {
          form.segment = "7"
        } else if audience != .everybody {
          form.names = audience == .registration ? "0123456789abcdef012" : "a, b"
        }
        if audience == .tag { (form.allTags, form.noTags) = ("c", "d, e") }
        form.extras.pairs = [PushExtras.Pair(name: "page", value: "7")]
        forms.append(form)
        if kind == .notification {
          (form.extras.image, form.extras.link) = ("https://a.example/1.png", "https://a.example/sale")
          (form.extras.thread, form.extras.channel, form.extras.fallback) = ("t", "c", "60")
          (form.extras.collapse, form.hours, form.extras.inApp) = ("sale", nil, "1")
          forms.append(form)
          (form.extras.fallback, form.extras.inApp) = ("", "")
        }
        form.extras.spread = "30"
        form.platforms = [.android, .ios]
        forms.append(form)
        form.platforms = [.ios]
        form.title = ""
        forms.append(form)
      }
    }
    #expect(forms.count == 35)
    for form in forms {
      let read = try #require(PushForm(of: form.json, rules: PushRules()), "\(form.json)")
      #expect(read.json == form.json)
      #expect((read.audience, read.kind, read.platforms) == (form.audience, form.kind, form.platforms))
    }
  }

  @Test(arguments: [
    #""notification":{"android":{"alert":"x","builder_id":3}}"#,
    #""notification":{"android":{"alert":"x"},"ios":{"alert":"y"}}"#,
    #""notification":{"alert":"x"},"message":{"msg_content":"x"}"#,
    #""notification":{"alert":"x"},"options":{"time_to_live":90}"#,
    #""notification":{"alert":"x"},"options":{"test_model":true}"#,
    #""notification":{"android":{"alert":"x","extras":{"a":{"b":1}}}}"#,
  ])
  func `A push object with more than the form has fields for has no form`(parts: String) throws {
    let json = try parseJSON(Array("{\"platform\":\"all\",\"audience\":\"all\",\(parts)}".utf8))
    _ = try PushRequest.parse(json)
    #expect(PushForm(of: json, rules: PushRules()) == nil)
  }

  @Test func `A push object without parts for platforms has a form`() throws {
    let text =
      #"{"cid":"a-1","platform":"all","audience":{"alias":["a"]},"notification":{"alert":"x"},"options":{"time_to_live":3600}}"#
    let form = try #require(PushForm(of: try parseJSON(Array(text.utf8)), rules: PushRules()))
    #expect((form.text, form.names, form.hours, form.audience) == ("x", "a", 1, .alias))
    #expect(form.platforms.count == Platform.allCases.count)
  }

  // MARK: The pages

  private struct Scene {
    let world: ConsoleWorld
    let browser: Browser
    let app: App
    let device: RegistrationID
    var base: String { "/console/apps/\(app.key.text)" }

    init() async throws {
      world = try ConsoleWorld(time: SystemTime())
      browser = try await world.owner()
      app = try await world.app(of: .standard)
      device = try await world.device(in: app)
      _ = await browser.open("/console/")
    }

    func fields(_ more: [String: String] = [:]) -> [String: String] {
      let fields = [
        "kind": "notification", "android": "1", "audience": "registration", "names": device.text,
        "text": "Half price", "when": "once", "at": tomorrow,
      ]
      return fields.merging(more) { $1 }
    }

    var tomorrow: String {
      let time = world.router.zone.local(world.console.time.now().adding(seconds: 86_400))
      return String(time.text.replacing(" ", with: "T").dropLast(3))
    }

    func schedules() async throws -> [Schedule] {
      try await awaitCallback { world.router.schedules.list(of: app, page: 0, size: 10, reply: $0) }.get()
        .schedules
    }

    /// Fills the form in and answers the question; returns the page after it.
    func plan(_ form: [String: String]) async -> (status: Int, text: String) {
      let question = await browser.submit("\(base)/push/confirm", form)
      guard question.status == 200 else { return question }
      return await browser.submit("\(base)/push", Self.hidden(in: question.text))
    }

    /// The fields that the question brings along.
    static func hidden(in page: String) -> [String: String] {
      var fields: [String: String] = [:]
      for match in page.matches(of: /<input type="hidden" name="([a-z]+)" value="([^"]*)">/) {
        fields[String(match.1)] = String(match.2).replacing("&quot;", with: "\"").replacing(
          "&amp;", with: "&")
      }
      return fields
    }
  }

  @Test func `A push is scheduled, edited, paused, resumed and canceled`() async throws {
    let scene = try await Scene()
    let question = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields())
    #expect(question.status == 200 && question.text.contains("Schedule this push?"))
    #expect(question.text.contains("Devices that match now: 1."))
    let made = await scene.plan(scene.fields())
    #expect(made.status == 200 && made.text.contains("Half price") && made.text.contains("once, "))
    let schedule = try #require(try await scene.schedules().first)
    #expect(try await scene.schedules().count == 1)
    #expect(schedule.name == "Half_price" && schedule.isEnabled)
    let list = await scene.browser.open("\(scene.base)/planned")
    #expect(list.text.contains("/planned/\(schedule.id)") && list.text.contains(">active<"))

    let path = "\(scene.base)/planned/\(schedule.id)"
    let form = await scene.browser.open("\(path)/edit")
    #expect(form.text.contains(">Half price</textarea>") && form.text.contains("value=\"\(scene.tomorrow)\""))
    // A schedule keeps its kind, and stays a schedule.
    #expect(!form.text.contains("value=\"repeating\"") && !form.text.contains("value=\"now\""))
    let draft = try #require(Scene.hidden(in: form.text)["draft"])
    let changed = await scene.plan(scene.fields(["draft": draft, "text": "All free"]))
    #expect(changed.status == 200 && changed.text.contains("All free"))
    let after = try await scene.schedules()
    #expect(after.map(\.id) == [schedule.id] && after[0].name == "All_free")

    let paused = await scene.browser.submit("\(path)/enabled", ["enabled": "off"])
    #expect(paused.text.contains(">paused<"))
    #expect(try await scene.schedules().first?.isEnabled == false)
    let resumed = await scene.browser.submit("\(path)/enabled", ["enabled": "on"])
    #expect(resumed.text.contains(">active<"))
    let canceled = await scene.browser.submit("\(path)/cancel")
    #expect(canceled.text.contains("Nothing is scheduled.") && canceled.text.contains("Canceled."))
    #expect(try await scene.schedules().isEmpty)
    #expect(await scene.browser.open(path).status == 404)
    let log = await scene.browser.open("/console/accounts/\(AccountID.standard.rawValue)/audit").text
    for words in [
      "scheduled a push", "changed a scheduled push", "paused a scheduled push", "resumed a scheduled push",
      "canceled a scheduled push",
    ] { #expect(log.contains(words), "\(words)") }
  }

  @Test func `A push goes at each device's own time`() async throws {
    let scene = try await Scene()
    let form = await scene.browser.open("\(scene.base)/push")
    #expect(!form.text.contains("Each device's own time"), "the app does not ask for time zones")
    let (router, app) = (scene.world.router, scene.app)
    let wanted = DeviceFactSet(.timeZone)
    _ = await awaitCallback { router.apps.setFacts(wanted, of: app, noting: .test, done: $0) }
    #expect(await scene.browser.open("\(scene.base)/push").text.contains("Each device&#39;s own time"))
    let made = await scene.plan(scene.fields(["clocks": "device"]))
    #expect(made.status == 200 && made.text.contains("each device&#39;s own time"))
    let schedule = try #require(try await scene.schedules().first)
    #expect(schedule.trigger.clocks == .device)
    let local = scene.tomorrow.replacing("T", with: " ") + ":00"
    #expect(made.text.contains("<li>\(local)</li>"), "what clocks show, in whichever zone it is next")
    let list = await scene.browser.open("\(scene.base)/planned")
    #expect(list.text.contains("<td class=\"when\">\(local)</td>"))
    let path = "\(scene.base)/planned/\(schedule.id)"
    // The choice stays in the form, also after the app has stopped asking.
    _ = await awaitCallback { router.apps.setFacts([], of: app, noting: .test, done: $0) }
    let edited = await scene.browser.open("\(path)/edit")
    #expect(edited.text.contains(/name="clocks" value="device"[^>]* checked/))
  }

  @Test func `A push that was sent is edited and sent as another`() async throws {
    let scene = try await Scene()
    let sent = await scene.plan(
      scene.fields(["when": "now", "image": "https://a.example/1.png", "title": "T"]))
    let id = try #require(sent.text.firstMatch(of: /msg_id <code>([0-9]+)</)?.1)
    #expect(sent.text.contains("/pushes/\(id)/edit\""))
    let form = await scene.browser.open("\(scene.base)/pushes/\(id)/edit")
    #expect(form.status == 200 && form.text.contains("value=\"https://a.example/1.png\""))
    let draft = try #require(Scene.hidden(in: form.text)["draft"])
    let again = await scene.plan(scene.fields(["when": "now", "draft": draft, "text": "All free"]))
    let other = try #require(again.text.firstMatch(of: /msg_id <code>([0-9]+)</)?.1)
    #expect(other != id && again.text.contains("All free"))
  }

  @Test func `The question answered twice makes one schedule`() async throws {
    let scene = try await Scene()
    let question = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields())
    let fields = Scene.hidden(in: question.text)
    _ = await scene.browser.submit("\(scene.base)/push", fields)
    _ = await scene.browser.submit("\(scene.base)/push", fields)
    #expect(try await scene.schedules().count == 1)
    let again = await scene.browser.open("\(scene.base)/push/confirm?draft=\(fields["draft"] ?? "")")
    #expect(again.text.contains("Already scheduled"))
  }

  @Test func `A time in the past brings the form again, with what was typed`() async throws {
    let scene = try await Scene()
    let page = await scene.plan(scene.fields(["at": "2001-01-01T08:00"]))
    #expect(page.status == 422 && page.text.contains("The time must be in the future"))
    #expect(page.text.contains("value=\"2001-01-01T08:00\"") && page.text.contains(">Half price</textarea>"))
    #expect(try await scene.schedules().isEmpty)
  }

  @Test func `What the API scheduled is shown, and changed only where nothing is lost`() async throws {
    let scene = try await Scene()
    let body = #"""
      {"name":"api","enabled":true,"trigger":{"single":{"time":"\#(scene.tomorrow.replacing("T", with: " ")):00"}},
      "push":{"platform":["android"],"audience":"all","notification":{"android":{"alert":"From a server","builder_id":3}}}}
      """#
    let request = try ScheduleRequest.parse(try parseJSON(Array(body.utf8)))
    let uuid = Gateway.uuid()
    _ = try await awaitCallback {
      scene.world.router.schedules.create(request, named: uuid, in: scene.app, reply: $0)
    }.get()
    let page = await scene.browser.open("\(scene.base)/planned/\(uuid)")
    #expect(page.text.contains("From a server") && page.text.contains("/cancel\""))
    #expect(!page.text.contains("/edit\""))
    #expect(await scene.browser.open("\(scene.base)/planned/\(uuid)/edit").status == 404)
    let canceled = await scene.browser.submit("\(scene.base)/planned/\(uuid)/cancel")
    #expect(canceled.status == 200)
    #expect(try await scene.schedules().isEmpty)
  }
}
