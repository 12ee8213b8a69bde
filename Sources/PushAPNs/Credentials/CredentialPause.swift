import PushBase
import PushDomain
import PushStorage

extension WriteTransaction {
  /// Stores that a credential is paused, and has the app's server told if it wants to know.
  func storePause(
    of id: APNsCredentialID, app: AppID, reason: String, at now: Timestamp
  ) throws(StorageError) {
    guard try pauseAPNsCredential(app: app, id: id, reason: reason, at: now),
      let setting = try reading.callbackSetting(app: app), setting.url != nil,
      setting.types.contains(.credentialPaused)
    else { return }
    var event = CallbackEvent(
      .credentialPaused, id: "credential-\(id.rawValue)-\(now.milliseconds)", at: now)
    event.channel = .apns
    event.reason = reason
    try insertCallbackBatch(app: app, to: nil, events: 1, body: CallbackEvent.body([event]), at: now)
  }
}
