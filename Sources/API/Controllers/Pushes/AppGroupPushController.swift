import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Pushes to all apps of a group (JPush REST v3, "group push"). The user name of a group is `group-` and its
/// key.
struct AppGroupPushController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] = [
    route(.push, "POST", "/v3/grouppush", by: .group) { $0.pushToGroup($1, audience: .named) },
    route(.push, "POST", "/v3/grouppush/file", by: .group) { $0.pushToGroup($1, audience: .file) },
  ]

  /// `POST /v3/grouppush` and `/v3/grouppush/file`.
  private func pushToGroup(_ call: GatewayCall, audience: AudienceKind) {
    guard let group = call.group, let json = call.body() else { return }
    var request: AcceptRequest
    do throws(APIError) {
      request = try groupRequest(json, call.request.body, audience, group)
      request.trace = call.log.trace
    } catch {
      gateway.refused.add()
      call.fail(error)
      return
    }
    let call = call.ignoring(request.push.ignored)
    router.acceptance.accept(request, for: group, without: { self.appsWithoutCalls(in: group) }) {
      [gateway] result in
      switch result {
      case .failure(let error):
        gateway.refused.add()
        call.fail(error)
      case .success(let push):
        gateway.groupPushes.add()
        for member in push.members {
          if case .success = member.result { gateway.accepted.add() } else { gateway.refused.add() }
        }
        call.answer(200, Self.answer(push))
      }
    }
  }

  /// A push to a group counts as a call of each app: apps over their limit for the minute do not get it.
  private func appsWithoutCalls(in group: AppGroup) -> [AppKey: APIError] {
    var barred: [AppKey: APIError] = [:]
    for app in group.apps where !gateway.consumePushCall(of: app) {
      gateway.limited.add()
      barred[app.key] = .rateExceeded
    }
    return barred
  }

  private func groupRequest(
    _ json: JSONValue, _ body: [UInt8], _ audience: AudienceKind, _ group: AppGroup
  ) throws(APIError) -> AcceptRequest {
    let push = try PushRequest.parse(json, rules: limits.rules, audience: audience)
    if let cid = push.cid, !Gateway.isCID(cid, issuedTo: group.key) {
      throw .invalidValue("cid was not issued to this group: it must begin with the group's key and -")
    }
    if push.options.overrideMessageID != nil {
      throw .invalidValue("options.override_msg_id does not go with a push to a group")
    }
    guard !group.apps.isEmpty else { throw .noTarget.saying("The group has no app") }
    return AcceptRequest(push, from: .group(group.id), object: body)
  }

  /// The group's message ID, and the outcome for each app key.
  private static func answer(_ push: AcceptedAppGroupPush) -> [UInt8] {
    json { writer in
      writer.member("group_msgid", push.id.text)
      for member in push.members {
        writer.key(member.app.text)
        writer.beginObject()
        switch member.result {
        case .success(let id):
          writer.member("msg_id", id.text)
          // The Java client requires it beside each msg_id.
          writer.member("sendno", String(push.sendno))
        case .failure(let error): error.writeMember(to: &writer)
        }
        writer.endObject()
      }
    }
  }
}
