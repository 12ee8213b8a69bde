import BorealisJPush
import UIKit
import UserNotifications

final class AppDelegate: UIResponder, UIApplicationDelegate, JPUSHRegisterDelegate {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    JGInforCollectionAuth.jCollectionAuth { $0.isAuth = UserDefaults.standard.bool(forKey: "agreed") }
    let entity = JPUSHRegisterEntity()
    entity.types = Int(
      JPAuthorizationOptions.alert.rawValue | JPAuthorizationOptions.badge.rawValue
        | JPAuthorizationOptions.sound.rawValue)
    JPUSHService.setup(
      withOption: launchOptions, appKey: "0123456789abcdef00112233", channel: "App Store",
      apsForProduction: true)
    JPUSHService.register(forRemoteNotificationConfig: entity, delegate: self)
    _ = NotificationCenter.default.addObserver(
      forName: .jpfNetworkDidReceiveMessage, object: nil, queue: .main
    ) { notification in
      let text = notification.userInfo?["content"] as? String
      // Store it or act on it.
      _ = text
    }
    JPUSHService.registrationIDCompletionHandler { code, registrationID in
      guard code == 0 else { return }
      JPUSHService.setAlias("anna", completion: { code, alias, seq in }, seq: 1)
    }
    return true
  }

  /// Called when the user has agreed to the privacy policy.
  func agreed() {
    UserDefaults.standard.set(true, forKey: "agreed")
    JGInforCollectionAuth.jCollectionAuth { $0.isAuth = true }
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    JPUSHService.registerDeviceToken(deviceToken)
  }

  func jpushNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (Int) -> Void
  ) {
    JPUSHService.handleRemoteNotification(notification.request.content.userInfo)
    completionHandler(Int(UNNotificationPresentationOptions.banner.rawValue))
  }

  func jpushNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    let userInfo = response.notification.request.content.userInfo
    JPUSHService.handleRemoteNotification(userInfo)
    open(userInfo["page"] as? String)
    completionHandler()
  }

  private func open(_ page: String?) {
    // Show what the app server named.
  }
}
