import Model
import Storage

extension StorageError {
  /// What a caller of the push API is told.
  var apiError: APIError {
    if isPassing {
      return kind == .diskFull
        ? .timeout.saying("The disk of the server is full, please retry later") : .timeout
    }
    return isInDoubt ? .unanswered : .internalError
  }
}

extension APIError {
  /// 8203: no answer in time; a schedule may have been stored, changed or deleted nevertheless.
  package static let scheduleUnanswered = APIError.scheduleTimeout.saying(
    "No answer in time. The call may have been carried out: look before you repeat it")

  /// Whether the call may have been carried out.
  package var isInDoubt: Bool { self == .unanswered || self == .scheduleUnanswered }
}
