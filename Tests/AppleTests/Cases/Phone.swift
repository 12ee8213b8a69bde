import Foundation
import UIKit
import UserNotifications

// A file that imports UIKit and Testing asks for a module of Swift Testing that exists on Macs only.

/// What the system does with an app, and what the app has asked of it.
@MainActor
enum Phone {
  /// How often the app has registered for remote notifications.
  static var registrations: Int { UIApplication.shared.registrations }

  /// How often the app has asked for time in the background.
  static var backgroundTasks: Int { UIApplication.shared.backgroundTasks }

  /// Takes the app off the screen.
  static func leaveApp() {
    NotificationCenter.default.post(name: UIApplication.didEnterBackgroundNotification, object: nil)
  }

  /// Brings it back.
  static func enterApp() {
    NotificationCenter.default.post(name: UIApplication.willEnterForegroundNotification, object: nil)
  }

  /// What the app decides about a notification that arrives while it is on the screen.
  static func presentation(
    of notification: UNNotification, by delegate: any UNUserNotificationCenterDelegate
  ) async -> UNNotificationPresentationOptions {
    await withCheckedContinuation { continuation in
      delegate.userNotificationCenter(.current(), willPresent: notification) {
        continuation.resume(returning: $0)
      }
    }
  }

  /// Taps a notification, and waits until the app has taken that.
  static func tap(_ response: UNNotificationResponse, _ delegate: any UNUserNotificationCenterDelegate) async
  {
    await withCheckedContinuation { continuation in
      delegate.userNotificationCenter(.current(), didReceive: response) { continuation.resume() }
    }
  }
}
