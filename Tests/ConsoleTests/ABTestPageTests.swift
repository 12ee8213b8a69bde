import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// A/B tests in the console: the form, the pages, and what a run shows.
@Suite(.timeLimit(.minutes(2))) struct ABTestPageTests {
  private static func form(_ change: (inout ABTestForm) -> Void) -> ABTestForm {
    var form = ABTestForm()
    form.name = "n"
    form.lines = [.init(title: "T", alert: "a"), .init(alert: "{b}")]
    change(&form)
    return form
  }

  private static func field(_ change: (inout ABTestForm) -> Void) -> String {
    do throws(FieldProblem) {
      _ = try form(change).design(rules: PushRules())
      return ""
    } catch {
      return error.field
    }
  }

  /// What the form of the question sends.
  private static func confirmed(_ page: String, _ test: ABTest) throws -> [String: String] {
    let form = try #require(SentForm.all(in: page).first { $0.action.hasSuffix("/push") })
    let cid = try #require(form.fields.first { $0.hasPrefix("cid=") }).dropFirst(4)
    return ["body": #"{"platform":"all","audience":{"abtest":["\#(test.id)"]}}"#, "cid": String(cid)]
  }

  @Test func `The fields are a test`() throws {
    let design = try Self.form { _ in }.design(rules: PushRules())
    #expect(design.share == 20 && design.seconds == 3600 && design.confidence == nil)
    #expect(design.texts.map(\.alert) == ["a", "{b}"] && design.audience == .all)
    let tagged = try Self.form {
      ($0.audience, $0.names, $0.confidence) = (.tag, "x, y", "95")
    }.design(rules: PushRules())
    #expect(tagged.audience == .filter(AudienceFilter(tags: ["x", "y"])) && tagged.confidence == 95)
    #expect(Self.field { $0.lines = [.init(alert: "a")] } == "alert1")
    #expect(Self.field { $0.lines = [.init(alert: "a"), .init(title: "b")] } == "alert1")
    #expect(Self.field { $0.lines = [.init(alert: "a"), .init(alert: "a")] } == "alert1")
    for share in ["", "0", "101", "x"] { #expect(Self.field { $0.share = share } == "share") }
    for minutes in ["", "0", "10081", "1.5"] { #expect(Self.field { $0.minutes = minutes } == "minutes") }
    #expect(
      Self.field { $0.audience = .alias } == "names" && Self.field { $0.audience = .segment } == "segment")
  }

  @Test func `A test with more to it is edited as JSON`() async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: try await world.account("some"))
    let router = world.router
    for (text, isPlain) in [
      (#""after":60,"audience":"all","contents":[{"alert":"a"},{"title":"T","alert":"{{b}}"}]"#, true),
      (#""after":61,"audience":"all","contents":[{"alert":"a"},{"alert":"b"}]"#, false),
      (#""after":60,"audience":{"tag_not":["x"]},"contents":[{"alert":"a"},{"alert":"b"}]"#, false),
      (#""after":60,"audience":"all","contents":[{"alert":"a","extras":{"k":"v"}},{"alert":"b"}]"#, false),
    ] {
      let object = try #require(try parseJSON(Array(#"{"share":20,\#(text)}"#.utf8)).object)
      let design = try ABTestDesign.parse(object, rules: PushRules())
      let test = try await awaitCallback { router.abTests.add(text, design, to: app, reply: $0) }.get()
      let form = ABTestForm(test, rules: PushRules())
      #expect((form.json == nil) == isPlain, "\(text)")
      #expect(try form.design(rules: PushRules()) == design)
    }
  }

  @Test func `A test is made, sent, stopped and deleted`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let sender = try await world.member(.sender, of: account, name: "sam")
    let viewer = try await world.member(.viewer, of: account, name: "vera")
    for _ in 0..<10 { _ = try await world.device(in: app) }
    let base = "/console/apps/\(app.key.text)/abtests"
    #expect(await sender.open(base).text.contains("There are no A/B tests yet."))

    _ = await sender.open("\(base)/new")
    let wrong = await sender.submit(base, ["name": "n", "alert1": "a", "share": "20", "minutes": "1"])
    #expect(wrong.status == 422 && wrong.text.contains("Enter at least two contents"))
    let fields = [
      "name": "Nice <one>", "title1": "T", "alert1": "dull", "alert2": "good {x}", "share": "20",
      "minutes": "1",
      "confidence": "95",
    ]
    let made = await sender.submit(base, fields)
    #expect(made.text.contains("Nice &lt;one&gt;") && made.text.contains("good {x}"))
    #expect(
      made.text.contains("20% of the audience takes part; the winner is chosen after 1 minute, or earlier"))
    let test = try #require(world.router.abTests.list(of: app).first)
    let path = "\(base)/\(test.id)"
    let list = await viewer.open(base).text
    #expect(list.contains("Nice &lt;one&gt;") && !list.contains("New A/B test") && !list.contains("Running"))
    let seen = await viewer.open(path).text
    #expect(!seen.contains("Delete A/B test") && !seen.contains("\(path)/send"))
    #expect(await viewer.open("\(path)/send").status == 403)

    // The question has all contents, and the whole audience.
    let asked = await sender.open("\(path)/send").text
    #expect(asked.contains("T · dull") && asked.contains("good {x}") && asked.contains("Nice &lt;one&gt;"))
    #expect(asked.contains("The numbers are those of the first content for the whole audience"))
    #expect(!asked.contains("If it is sent now"))
    let sent = await sender.submit("/console/apps/\(app.key.text)/push", try Self.confirmed(asked, test))
    #expect(sent.status == 200 && sent.text.contains("A/B test Nice &lt;one&gt;"), "\(sent.status)")
    #expect(!sent.text.contains("Forecast at the time of sending"))
    let running = await sender.open(path).text
    #expect(running.contains("Running") && running.contains("8 devices wait for the winner"))
    #expect(await viewer.open(base).text.contains("Running"))
    let again = await sender.open("\(path)/send")
    #expect(again.status == 200 && again.text.contains("runs"))
    _ = await sender.open(path)
    let refused = await sender.submit("\(path)/delete")
    #expect(refused.status == 409 && refused.text.contains("The A/B test is running."))
    #expect(await sender.submit("\(path)/stop").text.contains("The A/B test was stopped."))
    #expect(await sender.submit("\(path)/stop").text.contains("was already over"))
    #expect(await sender.open(path).text.contains("Stopped"))

    var changed = fields
    changed["name"] = "new"
    #expect(await sender.submit(path, changed).text.contains("<h1>new</h1>"))
    #expect(await sender.submit("\(path)/delete").text.contains("The A/B test was deleted."))
    #expect(await sender.open(path).status == 404)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    for action in ["abtest.create", "abtest.change", "abtest.stop", "abtest.delete", "push.send"] {
      #expect(audit.contains(action), "\(action)")
    }
  }

  @Test func `Approval counts the whole audience of a test`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let sender = try await world.member(.sender, of: account, name: "sam")
    for _ in 0..<10 { _ = try await world.device(in: app) }
    let (id, key) = (app.id, app.key)
    let row = try await world.store.change { transaction throws(StorageError) in
      _ = try transaction.apps.setBrakes(app: id, BrakesRow(approvalAbove: 5))
      return try transaction.apps.find(key: key)
    }
    if let row { world.router.apps.learn([row]) }
    let base = "/console/apps/\(app.key.text)/abtests"
    _ = await sender.open("\(base)/new")
    _ = await sender.submit(
      base, ["name": "n", "alert1": "a", "alert2": "b", "share": "20", "minutes": "1"])
    let test = try #require(world.router.abTests.list(of: app).first)
    let asked = await sender.open("\(base)/\(test.id)/send").text
    #expect(asked.contains("Ask for approval"))
    let sent = await sender.submit("/console/apps/\(app.key.text)/push", try Self.confirmed(asked, test))
    #expect(sent.status == 200 && sent.text.contains("<dt>A/B test</dt><dd>n</dd>"))
    #expect(
      try await awaitCallback { world.router.abTestRuns.list(of: test.id, in: app, reply: $0) }.get().isEmpty)
    // What waits keeps the test.
    _ = await sender.open("\(base)/\(test.id)")
    #expect(await sender.submit("\(base)/\(test.id)/delete").status == 409)
  }
}
