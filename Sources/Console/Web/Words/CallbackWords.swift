import BorealisBase
import Core

/// Why a callback did not arrive, in words.
enum CallbackWords {
  /// The outcome of a request: the error names the status where there is one.
  static func answer(status: Int, error: String?) -> Phrase {
    if let error { return Phrase(problem: error) }
    return status == 0 ? Phrase("", "") : Words.callbackAnswered.with(String(status))
  }
}
