import BorealisBase
import HTTP

/// An error of Getui's API: a code, its HTTP status, and a message that names the field. Getui's clients read
/// the body only for the statuses 200, 400, 401 and 403.
struct GetuiError: Error, Equatable, Sendable {
  let code: Int
  let httpStatus: Int
  /// A sentence for the developer of the app server.
  let message: String

  /// The answer's body.
  func json() -> [UInt8] {
    var writer = JSONWriter(capacity: 64 + message.utf8.count)
    writer.beginObject()
    writer.member("code", code)
    writer.member("msg", message)
    writer.endObject()
    return writer.bytes
  }
}

extension GetuiError {
  /// 1: the body is not JSON.
  static func malformed(_ message: String) -> Self { Self(code: 1, httpStatus: 200, message: message) }
  /// 404: no such URL.
  static let notFound = Self(code: 404, httpStatus: 404, message: "There is no such URL")
  /// 405: the path has other methods.
  static func wrongMethod(_ allowed: [String]) -> Self {
    Self(
      code: 405, httpStatus: 405, message: "Only \(allowed.joined(separator: " or ")) is accepted here")
  }
  /// 10001: the token is wrong, has expired or was revoked. Clients get a new one and repeat the call.
  static let tokenInvalid = Self(code: 10001, httpStatus: 401, message: "token is invalid")
  /// 10001 of `POST /auth`: the signature is wrong.
  static func signInvalid(_ message: String) -> Self { Self(code: 10001, httpStatus: 401, message: message) }
  /// 10002: the operator has disabled the app.
  static let appRefused = Self(code: 10002, httpStatus: 401, message: "appId is on the blacklist")
  /// 10002: the app does not allow calls from this address.
  static let addressRefused = Self(
    code: 10002, httpStatus: 401, message: "The source IP is not on the app's list")
  /// 10003: the app got too many tokens in this minute.
  static let authLimited = Self(
    code: 10003, httpStatus: 401, message: "Too many calls of auth in this minute")
  /// 10005: the app made too many calls in this minute.
  static let callsLimited = Self(code: 10005, httpStatus: 401, message: "Too many calls in this minute")
  /// 20001: a parameter is wrong.
  static func parameter(_ message: String) -> Self { Self(code: 20001, httpStatus: 400, message: message) }
  /// 20001: a value is wrong, with the rule that it breaks.
  static func invalid(_ name: String, _ reason: String) -> Self { parameter("\(name) is invalid: \(reason)") }
  /// 20001: a value is missing.
  static func missing(_ name: String) -> Self { parameter("\(name) can not be empty") }
  /// 20001: a value has another type than the one that is named.
  static func wrongType(_ name: String, _ type: String) -> Self {
    parameter("\(name) type error: it must be \(type)")
  }
  /// 20001: a value is too long, or a list has too many values, with the limit.
  static func overLimit(_ name: String, _ limit: String) -> Self {
    parameter("\(name) size over limit: \(limit)")
  }
  /// 20001: a CID or alias names no device of the app.
  static let unknownTarget = parameter("target user is invalid")
  /// 20001: the same of one of several CIDs.
  static func unknownTarget(_ cid: String) -> Self {
    parameter("\(unknownTarget.message): the app has no cid '\(cid.prefix(64))'")
  }
  /// 20001: no app has the feature.
  static func unsupported(_ name: String) -> Self {
    parameter("permission required by \(name): it is not supported")
  }
  /// 20001: the app has no task of this name.
  static let unknownTask = invalid("taskid", "the app has no such task")
  /// 22001: the scheduled task has run.
  static let alreadySent = Self(code: 22001, httpStatus: 400, message: "The scheduled task has already run")
  /// 22002: the task can no longer be used.
  static func taskInvalid(_ message: String) -> Self { Self(code: 22002, httpStatus: 400, message: message) }
  /// 30019: the server is overloaded or its database failed. The client may try again.
  static let busy = Self(code: 30019, httpStatus: 403, message: "The system is busy, please retry later")
  /// 30019: there was no answer in time, and the call, which has a `request_id`, may have been carried out.
  static let unanswered = noAnswer("The call may have been carried out: repeat it with the same request_id")
  /// 30019: the same of the calls that send a stored message, which have none.
  static let unansweredList = noAnswer(
    "The push may have been made, and to repeat the call may push twice: see task/detail/{cid}/{taskid} first"
  )
  /// 30019: the same of calls that push nothing.
  static let unansweredCall = noAnswer("The call may have been carried out")
  private static func noAnswer(_ advice: String) -> Self {
    Self(code: 30019, httpStatus: 403, message: "No answer in time. \(advice)")
  }

  /// The same for a request target.
  static func unanswered(at target: String) -> Self {
    guard let path = HTTPTarget(target)?.path.dropFirst(2), path.first == "push" else {
      return unansweredCall
    }
    let list = path.dropFirst()
    return list.first == "list" && list.dropFirst().first != "message" ? unansweredList : unanswered
  }
}
