import BorealisBase
import Core
import HTTP
import PushTesting
import Testing

@testable import API
@testable import Storage

/// Answers to mistakes: each names the field, the rule and what is wrong with the value, so that the caller
/// can repair the call.
@Suite(.timeLimit(.minutes(1))) struct MistakeTests {
  private static let calls: [PushMistakes.Mistake] = [
    ("POST /push/list/cid", #"{"audience":{"cid":["CID"]}}"#, "taskid can not be empty"),
    (
      "POST /push/list/cid", #"{"audience":{"cid":["CID"]},"taskid":"RASA_7"}"#,
      "taskid is invalid: \(PushMistakes.task) RASL_NUMBER, not 'RASA_7'"
    ),
    (
      "POST /push/list/cid", #"{"audience":{"cid":["CID"]},"taskid":"RASL_7"}"#,
      "taskid is invalid: the app has no such task"
    ),
    (
      "POST /push/list/cid", #"{"audience":{"cid":["CID","CID"]},"taskid":"RASL_7"}"#,
      "contains duplicate cid: 'CID' is given twice"
    ),
    (
      "POST /push/list/cid", #"{"audience":{"cid":["CID"]},"taskid":"RASL_7","need_alias_detail":true}"#,
      "need_alias_detail is invalid: it goes with push/list/alias"
    ),
    ("POST /push/single/batch/cid", #"{}"#, "msg_list can not be empty"),
    ("DELETE /task/x", "", "taskid is invalid: \(PushMistakes.task) RASL_NUMBER or RASA_NUMBER, not 'x'"),
    (
      "DELETE /task/RASS_7", "",
      "taskid is invalid: \(PushMistakes.task) RASL_NUMBER or RASA_NUMBER, not 'RASS_7'"
    ),
    ("DELETE /task/RASL_7", "", "taskid is invalid: the app has no such task"),
    ("GET /task/schedule/RASL_7", "", "taskid is invalid: \(PushMistakes.task) RASA_NUMBER, not 'RASL_7'"),
    ("GET /task/schedule/RASA_7", "", "taskid is invalid: the app has no such task"),
    ("DELETE /task/schedule/RASA_7", "", "taskid is invalid: the app has no such task"),
    (
      "GET /task/detail/CID/x", "",
      "taskid is invalid: \(PushMistakes.task) RASS_NUMBER or RASL_NUMBER or RASA_NUMBER, not 'x'"
    ),
    ("GET /task/detail/x/RASA_7", "", "target user is invalid"),
    ("GET /task/detail/CID/RASA_7", "", "taskid is invalid: the CID is not in its audience"),
    (
      "POST /user/alias", #"{"data_list":[{"cid":"CID","alias":"a-b"}]}"#,
      "data_list[0].alias is invalid: 'a-b' has the character '-' (U+002D); \(PushMistakes.characters)"
    ),
    (
      "POST /user/alias", #"{"data_list":[{"cid":"CID","alias":"\#(PushMistakes.long)"}]}"#,
      "data_list[0].alias size over limit: it has 51 characters, at most 40 are allowed"
    ),
    (
      "POST /user/alias", #"{"data_list":[{"cid":"CID","alias":"a"},{"cid":"x","alias":"a"}]}"#,
      "target user is invalid: the app has no cid 'x'"
    ),
    (
      "POST /user/alias", #"{"data_list":[{"cid":"CID","alias":"a"},{"cid":"CID","alias":"a"}]}"#,
      "contains duplicate cid: 'CID' is given twice"
    ),
    ("POST /user/alias", #"{"data_list":[{"cid":"CID"}]}"#, "data_list[0].alias can not be empty"),
    (
      "GET /user/cid/alias/a-b", "",
      "alias is invalid: 'a-b' has the character '-' (U+002D); \(PushMistakes.characters)"
    ),
    (
      "DELETE /user/alias/a%20b", "",
      "alias is invalid: 'a b' has the character U+0020; \(PushMistakes.blanks)"
    ),
    (
      "POST /user/custom_tag/cid/CID", #"{"custom_tag":["a","b c"]}"#,
      "custom_tag[1] is invalid: 'b c' has the character U+0020; \(PushMistakes.blanks)"
    ),
    (
      "POST /user/custom_tag/cid/CID", #"{"custom_tag":"a"}"#,
      "custom_tag type error: it must be a JSON array"
    ),
    (
      "POST /user/custom_tag/cid/CID", #"{"custom_tag":["\#(PushMistakes.long)"]}"#,
      "custom_tag[0] is longer than 32 characters"
    ),
    (
      "PUT /user/custom_tag/batch/a%20b", #"{"cid":["CID"]}"#,
      "custom_tag is invalid: 'a b' has the character U+0020; \(PushMistakes.blanks)"
    ),
    ("PUT /user/custom_tag/batch/a", #"{"cid":[]}"#, "cid can not be empty"),
    ("POST /user/black/cid/CID,x", "", "target user is invalid: the app has no cid 'x'"),
    ("POST /user/black/cid/CID,CID", "", "contains duplicate cid: 'CID' is given twice"),
    (
      "POST /user/badge/cid/CID", #"{"badge":"x"}"#,
      "badge is invalid: it must be a number such as 7, +1 or -1, not 'x'"
    ),
    ("POST /user/badge/cid/CID", #"{}"#, "badge can not be empty"),
    (
      "POST /user/bind_dt/wx", #"{}"#,
      "permission required by bind_dt/wx: known are apn, apns, fcm, harmony, ho, honor, hoshw, huawei, hw, ios, meizu, mz, op, oppo, vivo, vv, xiaomi, xm"
    ),
    ("POST /user/bind_dt/ios", #"{}"#, "dt_list can not be empty"),
    (
      "POST /user/bind_dt/ios", #"{"dt_list":[{"cid":"CID","device_token":"00"}]}"#,
      "dt_list[0].cid is invalid: it is not on iOS"
    ),
    (
      "POST /user/bind_dt/ios", #"{"dt_list":[{"cid":"PHONE","device_token":"x"}]}"#,
      "dt_list[0].device_token is invalid: it must have at most 200 hexadecimal digits, two for each byte"
    ),
    (
      "POST /user/bind_dt/ios", #"{"dt_list":[{"cid":"PHONE"}]}"#,
      "dt_list[0].device_token can not be empty"
    ),
    (
      "POST /user/bind_dt/ios", #"{"dt_list":[{"cid":"x","device_token":"00"}]}"#,
      "target user is invalid: the app has no cid 'x'"
    ),
    ("GET /report/push/date/today", "", "date is invalid: it must be a day such as 2026-01-31, not 'today'"),
    ("GET /report/push/date/2999-01-01", "", "date is invalid: it must be before today"),
    (
      "GET /report/push/task_group/g?startDate=x", "",
      "startDate is invalid: it must be a day such as 2026-01-31, not 'x'"
    ),
    (
      "GET /report/push/task_group/g?startDate=2000-01-01", "",
      "startDate is invalid: there are figures of whole days since 2026-08-22"
    ),
    (
      "POST /auth", #"{"sign":"a","appkey":"b","timestamp":"now"}"#,
      "timestamp is invalid: it must be the Unix time in milliseconds, such as 1767225600000"
    ),
    ("POST /auth", #"{"sign":7,"appkey":"b","timestamp":1}"#, "sign type error: it must be a string"),
    ("POST /auth", #"{"sign":"a","appkey":"b","timestamp":1}"#, "appkey does not belong to the appId"),
  ]

  @Test func `An answer says how to repair the call`() async throws {
    let world = try await GetuiWorld()
    let (id, phone) = (try await world.register(), try await world.register(platform: .ios))
    try await world.setPlan(PlanRow(name: "small", maxTimeToLive: 3600))
    let token = await world.token()
    for mistake in PushMistakes.all + Self.calls {
      let parts = mistake.call.replacing("CID", with: id.text).split(separator: " ", maxSplits: 1)
      let body = mistake.body.replacing("CID", with: id.text).replacing("PHONE", with: phone.text)
      let answer = await world.call(String(parts[0]), String(parts[1]), body, token: token)
      let message = answer.message.replacing(id.text, with: "CID")
      #expect(message == mistake.message, "\(mistake.call) \(body.prefix(200))")
    }
  }
}
