import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Segments in the console: the form, the pages, and pushes to one.
@Suite struct SegmentPageTests {
  // MARK: The form

  private static func form(_ lines: [(String, SegmentForm.How, String)], all: Bool = true) -> SegmentForm {
    var form = SegmentForm()
    form.lines = lines.map { SegmentForm.Line(what: $0.0, how: $0.1, value: $0.2) }
    form.matchesAll = all
    return form
  }

  private static func condition(_ text: String) throws -> DeviceCondition {
    try DeviceCondition.parse(try parseJSON(Array(text.utf8)))
  }

  @Test(arguments: [
    ("tag", SegmentForm.How.isValue, "a", #"{"tag":"a"}"#), ("tag", .isNot, "a", #"{"not":{"tag":"a"}}"#),
    ("alias", .isValue, "", #"{"alias":true}"#), ("alias", .isNot, "", #"{"alias":false}"#),
    ("platform", .isValue, "iOS", #"{"platform":"ios"}"#),
    ("model", .isValue, "", #"{"fact":"model","known":true}"#),
    ("model", .isNot, "x", #"{"not":{"fact":"model","is":"x"}}"#),
    ("app_version", .atLeast, "2.10", #"{"fact":"app_version","at_least":"2.10"}"#),
    ("language", .beginsWith, "zh", #"{"fact":"language","begins_with":"zh"}"#),
    ("last_seen", .inLastDays, "30", #"{"last_seen":{"within_days":30}}"#),
    ("last_seen", .notInLastDays, "30", #"{"not":{"last_seen":{"within_days":30}}}"#),
    ("registered", .inLastDays, "1", #"{"registered":{"within_days":1}}"#),
    ("tapped", .isNot, "7", #"{"not":{"tapped":"7"}}"#),
  ])
  func `A line is a condition, and is read from it`(
    what: String, how: SegmentForm.How, value: String, json: String
  ) throws {
    let condition = try Self.condition(json)
    #expect(try Self.form([(what, how, value)]).condition() == .all([condition]))
    let line = try #require(SegmentForm.Line(condition))
    #expect(try Self.form([(line.what, line.how, line.value)]).condition() == .all([condition]))
  }

  @Test(arguments: [
    ("tag", SegmentForm.How.isValue, ""), ("tag", .isValue, "a b"), ("tag", .atLeast, "a"),
    ("alias", .isValue, "x"), ("platform", .isValue, "windows"), ("last_seen", .isValue, "30"),
    ("last_seen", .inLastDays, "soon"), ("last_seen", .inLastDays, "0"), ("model", .inLastDays, "3"),
    ("opted_out", .isValue, "maybe"), ("received", .isValue, "x"), ("colour", .isValue, "red"),
  ])
  func `A line whose fields do not fit is named`(what: String, how: SegmentForm.How, value: String) {
    let problem = #expect(throws: FieldProblem.self) {
      try Self.form([("tag", .isValue, "a"), (what, how, value)]).condition()
    }
    #expect(problem?.field == "value2")
  }

  @Test(arguments: [
    #"{"all":[{"tag":"a"},{"any":[{"tag":"b"},{"alias":true}]}]}"#, #"{"all":[]}"#,
    #"{"fact":"app_version","more_than":"2"}"#, #"{"registered":{"since":"2026-01-01 00:00:00"}}"#,
    #"{"not":{"fact":"app_version","at_least":"2"}}"#,
  ])
  func `What has more to it than the fields is JSON`(json: String) async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let facts = DeviceFactSet(.appVersion)
    let router = world.router
    _ = await awaitCallback { router.apps.setFacts(facts, of: app, noting: .test, done: $0) }
    let condition = try Self.condition(json)
    let segment = try await awaitCallback { router.segments.add("n", condition, to: app, reply: $0) }.get()
    let form = SegmentForm(segment)
    #expect(form.json != nil)
    #expect(try form.condition() == condition)
  }

  @Test func `Conditions read as sentences in both languages`() throws {
    let condition = try Self.condition(
      #"""
      {"all":[{"tag":"a"},{"any":[{"platform":"ios"},{"alias":true}]},{"not":{"tag":"b"}},
      {"fact":"app_version","at_least":"2"},{"last_seen":{"within_days":30}},{"tapped":"7"}]}
      """#)
    let phrase = ConditionText(condition).phrase
    #expect(
      phrase.english
        == "with tag a and (on iOS or with an alias) and not with tag b and App version at least 2 and last seen within 30 days and that tapped push 7"
    )
    #expect(phrase.chinese.hasPrefix("带标签 a 且 （平台为 iOS 或 有别名） 且 非“带标签 b” 且 "))
  }

  // MARK: Pages

  @Test func `A segment is made, used, changed and deleted`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let sender = try await world.member(.sender, of: account, name: "sam")
    let viewer = try await world.member(.viewer, of: account, name: "vera")
    let base = "/console/apps/\(app.key.text)/segments"
    let ids = [try await world.device(in: app), try await world.device(in: app)]
    try await tag(ids[0], "a", in: app, world)
    #expect(await sender.open(base).text.contains("There are no segments yet."))

    _ = await sender.open("\(base)/new")
    let wrong = await sender.submit(base, ["name": "", "match": "all", "what1": "tag", "value1": "a"])
    #expect(wrong.status == 422 && wrong.text.contains("Enter a name"))
    let made = await sender.submit(
      base, ["name": "Nice <ones>", "match": "all", "what1": "tag", "how1": "is", "value1": "a"])
    #expect(made.text.contains("Nice &lt;ones&gt;") && made.text.contains("1 device now"))
    let list = await viewer.open(base).text
    #expect(
      list.contains("Nice &lt;ones&gt;") && list.contains("with tag a") && !list.contains("New segment"))
    let router = world.router
    let all = try await awaitCallback { router.segments.list(of: app, reply: $0) }.get()
    let segment = try #require(all.first)
    let path = "\(base)/\(segment.id)"
    #expect(await !viewer.open(path).text.contains("Delete segment"))
    #expect(await viewer.submit(path, ["name": "x"]).status == 403)

    let count = await sender.submit(
      "\(base)/count", ["match": "any", "what1": "tag", "value1": "a", "how1": "is_not"])
    #expect(count.text == #"{"text":"1 device now"}"#)
    _ = await sender.open(path)
    let changed = await sender.submit(
      path, ["name": "new", "match": "any", "what1": "alias", "how1": "is_not"])
    #expect(changed.text.contains("2 devices now") && changed.text.contains("without an alias"))

    // The push form.
    let form = await sender.open("/console/apps/\(app.key.text)/push?segment=\(segment.id)").text
    #expect(form.contains("<option value=\"\(segment.id)\" selected>new</option>"))
    let confirm = await sender.submit(
      "/console/apps/\(app.key.text)/push/confirm",
      [
        "kind": "notification", "android": "1", "audience": "segment", "segment": String(segment.id),
        "title": "t", "text": "x", "when": "now",
      ])
    #expect(confirm.text.contains("segment new") && confirm.text.contains("2"))

    // A schedule holds it.
    let trigger = ScheduleTrigger.single(router.zone.local(SystemTime().now().adding(seconds: 86_400)))
    let push = try ScheduledPush(
      try parseJSON(
        Array(
          #"{"platform":"all","audience":{"segment":["\#(segment.id)"]},"notification":{"alert":"x"}}"#.utf8))
    )
    let asked = ScheduleRequest(cid: nil, name: "morning", trigger: trigger, push: push)
    _ = try await awaitCallback { router.schedules.create(asked, named: "u-1", in: app, reply: $0) }.get()
    _ = await sender.open(path)
    let refused = await sender.submit("\(path)/delete")
    #expect(refused.status == 409 && refused.text.contains("morning"))
    #expect(await sender.open("/console/apps/\(app.key.text)/planned").text.contains("segment new"))
    _ = try await awaitCallback { router.schedules.delete("u-1", in: app, reply: $0) }.get()
    _ = await sender.open(path)
    #expect(await sender.submit("\(path)/delete").text.contains("The segment was deleted."))
    #expect(await sender.open(path).status == 404)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    for action in ["segment.create", "segment.change", "segment.delete"] { #expect(audit.contains(action)) }
  }

  private func tag(_ id: RegistrationID, _ tag: String, in app: App, _ world: ConsoleWorld) async throws {
    let number = try #require(app.directory.find(id))
    let (router, change) = (world.router, DeviceChange(tags: .edit(add: [tag], remove: [])))
    _ = await awaitCallback { done in router.registrations.change(change, of: number, in: app) { done($0) } }
  }
}
