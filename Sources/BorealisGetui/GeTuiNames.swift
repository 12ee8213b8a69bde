#if canImport(UIKit)
  import Foundation
  import UIKit
  import UserNotifications

  /// What the library is doing.
  public enum SdkStatus: UInt, Sendable {
    /// Connecting for the first time.
    case starting
    /// Connected.
    case started
    /// Not started, or ended by `destroy`.
    case stoped
    /// Not connected; it tries again.
    case offline
  }

  /// The action of a result of `bindAlias`.
  public let kGtResponseBindType = "bindAlias"
  /// The action of a result of `unbindAlias`.
  public let kGtResponseUnBindType = "unbindAlias"

  /// What an app learns. All calls come on the main thread; all members have a default. Errors are of the
  /// domain `GeTuiSdk` with Getui's codes.
  @MainActor
  public protocol GeTuiSdkDelegate: AnyObject {
    /// The device's CID: after each start, and when it has changed.
    func geTuiSdkDidRegisterClient(_ clientId: String)

    /// The status has changed.
    func geTuiSDkDidNotifySdkState(_ status: SdkStatus)

    /// The library cannot start, or the server has refused the device.
    func geTuiSdkDidOccurError(_ error: any Error)

    /// Whether the user allows notifications.
    func getuiSdkGrantAuthorization(_ granted: Bool, error: (any Error)?)

    /// A notification has arrived while the app is in the foreground. By default it is presented in all ways.
    func geTuiSdkNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)

    /// The user has tapped a notification. There is no completion handler.
    func geTuiSdkDidReceiveNotification(
      _ userInfo: [AnyHashable: Any], notificationCenter center: UNUserNotificationCenter?,
      response: UNNotificationResponse?,
      fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?)

    /// A transmission has come over the connection; its text is `payload` in `userInfo`. By default the
    /// older call gets it. There is no completion handler.
    func geTuiSdkDidReceiveSlience(
      _ userInfo: [AnyHashable: Any], fromGetui: Bool, offLine: Bool, appId: String?, taskId: String?,
      msgId: String?, fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?)

    /// The older form of the same.
    func geTuiSdkDidReceivePayloadData(
      _ payloadData: Data, andTaskId taskId: String, andMsgId msgId: String, andOffLine offLine: Bool,
      fromGtAppId appId: String)

    /// The result of `setPushModeForOff`.
    func geTuiSdkDidSetPushMode(_ isModeOff: Bool, error: (any Error)?)

    /// The result of `bindAlias` or `unbindAlias`.
    func geTuiSdkDidAliasAction(
      _ action: String, result isSuccess: Bool, sequenceNum sn: String, error: (any Error)?)

    /// The result of `setTags`.
    func geTuiSdkDidSetTagsAction(_ sequenceNum: String, result isSuccess: Bool, error: (any Error)?)

    /// The result of `queryTag`.
    func getuiSdkDidQueryTag(_ tags: [Any], sequenceNum sn: String, error: (any Error)?)

    /// The result of `registerLiveActivity` for the token of an activity.
    func geTuiSdkDidRegisterLiveActivity(_ sequenceNum: String, result isSuccess: Bool, error: (any Error)?)

    /// The result of `registerLiveActivity` for a token that starts activities.
    func geTuiSdkDidRegisterPush(
      toStartToken sequenceNum: String, result isSuccess: Bool, error: (any Error)?)
  }

  extension GeTuiSdkDelegate {
    /// Does nothing.
    public func geTuiSdkDidRegisterClient(_ clientId: String) {}

    /// Does nothing.
    public func geTuiSDkDidNotifySdkState(_ status: SdkStatus) {}

    /// Does nothing.
    public func geTuiSdkDidOccurError(_ error: any Error) {}

    /// Does nothing.
    public func getuiSdkGrantAuthorization(_ granted: Bool, error: (any Error)?) {}

    /// Presents it in all ways.
    public func geTuiSdkNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) { completionHandler([.banner, .list, .sound, .badge]) }

    /// Does nothing.
    public func geTuiSdkDidReceiveNotification(
      _ userInfo: [AnyHashable: Any], notificationCenter center: UNUserNotificationCenter?,
      response: UNNotificationResponse?,
      fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?
    ) {}

    /// Passes it to the older call.
    public func geTuiSdkDidReceiveSlience(
      _ userInfo: [AnyHashable: Any], fromGetui: Bool, offLine: Bool, appId: String?, taskId: String?,
      msgId: String?, fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?
    ) {
      let payload = Data((userInfo["payload"] as? String ?? "").utf8)
      geTuiSdkDidReceivePayloadData(
        payload, andTaskId: taskId ?? "", andMsgId: msgId ?? "", andOffLine: offLine, fromGtAppId: appId ?? ""
      )
    }

    /// Does nothing.
    public func geTuiSdkDidReceivePayloadData(
      _ payloadData: Data, andTaskId taskId: String, andMsgId msgId: String, andOffLine offLine: Bool,
      fromGtAppId appId: String
    ) {}

    /// Does nothing.
    public func geTuiSdkDidSetPushMode(_ isModeOff: Bool, error: (any Error)?) {}

    /// Does nothing.
    public func geTuiSdkDidAliasAction(
      _ action: String, result isSuccess: Bool, sequenceNum sn: String, error: (any Error)?
    ) {}

    /// Does nothing.
    public func geTuiSdkDidSetTagsAction(_ sequenceNum: String, result isSuccess: Bool, error: (any Error)?) {
    }

    /// Does nothing.
    public func getuiSdkDidQueryTag(_ tags: [Any], sequenceNum sn: String, error: (any Error)?) {}

    /// Does nothing.
    public func geTuiSdkDidRegisterLiveActivity(
      _ sequenceNum: String, result isSuccess: Bool, error: (any Error)?
    ) {}

    /// Does nothing.
    public func geTuiSdkDidRegisterPush(
      toStartToken sequenceNum: String, result isSuccess: Bool, error: (any Error)?
    ) {}
  }
#endif
