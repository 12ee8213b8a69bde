/// Why a callback did not arrive, in words.
enum CallbackWords {
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
