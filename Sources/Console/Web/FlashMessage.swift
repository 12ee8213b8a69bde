import BorealisBase
import HTTP

/// A message that the next page shows after an action (post, redirect, get). Its name is in the query
/// (`?notice=`), and in a cookie until it was shown: an address alone, which may come from anywhere, claims
/// nothing that was not done.
enum FlashMessage: String, CaseIterable {
  case saved, again, older, retired, resent, removed, paused, resumed
  case invited, invitedAgain = "invited-again", recovered, unsent
  case planSaved = "plan-saved"
  case planSavedNotAll = "plan-saved-not-all"
  case callbacksOff = "callbacks-off"
  case callbacksPrivate = "callbacks-private"
  case aliasRemoved = "alias-taken"
  case aliasChanged = "alias-changed"
  case deviceDeleted = "device-deleted"
  case personErased = "person-erased"
  case keyRevoked = "key-revoked"
  case draftLost = "draft-lost"
  case scheduleOver = "planned-over"
  case scheduleCanceled = "planned-canceled"
  case sessionsEnded = "sessions-ended"
  case segmentDeleted = "segment-deleted"
  case templateDeleted = "template-deleted"
  case abTestDeleted = "abtest-deleted"
  case abTestStopped = "abtest-stopped"
  case abTestOver = "abtest-over"
  case canaryReleased = "canary-released"
  case canaryStopped = "canary-stopped"
  case canaryOver = "canary-over"
  case recallUnconfirmed = "recall-unconfirmed"
  case pushApproved = "push-approved"
  case pushStopped = "push-stopped"
  case waitingOver = "waiting-over"
  case ownApproval = "own-approval"
  case changedSince = "changed-since"
  case approvalAsked = "approval-asked"
  case approvalAlone = "approval-alone"

  var phrase: Phrase {
    switch self {
    case .saved: Words.saved
    case .again: Words.sentBefore
    case .older: Words.formTooOld
    case .retired: Words.retired
    case .resent: Words.sentAgain
    case .removed: Words.removed
    case .sessionsEnded: Words.otherSessionsEnded
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
    case .aliasRemoved: Words.aliasRemoved
    case .aliasChanged: Words.aliasChanged
    case .deviceDeleted: Words.deviceWasDeleted
    case .personErased: Words.personErased
    case .keyRevoked: Words.keyRevoked
    case .draftLost: Words.draftLost
    case .scheduleOver: Words.scheduleOver
    case .scheduleCanceled: Words.scheduleCanceled
    case .segmentDeleted: Words.segmentDeleted
    case .templateDeleted: Words.templateDeleted
    case .abTestDeleted: Words.abTestDeleted
    case .abTestStopped: Words.abTestStopped
    case .abTestOver: Words.abTestOver
    case .canaryReleased: Words.canaryReleased
    case .canaryStopped: Words.canaryStopped
    case .canaryOver: Words.canaryOver
    case .recallUnconfirmed: Words.recallUnconfirmed
    case .pushApproved: Words.wasApprovedNow
    case .pushStopped: Words.wasStoppedNow
    case .waitingOver: Words.waitingOver
    case .ownApproval: Words.ownApproval
    case .changedSince: Words.changedSince
    case .approvalAsked: Words.approvalAsked
    case .approvalAlone: Words.approvalAlone
    }
  }

  /// Whether the message reports a problem.
  var isBad: Bool {
    switch self {
    case .again, .older, .callbacksPrivate, .unsent, .draftLost, .scheduleOver, .abTestOver, .canaryOver,
      .aliasChanged,
      .recallUnconfirmed, .waitingOver, .ownApproval, .changedSince, .approvalAlone:
      true
    default: false
    }
  }

  /// The message for a call's page, if any. That a form was not sent is said after a login, which may be of
  /// another session.
  static func notice(_ call: PageCall) -> Layout.Notice? {
    guard let message = call.target["notice"].flatMap({ FlashMessage(rawValue: $0) }),
      message == .unsent || message == call.flash
    else { return nil }
    return Layout.Notice(text: call(message.phrase), isBad: message.isBad)
  }
}

extension PageCall {
  /// Redirects the browser after an action to a page that shows a message.
  func redirect(to path: String, notice message: FlashMessage) -> HTTPResponse {
    var response = redirect(to: "\(path)?notice=\(message.rawValue)")
    response.headers.append("Set-Cookie", flashCookie(message))
    return response
  }

  private static let flashCookie = "borealis_notice"

  /// The message that the server has for the browser.
  var flash: FlashMessage? {
    request.headers.cookie(Self.flashCookie).flatMap { FlashMessage(rawValue: $0) }
  }

  /// Keeps a message for the next page; nil ends it.
  func flashCookie(_ message: FlashMessage?) -> String {
    cookie(Self.flashCookie, message?.rawValue ?? "", seconds: message == nil ? 0 : 60)
  }

  /// The path as it came, without the query.
  var path: String { String(request.target.prefix { $0 != "?" }) }
}
