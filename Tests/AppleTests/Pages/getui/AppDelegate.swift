import BorealisGetui
import UIKit
import UserNotifications

final class AppDelegate: UIResponder, UIApplicationDelegate, GeTuiSdkDelegate {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    if UserDefaults.standard.bool(forKey: "agreed") { agreed() }
    return true
  }

  /// Called at each launch once the user has agreed to the privacy policy.
  func agreed() {
    UserDefaults.standard.set(true, forKey: "agreed")
    GeTuiSdk.start(
      withAppId: "0123456789abcdef00112233", appKey: "", appSecret: "", delegate: self)
    GeTuiSdk.registerRemoteNotification([.alert, .badge, .sound])
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    GeTuiSdk.registerDeviceTokenData(deviceToken)
  }

  func geTuiSdkDidRegisterClient(_ clientId: String) {
    GeTuiSdk.bindAlias("anna", andSequenceNum: "alias")
    GeTuiSdk.setTags(["news"], andSequenceNum: "tags")
  }

  func geTuiSdkDidAliasAction(
    _ action: String, result isSuccess: Bool, sequenceNum sn: String, error: (any Error)?
  ) {
    guard action == kGtResponseBindType, !isSuccess else { return }
    // Try again later.
  }

  func geTuiSdkDidReceiveSlience(
    _ userInfo: [AnyHashable: Any], fromGetui: Bool, offLine: Bool, appId: String?, taskId: String?,
    msgId: String?, fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?
  ) {
    let text = userInfo["payload"] as? String
    // Store it or act on it.
    _ = text
  }

  func geTuiSdkNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([.badge, .sound, .list, .banner])
  }

  func geTuiSdkDidReceiveNotification(
    _ userInfo: [AnyHashable: Any], notificationCenter center: UNUserNotificationCenter?,
    response: UNNotificationResponse?,
    fetchCompletionHandler completionHandler: ((UIBackgroundFetchResult) -> Void)?
  ) {
    open(userInfo["payload"] as? String)
  }

  private func open(_ payload: String?) {
    // Show what the app server named.
  }
}
