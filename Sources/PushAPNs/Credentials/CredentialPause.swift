import PushBase
import PushDomain
import PushStorage

extension WriteTransaction {
  /// Stores that a credential is paused, and has the app's server told if it wants to know.
  func storePause(
    of id: APNsCredentialID, app: AppID, reason: String, at now: Timestamp
  ) throws(StorageError) {
    guard try credentials.pause(app: app, id: id, reason: reason, at: now) else { return }
    var event = CallbackEvent(
      .credentialPaused, id: "credential-\(id.rawValue)-\(now.milliseconds)", at: now)
    event.channel = .apns
    event.reason = reason
    try tell(event, of: app, at: now)
  }

  /// Has an app's server told of something that is about no push, if it wants to know.
  func tell(_ event: CallbackEvent, of app: AppID, at now: Timestamp) throws(StorageError) {
    guard let setting = try callbacks.setting(app: app), setting.url != nil,
      setting.types.contains(event.type)
    else { return }
    try callbacks.insertBatch(
      app: app, to: nil, events: 1, body: CallbackEvent.body([event]), at: now,
      until: now.adding(seconds: CallbackEvent.lifetime))
  }
}
