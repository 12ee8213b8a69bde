import PushBase
import PushDomain
import PushHTTP
import PushJSON
import PushRouter
import PushStorage

/// Pushes to all apps of a group (JPush REST v3, "group push"). A group calls as `group-` and its key.
extension Gateway {
  static let groupRoutes: [Route] = [
    Route(.push, "POST", "/v3/grouppush", by: .group) { $0.pushToGroup($1, audience: .named) },
    Route(.push, "POST", "/v3/grouppush/file", by: .group) { $0.pushToGroup($1, audience: .file) },
  ]

  /// `POST /v3/grouppush` and `/v3/grouppush/file`.
  private func pushToGroup(_ call: GatewayCall, audience: AudienceKind) {
    guard let group = call.group, let json = call.body() else { return }
    let request: AcceptRequest
    do throws(APIError) {
      request = try groupRequest(json, call.request.body, audience, group)
    } catch {
      refused.add()
      call.fail(error)
      return
    }
    router.accept(request, for: group, without: { self.appsWithoutCalls(in: group) }) {
      [accepted, refused, groupPushes] result in
      switch result {
      case .failure(let error):
        refused.add()
        call.fail(error)
      case .success(let push):
        groupPushes.add()
        for member in push.members {
          if case .success = member.result { accepted.add() } else { refused.add() }
        }
        call.answer(200, Self.answer(push))
      }
    }
  }

  /// A push to a group counts as one of each app's: apps that have no call left in this minute get none.
  private func appsWithoutCalls(in group: AppGroup) -> [AppKey: APIError] {
    var barred: [AppKey: APIError] = [:]
    for app in group.apps where !takePushCall(of: app) {
      limited.add()
      barred[app.key] = .rateExceeded
    }
    return barred
  }

  private func groupRequest(
    _ json: JSONValue, _ body: [UInt8], _ audience: AudienceKind, _ group: AppGroup
  ) throws(APIError) -> AcceptRequest {
    var request = AcceptRequest(try PushRequest.parse(json, rules: limits.rules, audience: audience))
    if let cid = request.cid, !Self.isCID(cid, issuedTo: group.key) {
      throw .invalidValue("cid was not issued to this group")
    }
    if request.overrides != nil {
      throw .invalidValue("options.override_msg_id does not go with a push to a group")
    }
    guard !group.apps.isEmpty else { throw .noTarget.saying("The group has no app") }
    request.sender = .group(group.id)
    request.object = body
    return request
  }

  /// Its number, and under the key of each app what became of it there.
  private static func answer(_ push: AcceptedGroupPush) -> [UInt8] {
    json { writer in
      writer.member("group_msgid", push.id.text)
      for member in push.members {
        writer.key(member.app.text)
        writer.beginObject()
        switch member.result {
        case .success(let id):
          writer.member("msg_id", id.text)
          // Java's client reads it wherever there is a msg_id.
          writer.member("sendno", String(push.sendno))
        case .failure(let error): error.writeMember(to: &writer)
        }
        writer.endObject()
      }
    }
  }
}
