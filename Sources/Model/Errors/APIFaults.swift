/// What an API answers when a request fails before its own rules come to bear: each of JPush's APIs has codes
/// of its own for the same faults (JPush REST v3, error codes of each API).
package struct APIFaults: Sendable {
  /// The request has no `Authorization` header.
  package let unauthorized: APIError
  /// The key is unknown or the secret wrong, without saying which.
  package let authenticationFailed: APIError
  /// The operator has turned the app off.
  package let disabled: APIError
  /// The server cannot answer now; the request may be tried again.
  package let busy: APIError
  /// The server failed.
  package let internalError: APIError
  /// Code of a missing parameter or body.
  let missingCode: Int
  /// Code of a value that is not valid.
  let invalidCode: Int
  /// Code of a key that is not there.
  var unsupportedKeyCode = 1009
  /// Code of a body that is not JSON.
  let malformedCode: Int
  /// Code of a body that is too large.
  let tooLargeCode: Int

  /// A parameter, or the body, is missing.
  package func missing(_ message: String) -> APIError {
    APIError(code: missingCode, httpStatus: 400, message: message)
  }

  /// A value is not valid.
  package func invalid(_ message: String) -> APIError {
    APIError(code: invalidCode, httpStatus: 400, message: message)
  }

  /// An object holds a key that is not there.
  func unsupportedKey(_ message: String) -> APIError {
    APIError(code: unsupportedKeyCode, httpStatus: 400, message: message)
  }

  /// The body is not JSON.
  package func malformed(_ message: String) -> APIError {
    APIError(code: malformedCode, httpStatus: 400, message: message)
  }

  /// The body is too large.
  package func tooLarge(_ message: String) -> APIError {
    APIError(code: tooLargeCode, httpStatus: 400, message: message)
  }
}

extension APIFaults {
  /// The push API, and those that share its codes: files, images, push plans.
  package static let push = APIFaults(
    unauthorized: .authenticationFailed, authenticationFailed: .authenticationFailed, disabled: .blacklisted,
    busy: .timeout, internalError: .internalError, missingCode: 1002, invalidCode: 1003, malformedCode: 1003,
    tooLargeCode: 1005)

  /// The device, alias and tag API.
  package static let device = APIFaults(
    unauthorized: .deviceNoAuthorization, authenticationFailed: .deviceAuthenticationFailed,
    disabled: .deviceAppUnknown, busy: .deviceBusy, internalError: .deviceInternalError, missingCode: 7002,
    invalidCode: 7002, malformedCode: 7002, tooLargeCode: 7002)

  /// The schedule API.
  package static let schedule = APIFaults(
    unauthorized: .scheduleAuthenticationFailed, authenticationFailed: .scheduleAuthenticationFailed,
    disabled: .scheduleAuthenticationFailed, busy: .scheduleTimeout, internalError: .scheduleInternalError,
    missingCode: 8100, invalidCode: 8100, unsupportedKeyCode: 8100, malformedCode: 8100, tooLargeCode: 8100)

  /// The report API.
  package static let report = APIFaults(
    unauthorized: .reportAuthenticationFailed, authenticationFailed: .reportAuthenticationFailed,
    disabled: .reportNotPermitted, busy: .reportBusy, internalError: .reportInternalError, missingCode: 3002,
    invalidCode: 3002, malformedCode: 3002, tooLargeCode: 3002)

  /// The admin API.
  package static let admin = APIFaults(
    unauthorized: .adminAuthenticationFailed, authenticationFailed: .adminAuthenticationFailed,
    disabled: .adminNotPermitted, busy: .reportBusy, internalError: .reportInternalError, missingCode: 4002,
    invalidCode: 4003, malformedCode: 4003, tooLargeCode: 4003)
}

/// Codes of the schedule API.
extension APIError {
  /// 8100: a parameter is not valid.
  package static func scheduleInvalid(_ message: String) -> APIError {
    APIError(code: 8100, httpStatus: 400, message: message)
  }
  /// 8101: unknown app key or wrong master secret.
  package static let scheduleAuthenticationFailed = APIError(
    code: 8101, httpStatus: 401, message: "Basic authentication failed.")
  /// 8104: there is no such schedule.
  package static let scheduleUnknown = APIError(
    code: 8104, httpStatus: 404, message: "Request schedule operation doesn't exist")
  /// 8200: the server failed.
  package static let scheduleInternalError = APIError(
    code: 8200, httpStatus: 500, message: "Server internal error.")
  /// 8203: the server took too long; the request may be tried again.
  package static let scheduleTimeout = APIError(
    code: 8203, httpStatus: 503, message: "Execute action timeout, please try later again")
}

/// Codes of the report API.
extension APIError {
  /// 10: the server failed.
  package static let reportInternalError = APIError(code: 10, httpStatus: 500, message: "System error")
  /// 10 with 503: the request may be tried again.
  package static let reportBusy = APIError(code: 10, httpStatus: 503, message: "Busy, please retry later")
  /// 2003: the app may not ask.
  package static let reportNotPermitted = APIError(code: 2003, httpStatus: 403, message: "No permission")
  /// 3001: unknown app key or wrong master secret.
  package static let reportAuthenticationFailed = APIError(
    code: 3001, httpStatus: 401, message: "Basic authentication failed")
  /// 3002: a parameter, or the body, is not valid.
  package static func reportInvalid(_ message: String) -> APIError {
    APIError(code: 3002, httpStatus: 400, message: message)
  }
  /// 3004: `start` does not fit `time_unit`.
  package static let reportStartMismatch = APIError(
    code: 3004, httpStatus: 400, message: "start does not fit time_unit")
  /// 3005: the range goes back more than 60 days.
  package static let reportTooOld = APIError(
    code: 3005, httpStatus: 400, message: "The range goes beyond 60 days")
}

/// Codes of the admin API. What fails by its business rules is answered with 200 there.
extension APIError {
  /// 1012: a certificate cannot be used, for this reason.
  package static func adminCertificateInvalid(_ message: String) -> APIError {
    APIError(code: 1012, httpStatus: 200, message: message)
  }
  /// 1014: there is no certificate in the form.
  package static let adminCertificateMissing = APIError(
    code: 1014, httpStatus: 200, message: "The form has no proCertificateFile and no devCertificateFile")
  /// 4001: another method than the path has.
  package static let adminMethod = APIError(code: 4001, httpStatus: 405, message: "Method not allowed")
  /// 4004: unknown developer key or wrong secret.
  package static let adminAuthenticationFailed = APIError(
    code: 4004, httpStatus: 401, message: "Basic authentication failed")
  /// 4007: the developer may not do this.
  package static let adminNotPermitted = APIError(code: 4007, httpStatus: 401, message: "No permission")
}
