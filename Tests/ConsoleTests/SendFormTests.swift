import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Sending by hand, from the form to its outcome, in words that need no push object.
@Suite struct SendFormTests {
  private struct Scene {
    let world: ConsoleWorld
    let browser: Browser
    let app: App
    let device: RegistrationID
    var base: String { "/console/apps/\(app.key.text)" }

    init(platform: Platform = .android) async throws {
      world = try ConsoleWorld(time: SystemTime())
      browser = try await world.owner()
      app = try await world.app(of: .standard)
      device = try await world.device(in: app, platform: platform)
      _ = await browser.open("/console/")
    }

    func push(_ body: String, timeToLive: Int = 86_400) async throws -> MessageID {
      var request = AcceptRequest(try PushRequest.parse(try parseJSON(Array(body.utf8))))
      (request.object, request.push.options.timeToLive) = (Array(body.utf8), timeToLive)
      let asked = request
      let result = await awaitCallback { done in
        world.router.acceptance.accept(asked, for: app) { done($0) }
      }
      return try result.get().id
    }

    func fields(_ more: [String: String] = [:]) -> [String: String] {
      let fields = [
        "kind": "notification", "android": "1", "audience": "registration", "names": device.text, "text": "x",
      ]
      return fields.merging(more) { $1 }
    }
  }

  // MARK: Whom it is for

  @Test(arguments: [
    (#"{"audience":"all"}"#, "Everyone", "所有人"),
    (#"{"audience":{"alias":["anna"]}}"#, "alias anna", "别名 anna"),
    (#"{"audience":{"alias":["anna","bob"]}}"#, "aliases anna or bob", "别名 anna 或 bob"),
    (
      #"{"audience":{"tag":["news","sport"],"tag_not":["vip"]}}"#, "tags news or sport, and not vip",
      "标签 news 或 sport，且排除标签 vip"
    ),
    (#"{"audience":{"tag":["a"],"tag_and":["b"]}}"#, "tag a, and tag b", "标签 a，且标签 b"),
    (#"{"audience":{"tag_and":["a","b","c"]}}"#, "tags a, b and c", "标签 a、b 且 c"),
    (#"{"audience":{"alias":["a","b","c","d","e"]}}"#, "aliases a, b, c and 2 more", "别名 a、b、c 等，另有 2 个"),
    (
      #"{"audience":{"registration_id":["0123456789abcdef012"]}}"#, "device 0123456789abcdef012",
      "设备 0123456789abcdef012"
    ),
    (
      #"{"audience":{"registration_id":["0123456789abcdef012","ffffff789abcdef0123"]}}"#,
      "devices 012345… or ffffff…", "设备 012345… 或 ffffff…"
    ),
    (#"{"audience":{"file":{"file_id":"f-1"}}}"#, "file f-1", "文件 f-1"),
    (
      #"{"audience":"all","options":{"test_model":true}}"#, "Everyone, test devices only",
      "所有人，仅测试设备"
    ),
  ])
  func `An audience is told by its names`(object: String, english: String, chinese: String) throws {
    let text = try #require(AudienceText(object: Array(object.utf8), []))
    #expect(text.line(.english) == english)
    #expect(text.line(.chinese) == chinese)
  }

  @Test func `A long audience is cut in lists and whole elsewhere`() throws {
    let tag = String(repeating: "a", count: 40)
    let text = try #require(AudienceText(object: Array(#"{"audience":{"tag":["\#(tag)","b"]}}"#.utf8), []))
    #expect(text.line(.english).count == 40 && text.line(.english).hasSuffix("…"))
    #expect(text.full(.english) == "tags \(tag) or b")
    #expect(AudienceText(object: Array("{}".utf8), []) == nil && AudienceText(object: nil, []) == nil)
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (6_000_000, "6,000,000"), (-1234, "-1,234"), (-123, "-123"),
  ])
  func `Large numbers stand in groups`(number: Int, text: String) { #expect(Counted.grouped(number) == text) }

  @Test func `History, its file and the push's page name the audience`() async throws {
    let scene = try await Scene()
    let id = try await scene.push(
      #"{"platform":"all","audience":{"registration_id":["\#(scene.device.text)"]},"notification":{"alert":"x"}}"#
    )
    let list = await scene.browser.open("\(scene.base)/pushes").text
    #expect(list.contains("device \(scene.device.text)") && list.contains("1 device<"))
    let page = await scene.browser.open("\(scene.base)/pushes/\(id.text)").text
    #expect(page.contains("<span>device \(scene.device.text)</span>"))
    let file = await scene.browser.call("GET", "\(scene.base)/pushes.csv")
    #expect(String(decoding: file.body, as: UTF8.self).contains(",device \(scene.device.text),1,"))
  }

  // MARK: The form

  @Test func `The number says which names are unknown`() async throws {
    let scene = try await Scene()
    for (fields, wanted) in [
      (scene.fields(), nil),
      (scene.fields(["names": "\(scene.device.text), bob"]), "Known: 1 of 2. Unknown: bob"),
      (scene.fields(["audience": "alias", "names": "a, b"]), "Known: 0 of 2. Unknown: a, b"),
      (scene.fields(["audience": "tag", "names": "a", "no_tags": "b"]), "Unknown: a, b"),
      (scene.fields(["audience": "everybody", "names": "a"]), nil),
    ] as [([String: String], String?)] {
      let answer = await scene.browser.submit("\(scene.base)/push/audience", fields).text
      #expect(answer.contains("nknown") == (wanted != nil), "\(answer)")
      #expect(answer.contains(wanted ?? "Reaches 1"), "\(answer)")
    }
  }

  @Test func `Extras, badge, sound and the rest stand where devices look for them`() throws {
    var form = PushForm()
    (form.text, form.extras.badge, form.extras.sound) = ("x", "7", "")
    (form.extras.thread, form.extras.channel) = ("t", "news")
    (form.extras.overrides, form.extras.collapse) = ("42", "c")
    form.extras.pairs = [.init(name: "page", value: "/cart"), .init(), .init(name: "n", value: "")]
    let extras: JSONValue = ["page": "/cart", "n": ""]
    #expect(
      form.json["notification"]?["ios"]
        == ["alert": "x", "badge": .number(JSONNumber(7)), "thread-id": "t", "extras": extras])
    #expect(form.json["notification"]?["android"] == ["alert": "x", "channel_id": "news", "extras": extras])
    #expect(
      form.json["options"]?["override_msg_id"] == "42" && form.json["options"]?["apns_collapse_id"] == "c")
    form.kind = .message
    #expect(form.json["message"] == ["msg_content": "x", "extras": extras])
    form = PushForm()
    #expect(form.json["platform"] == "all")
    #expect(form.json["notification"]?["quickapp"] == ["alert": "", "title": "", "page": "/"])
    #expect(form.json["notification"]?["ios"]?["badge"] == "+1")
    #expect(form.json["notification"]?["ios"]?["sound"] == "default")
    for (typed, wanted) in [("+2", "+2"), ("-1", "-1"), ("x", "x")] as [(String, JSONValue)] {
      form.extras.badge = typed
      #expect(form.json["notification"]?["ios"]?["badge"] == wanted)
    }
  }

  @Test func `A form keeps its extras and the ends of its lines`() async throws {
    let scene = try await Scene()
    let more = [
      "names": "?", "text": "one\r\ntwo", "extra_name_0": "page", "extra_value_0": "<cart>", "badge": "",
      "sound": "bell.caf",
    ]
    let page = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields(more)).text
    for part in [
      "name=\"extra_name_0\" value=\"page\"", "name=\"extra_value_0\" value=\"&lt;cart&gt;\"",
      "name=\"badge\" type=\"text\" value=\"\"", "value=\"bell.caf\"", "<details class=\"extras\" open>",
      ">one\ntwo</textarea>",
    ] {
      #expect(page.contains(part), "\(part)")
    }
    let fresh = await scene.browser.open("\(scene.base)/push").text
    #expect(fresh.contains("<details class=\"extras\">") && fresh.contains(">Registration IDs</span>"))
  }

  @Test(arguments: [
    ["extra_value_0": "42"],
    ["extra_name_0": "page", "extra_value_0": "1", "extra_name_1": "page", "extra_value_1": "2"],
  ])
  func `What could not be sent as it stands is not left out without a word`(more: [String: String])
    async throws
  {
    let scene = try await Scene()
    let page = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields(more))
    #expect(page.status == 422 && page.text.contains("Each extra field needs a unique name."))
  }

  @Test func `Devices of every platform are reached, and as many as was said`() async throws {
    let scene = try await Scene(platform: .ios)
    for platform in Platform.allCases where platform != .ios {
      _ = try await scene.world.device(in: scene.app, platform: platform)
    }
    let form = await scene.browser.open("\(scene.base)/push").text
    for platform in Platform.allCases {
      #expect(form.contains("name=\"\(platform.name)\" value=\"1\" checked> \(platform.properName)"))
    }
    // No control that does nothing.
    #expect(!form.contains("environment") && !form.contains("Sandbox"))
    for kind in ["notification", "message"] {
      var fields = ["kind": kind, "audience": "everybody", "text": "x", "hours": "1"]
      for platform in Platform.allCases { fields[platform.name] = "1" }
      let page = await scene.browser.submit("\(scene.base)/push/confirm", fields).text
      #expect(
        page.contains("It goes to all 4 devices of ")
          && page.contains("<dd>iOS, Android, HarmonyOS, Quick App</dd>"))
      var written = PushForm()
      (written.kind, written.audience, written.text) = (.init(rawValue: kind) ?? .message, .everybody, "x")
      let request = AcceptRequest(try PushRequest.parse(written.json))
      #expect(
        request.push.content.platforms.isSuperset(of: .all) && request.push.platforms.isSuperset(of: .all))
      let accepted = await awaitCallback { done in
        scene.world.router.acceptance.accept(request, for: scene.app) { done($0) }
      }
      #expect(try accepted.get().targets == 4)
      fields["hmos"] = nil
      let fewer = await scene.browser.submit("\(scene.base)/push/confirm", fields).text
      #expect(fewer.contains("Target devices: 3"))
      #expect(fewer.contains("It goes to all 3 devices of "))
      #expect(fewer.contains(" on iOS, Android, Quick App.</strong>"))
    }
  }

  // MARK: Asking once more

  @Test func `Whoever is asked once more reads what goes to whom`() async throws {
    let scene = try await Scene()
    let more = [
      "title": "Sale", "text": "Half <price>", "hours": "2", "ios": "1",
      "extra_name_0": "page", "extra_value_0": "7", "badge": "3",
    ]
    let page = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields(more)).text
    for part in [
      "<dd>Sale</dd>", "<dd>Half &lt;price&gt;</dd>", "<dd>device \(scene.device.text)</dd>",
      "<dd>iOS, Android</dd>", "<dd>2 hours</dd>", "<div class=\"banner\">",
      "<dt>page</dt><dd>7</dd>", "<dt>Badge (iOS)</dt><dd>3</dd>",
      "<details><summary>curl</summary>",
    ] {
      #expect(page.contains(part), "\(part)")
    }
    #expect(!page.contains("notice warn") && !page.contains("class=\"silent\""))
    // What the form fills in by itself was nobody's choice.
    #expect(!page.contains("<dt>Sound (iOS)</dt>"))
    let loud = scene.fields(["text": "x", "ios": "1", "sound": "bell.caf", "badge": "+1"])
    let chosen = await scene.browser.submit("\(scene.base)/push/confirm", loud).text
    #expect(chosen.contains("<dt>Sound (iOS)</dt><dd>bell.caf</dd>") && !chosen.contains("<dt>Badge (iOS)"))
    let message = ["kind": "message", "text": "{}", "names": "\(scene.device.text) 0123456789abcdef012"]
    let other = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields(message)).text
    #expect(other.contains("class=\"silent\"") && !other.contains("class=\"banner\""))
    #expect(other.contains("Unknown: 0123456789abcdef012"))
  }

  @Test(arguments: [Language.english, .chinese])
  func `The question has a forecast, and the push's page the one made when it was sent`(language: Language)
    async throws
  {
    let scene = try await Scene()
    _ = try await scene.world.device(in: scene.app)
    let number = try #require(scene.app.directory.find(scene.device))
    try await awaitCallback { done in
      scene.world.router.registrations.setBlocked(true, [number], in: scene.app) { done($0) }
    }.get()
    if language == .chinese {
      _ = await scene.browser.post("/console/me/language", ["language": "zh", "back": ""])
    }
    func heads(_ words: [Phrase]) -> String {
      words.map { "<th class=\"number\">\($0[language])</th>" }.joined()
    }
    let fields = scene.fields(["audience": "everybody", "names": ""])
    let question = await scene.browser.submit("\(scene.base)/push/confirm", fields).text
    let said = Words.forecastText.with("1", "2")[language]
    #expect(question.contains("<h2>\(Words.forecast[language])</h2>") && question.contains(said))
    #expect(question.contains(heads([Words.forecastDevices, Words.forecastLoud, Words.forecastSilent])))
    #expect(question.contains("<p class=\"hint\">\(HTML.escape(Words.forecastSound[language]))</p>"))
    let blocked = Words.forecastReason.with(each: Phrase(verbatim: "1"), WhyCause.blocked.text)
    #expect(question.contains("<li>\(HTML.escape(blocked[language]))</li>"))
    let cid = "\(scene.app.key.text)-1"
    let body = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
    let sent = await scene.browser.submit("\(scene.base)/push", ["body": body, "cid": cid]).text
    #expect(sent.contains(heads([Words.forecast, Words.meantFor])))
    #expect(
      sent.contains("data-label=\"\(Words.forecast[language])\">1</td>"), "beside the outcome")
    #expect(sent.contains("<summary>\(Words.forecastAsSent[language])</summary>"))
    #expect(sent.contains(Words.forecastWas.with("1", "2")[language]))
    // A push of an app's server has none.
    let id = try await scene.push(body)
    let other = await scene.browser.open("\(scene.base)/pushes/\(id.text)").text
    #expect(!other.contains(Words.forecastAsSent[language]))
    #expect(!other.contains(heads([Words.forecast, Words.meantFor])))
  }

  /// A maker's channel that no device has a token of.
  private final class PreviewChannel: ServiceChannel {
    let info = ChannelInfo(
      id: ChannelID(rawValue: 201), name: "first", english: "First", chinese: "第一",
      platforms: PlatformSet(.android), parts: .notification,
      tokens: [TokenKind(1, name: "word", form: .text, maximumBytes: 32)])

    func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] { [] }
    func deliver(_ push: ChannelPush) {}
    func preview(of content: PushContent, in app: App, secondsToLive: Int) -> ChannelPreview? {
      ChannelPreview(.marketing, cuts: [ChannelPreview.Cut(field: "title", characters: 5)])
    }
  }

  @Test func `The class for a maker is on the page once, also if its channel has no devices`() async throws {
    let scene = try await Scene()
    scene.world.router.add(PreviewChannel())
    let question = await scene.browser.submit("\(scene.base)/push/confirm", scene.fields()).text
    #expect(question.contains("<table class=\"numbers forecast\">"))
    #expect(question.split(separator: "<dt>First</dt><dd>Marketing;").count == 2)
  }

  @Test func `A push to everybody says so, and not when the day's are used up`() async throws {
    let scene = try await Scene()
    _ = try await scene.world.store.change { transaction throws(StorageError) in
      try transaction.plans.set(PlanRow(name: "small", broadcasts: 1))
      return try transaction.apps.setPlan(app: scene.app.id, "small")
    }
    while scene.app.plan.broadcasts != 1 { scene.world.router.tick() }
    let fields = scene.fields(["audience": "everybody", "names": ""])
    let first = await scene.browser.submit("\(scene.base)/push/confirm", fields)
    #expect(first.text.contains("It goes to all 1 device of ") && first.text.contains("Push 1 of today"))
    _ = try await scene.push(#"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#)
    let second = await scene.browser.submit("\(scene.base)/push/confirm", fields)
    #expect(second.status == 422 && second.text.contains("pushes to everyone are used"))
  }

  // MARK: Its outcome

  @Test func `One word for a push is that of all its targets`() async throws {
    let scene = try await Scene()
    _ = try await scene.world.device(in: scene.app)
    let body = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
    let late = try await scene.push(body, timeToLive: 0)
    let page = await scene.browser.open("\(scene.base)/pushes/\(late.text)").text
    #expect(page.contains("</h2><span class=\"state over\">expired</span>"))
    let id = try await scene.push(body)
    let path = "\(scene.base)/pushes/\(id.text)"
    let open = await scene.browser.open(path).text
    #expect(open.contains("</h2><span class=\"state open\">in progress</span>"))
    #expect(open.contains("<p data-recall-text>Recall it from 2 devices? Already delivered: 0."))
    let back = await scene.browser.submit("\(path)/recall").text
    #expect(back.contains("</h2><span class=\"state over\">recalled</span>"))
    #expect(back.contains("Recalled from 2 devices.") && !back.contains("data-recall-text"))
  }

  @Test func `Targets stand on the page, each with the question why`() async throws {
    let scene = try await Scene()
    let body = #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#
    let single = try await scene.push(body)
    let path = "\(scene.base)/pushes/\(single.text)"
    let page = await scene.browser.open(path).text
    let link = "<a class=\"end\" href=\"\(path)/why?registration_id=\(scene.device.text)\">Why?</a>"
    #expect(page.contains(link) && page.contains("Registration ID, alias or push token"))
    var others: [RegistrationID] = []
    for _ in 0..<TargetsTable.most { others.append(try await scene.world.device(in: scene.app)) }
    let id = try await scene.push(body)
    let table = await scene.browser.open("\(scene.base)/pushes/\(id.text)").text
    #expect(table.split(separator: ">Why?</a>").count - 1 == TargetsTable.most)
    #expect(table.contains("The first 50 of 51,"))
    let trace = await scene.browser.call("GET", "\(path)/trace")
    let json = try parseJSON(trace.body)
    #expect(json["targets"]?.string?.contains("/devices/\(scene.device.text)\"") == true)
  }

  @Test func `iPhones without a key for Apple are named`() async throws {
    let scene = try await Scene(platform: .ios)
    let id = try await scene.push(
      #"{"platform":"all","audience":"all","notification":{"alert":"x"}}"#)
    let page = await scene.browser.open("\(scene.base)/pushes/\(id.text)").text
    #expect(page.contains("1 iPhone receives this only while the app is open"))
    #expect(page.contains("href=\"\(scene.base)/settings/credentials/apns\""))
  }
}
