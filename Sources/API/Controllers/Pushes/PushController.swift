import BorealisBase
import Core
import HTTP
import Model

struct PushController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "POST", "/v3/push") { $0.push($1, isReal: true) },
    route(.push, "POST", "/v3/push/validate") { $0.push($1, isReal: false) },
    route(.push, "POST", "/v3/push/file") { $0.push($1, isReal: true, audience: .file) },
    route(.push, "GET", "/v3/push/cid", by: .both) { $0.issueCIDs($1) },
    route(.push, "DELETE", "/v3/push/{msg_id}") { $0.recall($1) },
  ]

  /// `POST /v3/push` and, with `isReal` false, `POST /v3/push/validate`; with the audience in a file `POST
  /// /v3/push/file`.
  private func push(_ call: GatewayCall, isReal: Bool, audience: AudienceKind = .named) {
    guard let app = call.app, let json = call.body() else {
      gateway.refused.add()
      return
    }
    let parsed: PushRequest
    do throws(APIError) {
      parsed = try PushRequest.parse(json, rules: gateway.pushRules(of: app), audience: audience)
    } catch {
      gateway.refused.add()
      call.fail(error)
      return
    }
    let call = call.ignoring(parsed.ignored)
    var request = AcceptRequest(parsed, object: call.request.body)
    request.trace = call.log.trace
    if let cid = parsed.cid, !Gateway.isCID(cid, issuedTo: app.key) {
      gateway.refused.add()
      call.fail(.invalidValue("cid was not issued to this app: it must begin with the app key and -"))
      return
    }
    guard isReal else {
      router.acceptance.validate(request, for: app) { [router] result in
        switch result {
        case .success(let push):
          guard call.request.wantsExtensions else {
            return call.answer(200, Self.success(push.id, sendno: push.sendno))
          }
          let previews = router.channels.previews(
            of: parsed.content, in: app, secondsToLive: parsed.options.timeToLive)
          call.answer(
            200,
            Self.success(push.id, sendno: push.sendno) {
              Self.writeExtensions(previews, ignored: parsed.ignored, to: &$0)
            })
        case .failure(let error): call.fail(error)
        }
      }
      return
    }
    router.acceptance.accept(request, for: app) { [gateway] result in
      switch result {
      case .success(let push):
        gateway.accepted.add()
        call.answer(200, Self.success(push.id, sendno: push.sendno))
      case .failure(let error):
        gateway.refused.add()
        call.fail(error)
      }
    }
  }

  /// Both numbers are strings at JPush.
  static func success(
    _ id: MessageID, sendno: Int64, extensions: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
    json { writer in
      writer.member("sendno", String(sendno))
      writer.member("msg_id", id.text)
      extensions(&writer)
    }
  }

  /// What makers' services would get, and what has no effect.
  static func writeExtensions(
    _ previews: [PushPreview], ignored: [String], to writer: inout JSONWriter
  ) {
    writer.key("channels")
    writer.beginObject()
    for preview in previews {
      writer.key(preview.channel.name)
      preview.write(to: &writer)
    }
    writer.endObject()
    writer.key("ignored")
    writer.beginArray()
    for name in ignored { writer.value(name) }
    writer.endArray()
  }

  /// `GET /v3/push/cid`: IDs for idempotent requests.
  private func issueCIDs(_ call: GatewayCall) {
    guard let owner = call.owner else { return }
    guard let count = call.query("count").map({ Int($0) }) ?? 1, (1...1000).contains(count) else {
      call.fail(.invalidValue("count must be 1 to 1000, not '\((call.query("count") ?? "").prefix(40))'"))
      return
    }
    guard ["push", "schedule"].contains(call.query("type") ?? "push") else {
      call.fail(
        .invalidValue("type must be push or schedule, not '\((call.query("type") ?? "").prefix(40))'"))
      return
    }
    var writer = JSONWriter(capacity: 80 * count)
    writer.beginObject()
    writer.key("cidlist")
    writer.beginArray()
    for _ in 0..<count { writer.value("\(owner.text)-\(Gateway.uuid())") }
    writer.endArray()
    writer.endObject()
    call.answer(200, writer.bytes)
  }

  /// `DELETE /v3/push/{msg_id}`.
  private func recall(_ call: GatewayCall) {
    guard let (id, app) = call.push() else { return }
    router.deliveries.recall(id, in: app) { result in
      switch result {
      case .success(let recalled):
        guard recalled.unconfirmed > 0, call.request.wantsExtensions else { return call.answerEmpty() }
        var writer = JSONWriter(capacity: 40)
        writer.beginObject()
        writer.member("unconfirmed_nodes", recalled.unconfirmed)
        writer.endObject()
        call.answer(200, writer.bytes)
      case .failure(let error): call.fail(error)
      }
    }
  }
}

extension PushPreview {
  /// Borealis' own: what makers' services would get.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("class")
    if let name = preview.messageClass?.rawValue { writer.value(name) } else { writer.null() }
    writer.key("class_words")
    writer.beginArray()
    for word in preview.words { writer.value(word) }
    writer.endArray()
    writer.key("cut")
    writer.beginArray()
    for cut in preview.cuts {
      writer.beginObject()
      writer.member("field", cut.field)
      writer.member("characters", cut.characters)
      writer.endObject()
    }
    writer.endArray()
    if let refusal = preview.refusal { writer.member("refused", refusal) }
    writer.key("notes")
    writer.beginArray()
    for note in preview.notes {
      writer.beginObject()
      writer.member("text", note.text.english)
      writer.member("source", note.source)
      writer.endObject()
    }
    writer.endArray()
    if let quota {
      writer.key("quota")
      writer.beginObject()
      if let total = quota.total { writer.member("total", total) }
      if let used = quota.used { writer.member("used", used) }
      if let left = quota.left { writer.member("left", left) }
      writer.member("known_since", Log.iso8601(quota.knownAt.milliseconds))
      writer.endObject()
    }
    writer.endObject()
  }
}
