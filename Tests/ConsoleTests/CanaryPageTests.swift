import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Console

/// Canaries in the console: the fields of the form, and what the page of a push shows and does.
@Suite(.timeLimit(.minutes(2))) struct CanaryPageTests {
  private static func form(_ change: (inout PushCanary) -> Void) -> PushForm {
    var form = PushForm()
    (form.audience, form.text) = (.everybody, "x")
    change(&form.canary)
    return form
  }

  @Test func `The fields are a canary`() throws {
    let plain = Self.form { _ in }
    #expect(plain.json["options"]?["canary"] == nil)
    let form = Self.form { ($0.share, $0.minutes, $0.failures) = ("10", "30", "0") }
    #expect(form.json["options"]?["canary"] == ["share": 10, "wait": 1800, "max_failures": 0])
    // The form is the one that it was sent with.
    #expect(PushForm(of: form.json, rules: PushRules())?.canary == form.canary)
    let standard = Self.form { ($0.share, $0.minutes, $0.failures) = ("7", "", "") }
    #expect(standard.json["options"]?["canary"] == ["share": 7])
    #expect(PushForm(of: standard.json, rules: PushRules())?.canary.minutes == "10")
    let numbers = ["x", "-1", "51", "1.5", "99999999999999999999", String(Int64.min), String(Int64.max)]
    let fields: [WritableKeyPath<PushCanary, String>] = [\.share, \.minutes, \.failures]
    for field in fields {
      // 51 minutes are fine.
      for wrong in numbers where field != \.minutes || wrong != "51" {
        let json = Self.form {
          $0.share = "10"
          $0[keyPath: field] = wrong
        }.json
        do throws(APIError) {
          _ = try PushRequest.parse(json)
          Issue.record("\(wrong)")
        } catch {
          #expect(PushWords.phrase(error) == Words.pushCanary, "\(wrong) \(error.message)")
        }
      }
    }
    // What is no whole number of minutes is not edited with the form.
    var odd = try #require(form.json.object)
    var options = try #require(odd["options"]?.object)
    options.set("canary", ["share": 10, "wait": 61, "max_failures": 0])
    odd.set("options", .object(options))
    #expect(PushForm(of: .object(odd), rules: PushRules()) == nil)
  }

  @Test func `Why the rest could not be sent is said in the reader's language`() {
    let kept = APIError.noTarget.with(detail: "90 devices would match, but")
    #expect(CanaryWords.reason(kept) == Words.canaryKept)
    let late = APIError(code: 1030, httpStatus: 400, message: "Missed: the server was not running")
    #expect(CanaryWords.reason(late) == Words.canaryMissed)
    #expect(CanaryWords.reason(.blacklisted) == Words.pushAppIsOff)
  }

  private struct Scene {
    let world: ConsoleWorld
    let account: AccountID
    let app: App
    let sender, viewer: Browser
    var base: String { "/console/apps/\(app.key.text)" }

    init(devices: Int = 20) async throws {
      world = try ConsoleWorld()
      account = try await world.account("some")
      app = try await world.app(of: account)
      sender = try await world.member(.sender, of: account, name: "sam")
      viewer = try await world.member(.viewer, of: account, name: "vera")
      for _ in 0..<devices { _ = try await world.device(in: app) }
    }

    func push() async throws -> String {
      let text =
        #"{"platform":"all","audience":"all","notification":{"alert":"x"},"options":{"canary":{"share":50}}}"#
      let request = AcceptRequest(
        try PushRequest.parse(try parseJSON(Array(text.utf8))), object: Array(text.utf8))
      return try await awaitCallback {
        world.router.acceptance.accept(request, for: app, reply: $0)
      }.get().id.text
    }
  }

  @Test func `The form sends one, and says first what it does`() async throws {
    let scene = try await Scene()
    let fields = [
      "kind": "notification", "android": "1", "audience": "everybody", "text": "x", "canary_share": "50",
      "canary_minutes": "5", "canary_failures": "2",
    ]
    let form = await scene.sender.open("\(scene.base)/push").text
    #expect(form.contains("name=\"canary_share\"") && form.contains("Failures allowed, in percent"))
    let asked = await scene.sender.submit("\(scene.base)/push/confirm", fields).text
    #expect(
      asked.contains("50% of the audience first; after 5 minutes the rest, unless more than 2% fail"),
      "\(asked)")
    #expect(asked.contains("20"))
    var small = fields
    small["canary_share"] = "10"
    let refused = await scene.sender.submit("\(scene.base)/push/confirm", small)
    #expect(refused.status == 422 && refused.text.contains("at least 10 devices"))
    // How many they are later nobody knows yet.
    let time = scene.world.router.zone.local(SystemTime().now().adding(seconds: 86_400)).text
    small.merge(["when": "once", "at": String(time.replacing(" ", with: "T").dropLast(3))]) { $1 }
    let planned = await scene.sender.submit("\(scene.base)/push/confirm", small)
    #expect(planned.status == 200 && !planned.text.contains("at least 10 devices"), "\(planned.text)")
  }

  @Test func `The page shows how it does, and sends it to the rest`() async throws {
    let scene = try await Scene()
    let id = try await scene.push()
    let path = "\(scene.base)/pushes/\(id)"
    let seen = await scene.viewer.open(path).text
    #expect(seen.contains("The rest waits") && seen.contains("10 of 20 devices"))
    #expect(seen.contains("0 delivered, 0 failed, 10 unknown") && !seen.contains("canary/release"))
    let page = await scene.sender.open(path).text
    #expect(page.contains("\(path)/canary/release") && page.contains("\(path)/canary/stop"))
    let released = await scene.sender.submit("\(path)/canary/release").text
    #expect(
      released.contains("The push was sent to the rest.") && released.contains("Sent to the rest by hand"))
    #expect(released.contains("Push to the rest") && !released.contains("canary/stop"))
    let again = await scene.sender.submit("\(path)/canary/stop").text
    #expect(again.contains("already over"))
    let number = try #require(MessageID(decimal: Array(id.utf8)))
    let status = try await awaitCallback {
      scene.world.router.canaries.find(number, in: scene.app, reply: $0)
    }.get()
    let rest = try #require(status?.end?.rest)
    let other = await scene.sender.open("\(scene.base)/pushes/\(rest.text)").text
    #expect(other.contains("Push to the share that got it first") && other.contains(path))
    let admin = try await scene.world.member(.admin, of: scene.account, name: "ada")
    let audit = await admin.open("/console/accounts/\(scene.account.rawValue)/audit").text
    // Both are among the actions to choose from.
    let counts = ["canary.release", "canary.stop"].map { audit.split(separator: $0).count }
    #expect(counts[0] > counts[1], "\(counts)")
  }

  @Test func `It is stopped by those who may send, and by nobody else`() async throws {
    let scene = try await Scene()
    let id = try await scene.push()
    let path = "\(scene.base)/pushes/\(id)"
    _ = await scene.viewer.open(path)
    #expect(await scene.viewer.submit("\(path)/canary/stop").status == 403)
    _ = await scene.sender.open(path)
    let stopped = await scene.sender.submit("\(path)/canary/stop").text
    #expect(stopped.contains("The push was stopped.") && stopped.contains("Stopped by hand"))
    _ = await scene.sender.open(path)
    #expect(await scene.sender.submit("\(scene.base)/pushes/7/canary/stop").status == 404)
    let admin = try await scene.world.member(.admin, of: scene.account, name: "ada")
    #expect(
      await admin.open("/console/accounts/\(scene.account.rawValue)/audit").text.contains("canary.stop"))
  }
}
