import API
import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Console

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
    #expect(
      page.contains("too many pushes in the last minute") && page.contains("value=\"\(app.key.text)-2\""))
    #expect(page.contains(device.text) && page.contains("Send now (1)"))
    #expect(await send("\(app.key.text)-!").status == 422)
    #expect(await send("\(AppKey.random().text)-1").status == 403)
    let disabled = try await world.app(of: .standard)
    _ = try await world.store.change { transaction throws(StorageError) in
      try transaction.apps.setDisabled(app: disabled.id, true)
    }
    while !disabled.isDisabled { world.router.tick() }
    let refused = await awaitCallback { done in
      world.router.acceptance.accept(
        AcceptRequest(
          PushRequest(platforms: .all, audience: .all, content: PushContent(variants: []))), for: disabled
      ) {
        done($0)
      }
    }
    #expect(throws: APIError.blacklisted) { try refused.get() }
  }

  @Test func `A push for iPhones alone is counted and sent to iPhones alone`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 2
    let world = try ConsoleWorld(limits: limits)
    let owner = try await world.owner()
    let app = try await world.app(of: .standard)
    let android = try await world.device(in: app)
    _ = try await world.device(in: app, platform: .ios)
    _ = await owner.open("/console/")
    func send(_ cid: Int, to audience: String = "\"all\"") async throws -> HTTPResponse {
      let body = #"{"platform":"all","audience":\#(audience),"notification":{"ios":{"alert":"x"}}}"#
      let request = try PushRequest.parse(try parseJSON(Array(body.utf8)))
      let size = try await AudienceSize.find(request, in: app, world.router).get()
      #expect(size.total == (cid == 2 ? 0 : 1))
      return await owner.post(
        "/console/apps/\(app.key.text)/push", ["body": body, "cid": "\(app.key.text)-\(cid)"])
    }
    #expect(try await send(1).status == 303)
    let number = try #require(app.directory.find(android))
    #expect(app.directory.pending(for: number, after: MessageID(0), at: 0, limit: 10).ids == [])
    let nobody = try await send(2, to: #"{"registration_id":["\#(android.text)"]}"#)
    #expect(nobody.status == 422)
    let limited = try await send(3)
    #expect(limited.status == 429 && String(decoding: limited.body, as: UTF8.self).contains("Send now (1)"))
  }

  /// In each language, and about the form's fields rather than those of a push object.
  @Test(arguments: [
    (1002, "Missing parameter: platform"), (1002, "Missing parameter: audience"),
    (1003, "audience.registration_id holds 'x'"), (1003, "audience.alias has 1001 values"),
    (1003, "audience.tag_not is invalid: 'a/b' has the character '/'"),
    (1003, "options.time_to_live is more than the 60 of the app's plan"),
    (1003, "notification.ios.badge must be an integer or a string such as '+1'"),
    (1003, "notification.ios.extras.aps is reserved for the server"),
    (1003, "notification.ios.extras._j_msgid is reserved for the server"),
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
    #expect(phrase.chinese == "推送未被接受，API 应答：“options.sendno must not be 0”")
  }

  @Test func `Troubles of credentials and callbacks are in both languages`() {
    for text in ["paused: by Zoe", "by Zoe", "the certificate has expired"] {
      let phrase = Phrase(problem: text)
      #expect(phrase.english == text && phrase.chinese != text && !phrase.chinese.contains("paused"))
    }
    #expect(Phrase(problem: "paused: BadCertificate").chinese == "已暂停：BadCertificate")
    #expect(CallbackWords.answer(status: 500, error: "answered 500").english == "answered 500")
    #expect(CallbackWords.answer(status: 200, error: nil).english == "answered 200")
    #expect(Phrase(problem: "TLS: tlsv1 alert unknown ca").chinese == "TLS: tlsv1 alert unknown ca")
  }

  @Test(arguments: [
    ("answered 404", "返回 404"), ("answered 301: redirects are not followed", "返回 301：不支持重定向"),
    ("the address is not allowed", "不允许访问该地址"), ("the app has no callback address", "应用未设置回调地址"),
    ("Couldn't resolve host name", "无法解析域名"), ("127.0.0.1:1: Connection refused", "127.0.0.1:1：连接被拒绝"),
    ("paused: Apple answered 403 InvalidProviderToken", "已暂停：苹果应答 403 InvalidProviderToken"),
    ("Apple answered 403 without a reason", "苹果应答 403（未说明原因）"),
    ("Huawei's token service answered 503", "Huawei 的令牌服务应答 503"),
    ("vivo refused the credential: 10001 wrong sign", "vivo 拒绝了该凭证：10001 wrong sign"),
    ("post, Connection refused, next attempt at 2026-11-28", "post, Connection refused，下次尝试 2026-11-28"),
    ("TLS with [::1]:443: certificate refused: expired", "与 [::1]:443 的 TLS 握手：证书未通过验证：expired"),
    ("proxy 192.0.2.1 port 3128: the proxy answered 407", "代理 192.0.2.1:3128：代理应答 407"),
    (
      "TLS with api.push.apple.com through proxy 192.0.2.1 port 3128: the peer closed during the handshake",
      "与 api.push.apple.com 经代理 192.0.2.1:3128 的 TLS 握手：对方在握手时关闭了连接"
    ),
  ])
  func `What the program notes of troubles is in Chinese on Chinese pages`(text: String, chinese: String) {
    let phrase = Phrase(problem: text)
    #expect(phrase.english == text && phrase.chinese == chinese)
  }

  @Test func `A form that cannot be read is no form of another site`() async throws {
    let world = try ConsoleWorld()
    let owner = try await world.owner()
    let fields = ["a=%zz", (0...HTTPTarget.mostItems).map { "f\($0)=" }.joined(separator: "&")]
    for path in ["/console/me/profile", "/console/login"] {
      for body in fields {
        let answer = await owner.call("POST", path, body: body)
        #expect(answer.status == 400, "\(path)")
        #expect(String(decoding: answer.body, as: UTF8.self).contains("The server could not read the form."))
      }
    }
    let large = await owner.call("POST", "/console/login", body: String(repeating: "a", count: 200_000))
    #expect(large.status == 413 && String(decoding: large.body, as: UTF8.self).contains("<h1>Too large</h1>"))
    let refused = try #require(
      WebConsole.refusal(.bodyTooLarge, of: "/console/apps/x/settings/credentials/apns"))
    Safety.check(refused, "refusal")
    let page = String(decoding: refused.body, as: UTF8.self)
    #expect(refused.status == 413 && page.contains("<h1>Too large</h1>") && page.contains("内容过大"))
    #expect(WebConsole.refusal(.bodyTooLarge, of: "/v3/push") == nil)
    // Whom a page is not for, it does not read forms for.
    #expect(await Browser(world).call("POST", "/console/me/profile", body: "a=%zz").status == 303)
    #expect(await owner.call("POST", "/console/nowhere", body: "a=%zz").status == 404)
  }
}
