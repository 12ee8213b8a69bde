import BorealisBase
import Model
import Storage

extension WriteTransaction {
  /// Stores that a credential is paused, with a callback event if the app wants it.
  func storePause(
    of id: APNsCredentialID, app: AppID, reason: String, at now: Timestamp
  ) throws(StorageError) {
    guard try credentials.pause(app: app, id: id, reason: reason, at: now) else { return }
    var event = CallbackEvent(
      .credentialPaused, id: "credential-\(id.rawValue)-\(now.milliseconds)", at: now)
    event.channel = .apns
    event.reason = reason
    try recordEvent(event, of: app, at: now)
  }

  /// Stores a callback event that concerns no push, if the app wants it.
  func recordEvent(_ event: CallbackEvent, of app: AppID, at now: Timestamp) throws(StorageError) {
    guard let setting = try callbacks.setting(app: app), setting.url != nil,
      setting.types.contains(event.type)
    else { return }
    try callbacks.insertBatch(
      app: app, to: nil, events: 1, body: CallbackEvent.body([event]), at: now,
      until: now.adding(seconds: CallbackEvent.lifetime))
  }
}
