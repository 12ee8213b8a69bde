import BorealisDevice
import UIKit

final class AppDelegate: UIResponder, UIApplicationDelegate {
  private var borealis: Borealis?

  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    guard
      var configuration = BorealisConfiguration(
        server: "push.example.com:7443", appKey: "0123456789abcdef00112233")
    else { return true }
    configuration.api = "https://push.example.com"
    configuration.appGroup = "group.com.example.app"
    borealis = Borealis(configuration, listener: self)
    startPushes(hasAgreed: UserDefaults.standard.bool(forKey: "agreed"))
    return true
  }

  /// Called at each launch with what the user has said to the privacy policy, and when the user has agreed.
  func startPushes(hasAgreed: Bool) {
    do {
      try borealis?.start(consent: hasAgreed)
    } catch {
      // The state file cannot be used: the storage is full.
    }
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {
    borealis?.didRegister(deviceToken)
  }
}

extension AppDelegate: BorealisListener {
  func didConnect(pending: UInt32) {
    Task { try? await borealis?.device.setAlias("anna") }
  }

  func didReceive(_ push: DevicePush) -> Bool {
    borealis?.show(push)
    if let text = push.json?["message"]?["msg_content"]?.string { handle(text) }
    return true
  }

  func didOpen(_ notification: OpenedNotification) {
    let page = notification.userInfo["page"] as? String
    open(page)
  }

  private func handle(_ message: String) {
    // Store it or act on it.
  }

  private func open(_ page: String?) {
    // Show what the app server named.
  }
}
