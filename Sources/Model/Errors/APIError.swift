import BorealisBase

/// An answer of the JPush API that refuses a request: a code, the HTTP status that goes with it and a message
/// that names the field. Clients look at the code only.
package struct APIError: Error, Equatable, Sendable {
  /// JPush's code, such as 1003.
  package let code: Int
  /// The HTTP status, such as 400.
  package let httpStatus: Int
  /// What is wrong.
  private let text: String
  /// What is known of it in this case, by which errors do not differ.
  private var detail: String?

  /// One sentence for the developer of the app server. May quote what the request said; never a secret.
  package var message: String { detail.map { "\(text): \($0)" } ?? text }

  /// Makes an error with any code.
  package init(code: Int, httpStatus: Int, message: String) {
    self.code = code
    self.httpStatus = httpStatus
    text = message
  }

  /// Whether two errors are the same, whatever is known of them besides.
  package static func == (left: APIError, right: APIError) -> Bool {
    left.code == right.code && left.httpStatus == right.httpStatus && left.text == right.text
  }

  /// The same error with what is known of it in this case.
  package func with(detail: String) -> APIError {
    var error = self
    error.detail = detail
    return error
  }

  /// The same error with a message of the caller's.
  package func saying(_ message: String) -> APIError {
    APIError(code: code, httpStatus: httpStatus, message: message)
  }
}

/// Codes of the push API (JPush REST v3).
extension APIError {
  /// 1000: the server failed.
  package static let internalError = APIError(code: 1000, httpStatus: 500, message: "Internal error")
  /// 1001: another method than POST.
  package static let onlyPost = APIError(code: 1001, httpStatus: 405, message: "Only POST is accepted")
  /// 1002: a required parameter is missing.
  package static func missing(_ message: String) -> APIError {
    APIError(code: 1002, httpStatus: 400, message: message)
  }
  /// 1003: a parameter's value is not valid.
  package static func invalidValue(_ message: String) -> APIError {
    APIError(code: 1003, httpStatus: 400, message: message)
  }
  /// 1004: unknown app key or wrong master secret, without saying which.
  package static let authenticationFailed = APIError(code: 1004, httpStatus: 401, message: "Authen failed")
  /// 1005: a part of the push is too large.
  package static func tooLarge(_ message: String) -> APIError {
    APIError(code: 1005, httpStatus: 400, message: message)
  }
  /// 1008: the app key is not well-formed.
  package static let appKeyInvalid = APIError(
    code: 1008, httpStatus: 400, message: "app_key does not exist")
  /// 1009: the push object holds a key that is not supported.
  package static func unsupportedKey(_ message: String) -> APIError {
    APIError(code: 1009, httpStatus: 400, message: message)
  }
  /// 1011: the audience matches no device.
  package static let noTarget = APIError(
    code: 1011, httpStatus: 400,
    message: "cannot find user by this audience or has been inactive for more than 255 days")
  /// 1012: a limit is reached.
  package static func overLimit(_ message: String) -> APIError {
    APIError(code: 1012, httpStatus: 400, message: message)
  }
  /// 1020: the API is only there over HTTPS.
  package static let httpsOnly = APIError(code: 1020, httpStatus: 404, message: "Only HTTPS is accepted")
  /// 1030: the server took too long; the request may be tried again.
  package static let timeout = APIError(
    code: 1030, httpStatus: 503, message: "Internal timeout, please retry later")
  /// 1030: no answer in time; the call may have been carried out nevertheless.
  package static let unanswered = APIError(
    code: 1030, httpStatus: 503,
    message: "No answer in time. The call may have been carried out: repeat a push with the same cid")
  /// 22002 of Getui's API: its stored message was stopped or has expired.
  package static let taskEnded = APIError(
    code: 22002, httpStatus: 400, message: "The task was stopped or has ended")
  /// 20001 of Getui's API: the name of a request stands for another one.
  package static let requestRepeated = APIError(
    code: 20001, httpStatus: 400, message: "request_id cannot be repeat.")
  /// 1035: `active_push` does not go with `message` or `big_push_duration`.
  package static func activePush(_ message: String) -> APIError {
    APIError(code: 1035, httpStatus: 400, message: message)
  }
  /// 2002: too many calls in this minute.
  package static let rateExceeded = APIError(code: 2002, httpStatus: 429, message: "Rate limit exceeded")
  /// 2003: the app may not push.
  package static let blacklisted = APIError(
    code: 2003, httpStatus: 403, message: "The appKey is in black list.")
  /// 2004: the caller's address is not on the app's list.
  package static let addressRefused = APIError(
    code: 2004, httpStatus: 403, message: "The source IP is not in the white list")
  /// 2005: the volume is beyond what was agreed.
  package static let volumeRefused = APIError(
    code: 2005, httpStatus: 403, message: "The volume is not reasonable, please contact the operator")
  /// 2006: the plan does not include this.
  package static let planTooSmall = APIError(code: 2006, httpStatus: 403, message: "Not a VIP app")
  /// 2007: the function is not there for this app.
  package static func notPermitted(_ message: String) -> APIError {
    APIError(code: 2007, httpStatus: 403, message: message)
  }
  /// 2008: the day's broadcasts are used up.
  package static let broadcastLimit = APIError(
    code: 2008, httpStatus: 403, message: "The limit of broadcasts for today is reached")
}

/// Codes of the device API.
extension APIError {
  /// 7000: the server failed.
  package static let deviceInternalError = APIError(code: 7000, httpStatus: 500, message: "Internal error")
  /// 7001: the request has no `Authorization` header.
  package static let deviceNoAuthorization = APIError(
    code: 7001, httpStatus: 401, message: "The Authorization header is missing")
  /// 7002: a parameter is not valid, or the registration ID is unknown or malformed.
  package static func deviceInvalid(_ message: String) -> APIError {
    APIError(code: 7002, httpStatus: 400, message: message)
  }
  /// 7004: unknown app key or wrong master secret.
  package static let deviceAuthenticationFailed = APIError(
    code: 7004, httpStatus: 401, message: "Authen failed")
  /// 7008: the app key does not exist.
  package static let deviceAppUnknown = APIError(
    code: 7008, httpStatus: 400, message: "app_key does not exist")
  /// 7013: some of the parameters are not valid, such as one registration ID of several.
  package static func devicePartlyInvalid(_ message: String) -> APIError {
    APIError(code: 7013, httpStatus: 400, message: message)
  }
  /// 7015: the alias belongs to 10 devices already.
  package static let deviceAliasFull = APIError(
    code: 7015, httpStatus: 400, message: "The alias is bound to 10 devices already")
  /// 7030: the server is busy; the request may be tried again.
  package static let deviceBusy = APIError(code: 7030, httpStatus: 503, message: "Busy, please retry later")
}
