import PushBase
import PushDomain
import PushHTTP
import PushJSON
import PushRouter

extension Gateway {
  /// `POST /v3/push` and, with `isReal` false, `POST /v3/push/validate`; with the audience in a file `POST /v3/push/file`.
  func push(_ call: GatewayCall, isReal: Bool, audience: AudienceKind = .named) {
    guard let app = call.app, let json = call.body() else {
      refused.add()
      return
    }
    let parsed: PushRequest
    do throws(APIError) {
      parsed = try PushRequest.parse(json, rules: limits.rules, audience: audience)
    } catch {
      refused.add()
      call.fail(error)
      return
    }
    var request = AcceptRequest(parsed)
    request.object = call.request.body
    if let cid = request.cid, !Self.isCID(cid, issuedTo: app.key) {
      refused.add()
      call.fail(.invalidValue("cid was not issued to this app"))
      return
    }
    guard isReal else {
      router.validate(request, for: app) { result in
        switch result {
        case .success(let push): call.answer(200, Self.success(push.id, sendno: push.sendno))
        case .failure(let error): call.fail(error)
        }
      }
      return
    }
    router.accept(request, for: app) { [accepted, refused] result in
      switch result {
      case .success(let push):
        accepted.add()
        call.answer(200, Self.success(push.id, sendno: push.sendno))
      case .failure(let error):
        refused.add()
        call.fail(error)
      }
    }
  }

  /// JPush issues the names itself; the key of the app, or the group, at the front shows for whom.
  public static func isCID(_ cid: String, issuedTo key: AppKey) -> Bool { cid.hasPrefix(key.text + "-") }

  /// Both numbers are strings at JPush.
  private static func success(_ id: MessageID, sendno: Int32) -> [UInt8] {
    var writer = JSONWriter(capacity: 64)
    writer.beginObject()
    writer.member("sendno", String(sendno))
    writer.member("msg_id", id.text)
    writer.endObject()
    return writer.bytes
  }

  /// `GET /v3/push/cid`: names for requests that may be repeated.
  func issueCIDs(_ call: GatewayCall) {
    guard let owner = call.owner else { return }
    guard let count = call.target["count"].map({ Int($0) }) ?? 1, (1...1000).contains(count) else {
      call.fail(.invalidValue("count must be 1 to 1000"))
      return
    }
    guard ["push", "schedule"].contains(call.target["type"] ?? "push") else {
      call.fail(.invalidValue("type must be push or schedule"))
      return
    }
    var writer = JSONWriter(capacity: 80 * count)
    writer.beginObject()
    writer.key("cidlist")
    writer.beginArray()
    for _ in 0..<count { writer.value("\(owner.text)-\(Self.uuid())") }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  /// A random UUID (RFC 9562 version 4).
  static func uuid() -> String {
    var bytes = SystemRandom.bytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Hex.encode(bytes).utf8.map { $0 }
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return parts.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
  }

  /// `DELETE /v3/push/{msg_id}`.
  func recall(_ call: GatewayCall) {
    guard let app = call.app else { return }
    guard let id = MessageID(decimal: Array((call.captures["msg_id"] ?? "").utf8)) else {
      call.fail(.invalidValue("msg_id must be a number"))
      return
    }
    router.recall(id, in: app) { result in
      switch result {
      case .success: call.answerEmpty()
      case .failure(let error): call.fail(error)
      }
    }
  }
}

extension AcceptRequest {
  /// Takes over a push object that passed the checks. Malformed registration IDs name nobody.
  public init(_ request: PushRequest) {
    var terms = AudienceTerms()
    if case .filter(let filter) = request.audience {
      terms.tags = filter.tag
      terms.tagsAnd = filter.tagAnd
      terms.tagsNot = filter.tagNot
      terms.aliases = filter.alias
      terms.registrationIDs = filter.registrationID.compactMap { RegistrationID($0) }
      terms.namesRegistrations = !filter.registrationID.isEmpty
      terms.liveActivityID = filter.liveActivityID
    }
    var file: String?
    if case .file(let id) = request.audience { file = id }
    // What has only something for Apple is for nobody else.
    let platforms =
      request.content.variants.isEmpty
      ? request.platforms.intersection(request.content.platforms) : request.platforms
    self.init(
      cid: request.cid, platforms: platforms, terms: terms, file: file, content: request.content,
      sendno: request.options.sendno ?? 0, timeToLive: request.options.timeToLive,
      overrides: request.options.overrideMessageID, strategy: request.options.strategy,
      callback: request.callback)
    spreadMinutes = Int64(request.options.bigPushDuration)
    pushPlan = request.options.pushPlan
    isForTestDevices = request.options.isForTestDevices
  }
}
