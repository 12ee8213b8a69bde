import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushRouter
import PushStorage
import PushTesting
import Testing

@testable import PushConsole

/// Whose pushes leave.
@Suite struct SendingTests {
  @Test func `An app that is turned off gets no pushes, and one that is on those of its plan`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 1
    let world = try ConsoleWorld(limits: limits)
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    _ = await owner.open("/console/")
    let path = "/console/apps/\(app.key.text)/push"
    func send(_ cid: String) async -> HTTPResponse {
      let audience = "{\"registration_id\":[\"\(device.text)\"]}"
      let body = "{\"platform\":\"all\",\"audience\":\(audience),\"notification\":{\"alert\":\"x\"}}"
      return await owner.post(path, ["body": body, "cid": cid])
    }
    #expect(await send("\(app.key.text)-1").status == 303)
    let limited = await send("\(app.key.text)-2")
    #expect(limited.status == 429)
    // The question stays as it was, so that nothing has to be typed again.
    let page = String(decoding: limited.body, as: UTF8.self)
    #expect(page.contains("too many pushes just now") && page.contains("value=\"\(app.key.text)-2\""))
    #expect(page.contains(device.text) && page.contains("Send now (1)"))
    #expect(await send("\(app.key.text)-!").status == 422)
    #expect(await send("\(AppKey.random().text)-1").status == 403)
    let disabled = try await world.app(of: .standard)
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.setDisabled(app: disabled.id, true)
    }
    while !disabled.isDisabled { world.router.tick() }
    let refused = await withCheckedContinuation { done in
      world.router.accept(AcceptRequest(content: PushContent(variants: [])), for: disabled) {
        done.resume(returning: $0)
      }
    }
    #expect(throws: APIError.blacklisted) { try refused.get() }
  }

  @Test func `What was filled in comes back when somebody thinks better of it`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let device = try await world.device(in: app)
    let path = "/console/apps/\(app.key.text)/push"
    _ = await owner.open(path)
    let fields = [
      "kind": "message", "android": "1", "audience": "registration", "names": device.text,
      "title": "A \"title\"",
      "text": "Two\nlines", "hours": "7", "environment": "sandbox",
    ]
    let asked = await owner.submit("\(path)/confirm", fields).text
    #expect(asked.contains("formaction=\"\(path)/form\""))
    for value in ["A &quot;title&quot;", "Two\nlines", "sandbox", "message"] {
      #expect(asked.contains("value=\"\(value)\">"), "\(value)")
    }
    let form = await owner.submit("\(path)/form", fields).text
    #expect(form.contains("value=\"A &quot;title&quot;\"") && form.contains(">Two\nlines</textarea>"))
    #expect(form.contains("value=\"7\"") && form.contains("value=\"message\" checked"))
    #expect(!form.contains("name=\"ios\" value=\"1\" checked") && form.contains(device.text))
  }

  /// In each language, and about the form's fields rather than those of a push object.
  @Test(arguments: [
    (1002, "Missing parameter: platform"), (1002, "Missing parameter: audience"),
    (1003, "audience.registration_id is invalid"), (1003, "audience.alias has more than 1000 values"),
    (1003, "audience.tag_not is invalid: 'a/b' holds a character that is not allowed"),
    (1003, "options.time_to_live is more than the 60 of the app's plan"),
    (1003, "notification.ios.badge must be an integer or a string such as '+1'"),
    (1003, "notification.ios.extras.aps is taken by the server"),
    (1003, "notification.ios.extras._j_msgid is taken by the server"),
    (1003, "notification.android.channel_id is longer than 1000 bytes"),
    (1003, "options.override_msg_id is unknown"), (1003, "options.apns_collapse_id must have 1 to 64 bytes"),
    (1005, "message: 5000 bytes as JSON"),
    (1011, "cannot find user"), (1030, "Internal timeout"), (2002, "Rate limit exceeded"),
    (2003, "black list"),
  ])
  func `Refusals are in the words of the form`(code: Int, message: String) {
    let phrase = PushWords.phrase(APIError(code: code, httpStatus: 400, message: message))
    #expect(phrase.english != phrase.chinese)
    for text in [phrase.english, phrase.chinese] {
      #expect(!text.contains(message) && !text.contains("audience.") && !text.contains("{}"), "\(text)")
    }
  }

  @Test func `Other refusals keep what the server says`() {
    let phrase = PushWords.phrase(.invalidValue("options.sendno must not be 0"))
    #expect(phrase.chinese == "推送未被接受：options.sendno must not be 0")
  }

  @Test func `Troubles of credentials and callbacks are in both languages`() {
    for text in ["paused: by Zoe", "by Zoe", "the certificate has expired"] {
      let phrase = CredentialWords.trouble(text)
      #expect(phrase.english == text && phrase.chinese != text && !phrase.chinese.contains("paused"))
    }
    #expect(CredentialWords.trouble("paused: BadCertificate").chinese == "已暂停：BadCertificate")
    for text in [
      "answered 404", "answered 301: redirects are not followed", "the address is not allowed",
      "the app has no callback address",
    ] {
      let phrase = CallbackWords.phrase(text)
      #expect(phrase.english == text && phrase.chinese != text && !phrase.chinese.contains("{}"))
    }
    #expect(CallbackWords.phrase("Couldn't resolve host name").chinese == "Couldn't resolve host name")
  }

  @Test func `A form that cannot be read is no form of another site`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let fields = ["a=%zz", (0...HTTPTarget.mostItems).map { "f\($0)=" }.joined(separator: "&")]
    for path in ["/console/me/profile", "/console/login"] {
      for body in fields {
        let answer = await owner.call("POST", path, body: body)
        #expect(answer.status == 400, "\(path)")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("The form cannot be read."))
      }
    }
    let large = await owner.call("POST", "/console/login", body: String(repeating: "a", count: 200_000))
    #expect(large.status == 413 && String(decoding: large.body, as: UTF8.self).contains("<h1>Too large</h1>"))
    // Whom a page is not for, it does not read forms for.
    #expect(await Browser(world).call("POST", "/console/me/profile", body: "a=%zz").status == 303)
    #expect(await owner.call("POST", "/console/nowhere", body: "a=%zz").status == 404)
  }
}
