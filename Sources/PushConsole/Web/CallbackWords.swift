import PushBase

/// Why a callback did not arrive, in words.
enum CallbackWords {
  /// The outcome of a request: the error names the status where there is one.
  static func answer(status: Int, error: String?) -> Phrase {
    if let error { return phrase(error) }
    return status == 0 ? Phrase("", "") : Words.callbackAnswered.with(String(status))
  }

  /// What the server notes; what the library for requests says, such as on names that cannot be resolved, stays as it is.
  static func phrase(_ problem: String) -> Phrase {
    for known in [Words.callbackForbidden, Words.callbackNoAddress] where known.english == problem {
      return known
    }
    for known in [Words.callbackNoRedirects, Words.callbackAnswered] {
      let digits = problem.filter(\.isWholeNumber)
      if known.with(digits).english == problem { return known.with(digits) }
    }
    return Phrase(problem, problem)
  }
}
