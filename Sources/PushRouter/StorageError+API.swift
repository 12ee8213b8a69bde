import PushDomain
import PushStorage

extension StorageError {
  /// What a caller of the push API is told.
  var apiError: APIError {
    if isPassing { return .timeout }
    return isInDoubt ? .unanswered : .internalError
  }
}
