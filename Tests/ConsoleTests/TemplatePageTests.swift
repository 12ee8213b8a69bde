import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Templates in the console: the form, the pages and the preview.
@Suite struct TemplatePageTests {
  private static func form(_ change: (inout TemplateForm) -> Void) -> TemplateForm {
    var form = TemplateForm()
    form.alert = "A {n}"
    change(&form)
    return form
  }

  private static func content(_ text: String) throws -> PushTemplate {
    try PushTemplate.parse(try #require(try parseJSON(Array(text.utf8)).object))
  }

  @Test func `The fields are a template`() throws {
    let form = Self.form {
      ($0.title, $0.extras) = ("T", "k={n}\n\nl=a=b\n")
      $0.lines = [
        .init(language: "de", title: "", alert: "D"), .init(language: "zh-Hans", title: "Z", alert: ""),
      ]
    }
    #expect(
      try form.content()
        == Self.content(
          #"{"title":"T","alert":"A {n}","extras":{"k":"{n}","l":"a=b"},"languages":{"de":{"alert":"D"},"zh-Hans":{"title":"Z"}}}"#
        ))
  }

  @Test(arguments: ["alert", "title", "extras", "language2", "language1"])
  func `A field that does not fit is named`(field: String) {
    let form = Self.form {
      switch field {
      case "alert": $0.alert = ""
      case "title": $0.title = "{"
      case "extras": $0.extras = "nothing"
      case "language1": $0.lines = [.init(language: "d", title: "", alert: "D")]
      default: $0.lines = [.init(language: "de", alert: "D"), .init(language: "DE", alert: "E")]
      }
    }
    let problem = #expect(throws: FieldProblem.self) { try form.content() }
    #expect(problem?.field == field)
  }

  @Test(arguments: [
    #"{"alert":"a","extras":{"k":1}}"#, #"{"alert":"a","extras":{"k":"x\ny"}}"#,
    #"{"alert":"a","languages":{"de":{"extras":{"k":"v"}}}}"#,
  ])
  func `What has more to it than the fields is JSON`(json: String) async throws {
    let world = try ConsoleWorld()
    let app = try await world.app(of: try await world.account("some"))
    let (router, content) = (world.router, try Self.content(json))
    let template = try await awaitCallback { router.templates.add("n", content, to: app, reply: $0) }.get()
    let form = TemplateForm(template)
    #expect(form.json != nil)
    #expect(try form.content() == content)
  }

  @Test func `A template is made, previewed, changed and deleted`() async throws {
    let world = try ConsoleWorld()
    let account = try await world.account("some")
    let app = try await world.app(of: account)
    let sender = try await world.member(.sender, of: account, name: "sam")
    let viewer = try await world.member(.viewer, of: account, name: "vera")
    let base = "/console/apps/\(app.key.text)/templates"
    #expect(await sender.open(base).text.contains("There are no templates yet."))

    _ = await sender.open("\(base)/new")
    let wrong = await sender.submit(base, ["name": "", "alert": "a"])
    #expect(wrong.status == 422 && wrong.text.contains("Enter a name"))
    let braces = await sender.submit(base, ["name": "n", "alert": "{"])
    #expect(braces.status == 422 && braces.text.contains("A brace begins no variable."))
    let made = await sender.submit(
      base,
      [
        "name": "Nice <one>", "title": "T", "alert": "Hello {name}, {n|none}", "language1": "de",
        "alert1": "Hallo {name}",
      ])
    #expect(made.text.contains("Nice &lt;one&gt;"))
    let list = await viewer.open(base).text
    #expect(list.contains("Nice &lt;one&gt;") && list.contains("T · Hello {name}") && list.contains("de"))
    #expect(!list.contains("New template"))
    let template = try #require(world.router.templates.list(of: app).first)
    let path = "\(base)/\(template.id)"

    let empty = await viewer.open(path).text
    #expect(empty.contains("Hello {name}, none") && empty.contains("required"))
    #expect(!empty.contains("Delete template"))
    let shown = await viewer.open("\(path)?value-name=%3CAnna%3E&value-n=5").text
    #expect(shown.contains("Hello &lt;Anna&gt;, 5") && shown.contains("Hallo &lt;Anna&gt;"))
    #expect(await viewer.submit(path, ["name": "x", "alert": "a"]).status == 403)

    _ = await sender.open(path)
    let changed = await sender.submit(path, ["name": "new", "alert": "Bye"])
    #expect(changed.text.contains("Bye") && world.router.templates.find(template.id, of: app)?.name == "new")

    // A schedule holds it.
    let router = world.router
    let trigger = ScheduleTrigger.single(router.zone.local(SystemTime().now().adding(seconds: 86_400)))
    let object = #"{"platform":"all","audience":"all","template":{"id":"\#(template.id)"}}"#
    let push = try ScheduledPush(try parseJSON(Array(object.utf8)), rules: app.pushRules(PushRules()))
    let asked = ScheduleRequest(cid: nil, name: "morning", trigger: trigger, push: push)
    _ = try await awaitCallback { router.schedules.create(asked, named: "u-1", in: app, reply: $0) }.get()
    #expect(await sender.open("/console/apps/\(app.key.text)/planned").text.contains("Bye"))
    _ = await sender.open(path)
    let refused = await sender.submit("\(path)/delete")
    #expect(refused.status == 409 && refused.text.contains("morning"))
    _ = try await awaitCallback { router.schedules.delete("u-1", in: app, reply: $0) }.get()
    _ = await sender.open(path)
    #expect(await sender.submit("\(path)/delete").text.contains("The template was deleted."))
    #expect(await sender.open(path).status == 404)
    let admin = try await world.member(.admin, of: account, name: "ada")
    let audit = await admin.open("/console/accounts/\(account.rawValue)/audit").text
    for action in ["template.create", "template.change", "template.delete"] {
      #expect(audit.contains(action))
    }
  }
}
