// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported import Foundation

// The declarations of Apple's UIKit that the library uses.

@MainActor
open class UIResponder: NSObject {}

@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
}

@MainActor
public final class UIApplication: NSObject {
  public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
  }

  public enum State: Int, Sendable {
    case active
    case inactive
    case background
  }

  public static let shared = UIApplication()

  public nonisolated static let didEnterBackgroundNotification = Notification.Name("didEnterBackground")
  public nonisolated static let willEnterForegroundNotification = Notification.Name("willEnterForeground")

  public var applicationState = State.active
  @available(iOS, deprecated: 17.0)
  public var applicationIconBadgeNumber = 0

  /// How often it was asked, for tests.
  public private(set) var registrations = 0

  public func registerForRemoteNotifications() { registrations += 1 }

  public func beginBackgroundTask(
    withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    backgroundTasks += 1
    return UIBackgroundTaskIdentifier(rawValue: backgroundTasks)
  }

  public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { endedTasks += 1 }

  public private(set) var backgroundTasks = 0
  public private(set) var endedTasks = 0
}

@MainActor
public final class UIDevice: NSObject {
  public static let current = UIDevice()

  public var systemName: String { "iOS" }
  public var systemVersion: String { "18.2" }
}

public enum UIBackgroundFetchResult: UInt, Sendable {
  case newData
  case noData
  case failed
}

public struct UIBackgroundTaskIdentifier: Hashable, RawRepresentable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}
