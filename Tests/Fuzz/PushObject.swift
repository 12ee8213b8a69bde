import BorealisBase
import BorealisProtocol
import Channels
import Model

/// The body of `POST /v3/push`: what is accepted is fit for the database, the wire and the app server.
@Sendable func fuzzPushObject(_ bytes: [UInt8]) {
  guard let json = try? parseJSON(bytes) else { return }
  let lenient = PushRules(
    allowHyphen: true, maximumTimeToLive: .max, maximumIOSNotification: 4500,
    renderers: [APNsContentRenderer()])
  var accepted: [Bool] = []
  for rules in [PushRules(renderers: [APNsContentRenderer()]), lenient] {
    do throws(APIError) {
      let push = try PushRequest.parse(json, rules: rules)
      accepted.append(true)
      check(push, rules)
    } catch {
      accepted.append(false)
      let answer = try? parseJSON(error.json(msgID: MessageID(1)))
      check(answer?["error"]?["code"]?.int64 == Int64(error.code), "an error is answered in JSON")
    }
  }
  check(!accepted[0] || accepted[1], "plain rules accept nothing that lenient rules refuse")
}

private func check(_ push: PushRequest, _ rules: PushRules) {
  check(PushContent(decoding: push.content.encode()) == push.content, "content survives the database")
  check(!push.content.platforms.isEmpty, "someone gets something")
  check(push.content.platforms.isSubset(of: push.namedPlatforms), "nobody gets what was not for them")
  check(push.platforms == push.content.platforms, "only platforms with content have targets")
  check((0...rules.maximumTimeToLive).contains(push.options.timeToLive), "the time to live keeps its limit")
  check(push.audience != .filter(AudienceFilter()), "an audience has a condition")
  for platform in Platform.allCases {
    let content = push.content.deviceJSON(platform: platform)
    check((try? parseJSON(content))?.object != nil, "a device gets a JSON object")
    let frame = ServerFrame.encodePush(messageID: MessageID(1), offline: false, content: content)
    check(!frame.isEmpty, "accepted content fits a frame")
  }
  for notification in push.content.apple {
    checkForApple(notification)
    var payload: [UInt8] = []
    notification.render(messageID: MessageID(1 << 53 - 1), badge: 99_999, into: &payload)
    check(
      (try? parseJSON(payload))?["_j_msgid"]?.int64 == 1 << 53 - 1, "Apple gets a JSON object with the ID")
  }
  if let callback = push.callback, !callback.params.isEmpty {
    check((try? parseJSON(callback.params))?.object != nil, "the params of a callback are a JSON object")
  }
}
