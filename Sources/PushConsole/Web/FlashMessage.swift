import PushBase
import PushHTTP

/// A message that the next page shows after an action (post, redirect, get). Its name is in the query (`?notice=`), so that
/// a reload repeats the message and not the action.
enum FlashMessage: String, CaseIterable {
  case saved, again, older, retired, resent, removed, paused, resumed
  case invited, invitedAgain = "invited-again", recovered, unsent
  case planSaved = "plan-saved"
  case planSavedNotAll = "plan-saved-not-all"
  case callbacksOff = "callbacks-off"
  case callbacksPrivate = "callbacks-private"
  case aliasTaken = "alias-taken"
  case draftLost = "draft-lost"
  case recallUnconfirmed = "recall-unconfirmed"

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
    case .invited: Words.invited
    case .invitedAgain: Words.invitedAgain
    case .planSaved: Words.planSaved
    case .planSavedNotAll: Words.planSavedNotAll
    case .recovered: Words.recovered
    case .unsent: Words.unsent
    case .callbacksOff: Words.callbackIsOff
    case .callbacksPrivate: Words.callbackPrivate
    case .aliasTaken: Words.aliasTaken
    case .draftLost: Words.draftLost
    case .recallUnconfirmed: Words.recallUnconfirmed
    }
  }

  /// Whether the message reports a problem.
  var isBad: Bool {
    switch self {
    case .again, .older, .callbacksPrivate, .unsent, .draftLost, .recallUnconfirmed: true
    default: false
    }
  }

  /// The message for a call's page, if any.
  static func notice(_ call: PageCall) -> Layout.Notice? {
    guard let message = call.target["notice"].flatMap({ FlashMessage(rawValue: $0) }) else { return nil }
    return Layout.Notice(text: call(message.phrase), isBad: message.isBad)
  }
}

extension PageCall {
  /// Redirects the browser after an action to a page that shows a message.
  func redirect(to path: String, notice message: FlashMessage) -> HTTPResponse {
    redirect(to: "\(path)?notice=\(message.rawValue)")
  }

  /// The path as it came, without the query.
  var path: String { String(request.target.prefix { $0 != "?" }) }
}
