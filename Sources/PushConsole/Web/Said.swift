import PushHTTP

/// What a page says when the browser was sent to it after something was done. It stands in the address (`?said=`), so that
/// a reload repeats the words and not the deed.
enum Said: String, CaseIterable {
  case saved, again, older, retired, resent, removed, paused, resumed
  case callbacksOff = "callbacks-off"
  case callbacksPrivate = "callbacks-private"
  case aliasTaken = "alias-taken"

  var phrase: Phrase {
    switch self {
    case .saved: Words.saved
    case .again: Words.sentBefore
    case .older: Words.formTooOld
    case .retired: Words.retired
    case .resent: Words.sentAgain
    case .removed: Words.removed
    case .paused: Words.paused
    case .resumed: Words.resumed
    case .callbacksOff: Words.callbackIsOff
    case .callbacksPrivate: Words.callbackPrivate
    case .aliasTaken: Words.aliasTaken
    }
  }

  /// Whether the words are no good news.
  var isBad: Bool {
    switch self {
    case .again, .older, .callbacksPrivate: true
    default: false
    }
  }

  /// The words for a call's page, if any.
  static func notice(_ call: PageCall) -> Layout.Notice? {
    guard let said = call.target["said"].flatMap({ Said(rawValue: $0) }) else { return nil }
    return Layout.Notice(text: call(said.phrase), isBad: said.isBad)
  }
}

extension PageCall {
  /// Sends the browser on after something was done, to a page that says so.
  func redirect(to path: String, saying said: Said) { redirect(to: "\(path)?said=\(said.rawValue)") }

  /// The path as it came, without the query.
  var path: String { String(request.target.prefix { $0 != "?" }) }
}
