import BorealisBase
import HTTP
import Model
import Synchronization
import Testing

@testable import API
@testable import Core
@testable import Storage

/// What is said of a call of which nobody knows whether it was carried out: never that it may simply be
/// repeated.
@Suite struct DoubtTests {
  @Test(arguments: [(StorageError.inDoubt(.io, "x"), true), (StorageError.refusal("x"), false)])
  func `A push or a schedule in doubt says so`(error: StorageError, isInDoubt: Bool) {
    let words = "may have been carried out"
    #expect(error.apiError == (isInDoubt ? .unanswered : .timeout))
    #expect(error.apiError.message.contains(words) == isInDoubt)
    let schedule = Schedules.failure(error)
    #expect(error.apiError.isInDoubt == isInDoubt && schedule.isInDoubt == isInDoubt)
    #expect(schedule.code == 8203 && schedule.httpStatus == 503)
    #expect(schedule.message.contains(words) == isInDoubt)
  }

  @Test(
    arguments: [
      (APIError.unanswered, false), (.scheduleUnanswered, false), (.timeout, true),
      (StorageError(.diskFull, "x").apiError, true),
    ])
  func `Only what was certainly not carried out has Retry-After`(error: APIError, hasField: Bool) throws {
    var table = RouteTable<Int>()
    table.add("POST", "/v3/push", 0)
    let target = try #require(HTTPTarget("/v3/push"))
    guard case .found(_, let captures) = table.match("POST", target.path) else {
      Issue.record("no route")
      return
    }
    let answer = Mutex<HTTPResponse?>(nil)
    let call = GatewayCall(
      api: .push, pattern: "/v3/push", request: HTTPRequest(method: "POST", target: "/v3/push"),
      reply: CallReply(requestID: "r") { response in answer.withLock { $0 = response } },
      log: AccessLog(.silent, SystemTime()), target: target, captures: captures, callers: .app, bodyBytes: 0)
    call.fail(error)
    let response = try #require(answer.withLock { $0 })
    #expect(response.status == 503 && (response.headers["retry-after"] != nil) == hasField)
  }
}
