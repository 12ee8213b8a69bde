#if canImport(UIKit)
  import BorealisDevice
  import Foundation
  import UserNotifications

  // JPush's notifications, by the names that Swift gives them and by those of Objective-C.
  extension Notification.Name {
    /// The library has begun to connect.
    public static let jpfNetworkIsConnecting = Notification.Name("kJPFNetworkIsConnectingNotification")
    /// A connection was made.
    public static let jpfNetworkDidSetup = Notification.Name("kJPFNetworkDidSetupNotification")
    /// The connection has ended.
    public static let jpfNetworkDidClose = Notification.Name("kJPFNetworkDidCloseNotification")
    /// The server has issued a registration; `RegistrationID` is in `userInfo`.
    public static let jpfNetworkDidRegister = Notification.Name("kJPFNetworkDidRegisterNotification")
    /// The server has refused to register the device.
    public static let jpfNetworkFailedRegister = Notification.Name("kJPFNetworkFailedRegisterNotification")
    /// A session has begun.
    public static let jpfNetworkDidLogin = Notification.Name("kJPFNetworkDidLoginNotification")
    /// A message has come; `content`, `title`, `content_type` and `extras` are in `userInfo`.
    public static let jpfNetworkDidReceiveMessage =
      Notification.Name("kJPFNetworkDidReceiveMessageNotification")
    /// The library cannot start; `error` is in `userInfo`.
    public static let jpfServiceError = Notification.Name("kJPFServiceErrorNotification")
  }

  /// What an app wants to ask the user for.
  public final class JPUSHRegisterEntity: NSObject {
    /// A sum of the raw values of `JPAuthorizationOptions`.
    public var types = 0
    /// Categories of notifications: `UNNotificationCategory`.
    public var categories: Set<AnyHashable>?
  }

  /// What notifications may do; the values are those of `UNAuthorizationOptions`.
  public struct JPAuthorizationOptions: OptionSet, Sendable {
    /// The sum.
    public let rawValue: UInt

    /// Makes the value from its sum.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the icon.
    public static let badge = JPAuthorizationOptions(rawValue: 1 << 0)
    /// A sound.
    public static let sound = JPAuthorizationOptions(rawValue: 1 << 1)
    /// A banner.
    public static let alert = JPAuthorizationOptions(rawValue: 1 << 2)
    /// Display in cars.
    public static let carPlay = JPAuthorizationOptions(rawValue: 1 << 3)
    /// Sounds that break through.
    public static let criticalAlert = JPAuthorizationOptions(rawValue: 1 << 4)
    /// A button for the app's settings.
    public static let providesAppNotificationSettings = JPAuthorizationOptions(rawValue: 1 << 5)
    /// Quiet delivery without a question.
    public static let provisional = JPAuthorizationOptions(rawValue: 1 << 6)
  }

  /// How an app presents notifications, and what it does with taps.
  @MainActor
  public protocol JPUSHRegisterDelegate: AnyObject {
    /// A notification has arrived while the app is in the foreground. Pass the raw value of
    /// `UNNotificationPresentationOptions` on.
    func jpushNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      withCompletionHandler completionHandler: @escaping (Int) -> Void)

    /// The user has tapped a notification. The tap is reported already.
    func jpushNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void)
  }

  /// Whether the user has agreed to the app's privacy policy.
  public final class JGInforCollectionAuthItems: NSObject {
    /// The answer.
    public var isAuth = true
  }

  /// Consent. Without a call the app answers for it by calling `setup`.
  @available(iOSApplicationExtension, unavailable)
  @MainActor
  public final class JGInforCollectionAuth: NSObject {
    static var isGiven = true

    /// Sets the answer, before or after `setup`: no starts nothing and ends the connection, yes starts.
    public static func jCollectionAuth(_ auth: (JGInforCollectionAuthItems) -> Void) {
      let items = JGInforCollectionAuthItems()
      auth(items)
      isGiven = items.isAuth
      if isGiven { JPUSHService.app?.start() } else { JPUSHService.app?.borealis.stop() }
    }
  }
#endif
