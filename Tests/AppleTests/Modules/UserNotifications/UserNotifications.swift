// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

// The declarations of Apple's UserNotifications framework that the library uses. The center keeps what it is
// given, for tests to look at.

public struct UNAuthorizationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
  public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
  public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
  public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
  @available(iOS 14.0, macOS 11.0, *)
  public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
  @available(iOS 14.0, macOS 11.0, *)
  public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

public struct UNNotificationSoundName: Hashable, RawRepresentable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public init(_ rawValue: String) { self.rawValue = rawValue }
}

public class UNNotificationSound: NSObject {
  public let name: String

  public init(named name: UNNotificationSoundName) { self.name = name.rawValue }

  public class var `default`: UNNotificationSound { UNNotificationSound(named: .init("default")) }
}

public class UNNotificationAttachment: NSObject {
  public let identifier: String
  public let url: URL

  public init(identifier: String, url URL: URL, options: [AnyHashable: Any]? = nil) throws {
    guard FileManager.default.fileExists(atPath: URL.path) else { throw CocoaError(.fileNoSuchFile) }
    (self.identifier, url) = (identifier, URL)
  }
}

public class UNNotificationContent: NSObject, NSMutableCopying {
  fileprivate struct Values {
    var title = ""
    var subtitle = ""
    var body = ""
    var badge: NSNumber?
    var sound: UNNotificationSound?
    var threadIdentifier = ""
    var categoryIdentifier = ""
    var userInfo: [AnyHashable: Any] = [:]
    var attachments: [UNNotificationAttachment] = []
  }

  fileprivate var values: Values

  fileprivate init(_ values: Values) { self.values = values }

  public var title: String { values.title }
  public var subtitle: String { values.subtitle }
  public var body: String { values.body }
  public var badge: NSNumber? { values.badge }
  public var sound: UNNotificationSound? { values.sound }
  public var threadIdentifier: String { values.threadIdentifier }
  public var categoryIdentifier: String { values.categoryIdentifier }
  public var userInfo: [AnyHashable: Any] { values.userInfo }
  public var attachments: [UNNotificationAttachment] { values.attachments }

  public func mutableCopy(with zone: NSZone? = nil) -> Any {
    let copy = UNMutableNotificationContent()
    copy.values = values
    return copy
  }
}

public class UNMutableNotificationContent: UNNotificationContent {
  public init() { super.init(Values()) }

  public override var title: String {
    get { values.title }
    set { values.title = newValue }
  }
  public override var subtitle: String {
    get { values.subtitle }
    set { values.subtitle = newValue }
  }
  public override var body: String {
    get { values.body }
    set { values.body = newValue }
  }
  public override var badge: NSNumber? {
    get { values.badge }
    set { values.badge = newValue }
  }
  public override var sound: UNNotificationSound? {
    get { values.sound }
    set { values.sound = newValue }
  }
  public override var threadIdentifier: String {
    get { values.threadIdentifier }
    set { values.threadIdentifier = newValue }
  }
  public override var categoryIdentifier: String {
    get { values.categoryIdentifier }
    set { values.categoryIdentifier = newValue }
  }
  public override var userInfo: [AnyHashable: Any] {
    get { values.userInfo }
    set { values.userInfo = newValue }
  }
  public override var attachments: [UNNotificationAttachment] {
    get { values.attachments }
    set { values.attachments = newValue }
  }
}

public class UNNotificationTrigger: NSObject {}

public class UNNotificationRequest: NSObject {
  public let identifier: String
  public let content: UNNotificationContent

  public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
    (self.identifier, self.content) = (identifier, content)
  }
}

public class UNNotification: NSObject {
  public let request: UNNotificationRequest

  /// Only the system makes one.
  public init(of request: UNNotificationRequest) { self.request = request }
}

public class UNNotificationResponse: NSObject {
  public let notification: UNNotification
  public let actionIdentifier: String

  /// Only the system makes one.
  public init(_ actionIdentifier: String, to notification: UNNotification) {
    (self.actionIdentifier, self.notification) = (actionIdentifier, notification)
  }
}

public class UNNotificationCategory: NSObject {}

public enum UNAuthorizationStatus: Int, Sendable {
  case notDetermined
  case denied
  case authorized
  case provisional
}

public class UNNotificationSettings: NSObject {
  public let authorizationStatus: UNAuthorizationStatus

  fileprivate init(_ status: UNAuthorizationStatus) { authorizationStatus = status }
}

public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)

  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)
}

public enum UNError: Error { case notificationsNotAllowed }

public class UNUserNotificationCenter: NSObject, @unchecked Sendable {
  private static let shared = UNUserNotificationCenter()

  private let lock = NSLock()
  private var requests: [String: UNNotificationRequest] = [:]
  private var asked: UNAuthorizationOptions?
  private var number = 0
  private var allowsNotifications = true

  public weak var delegate: (any UNUserNotificationCenterDelegate)?

  public class func current() -> UNUserNotificationCenter { shared }

  public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    lock.withLock { asked = options }
    return true
  }

  public func getNotificationSettings(
    completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void
  ) {
    completionHandler(UNNotificationSettings(lock.withLock { asked == nil ? .notDetermined : .authorized }))
  }

  public func add(
    _ request: UNNotificationRequest,
    withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    let isAllowed = lock.withLock {
      if allowsNotifications { requests[request.identifier] = request }
      return allowsNotifications
    }
    completionHandler?(isAllowed ? nil : UNError.notificationsNotAllowed)
  }

  public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
    lock.withLock { for identifier in identifiers { requests[identifier] = nil } }
  }

  public func removeAllDeliveredNotifications() { lock.withLock { requests = [:] } }

  public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    removeDeliveredNotifications(withIdentifiers: identifiers)
  }

  public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}

  @available(iOS 16.0, macOS 13.0, *)
  public func setBadgeCount(
    _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    lock.withLock { number = newBadgeCount }
    completionHandler?(nil)
  }

  // For tests.

  public var shown: [UNNotificationRequest] { lock.withLock { Array(requests.values) } }
  public var badge: Int { lock.withLock { number } }
  public var isAllowed: Bool {
    get { lock.withLock { allowsNotifications } }
    set { lock.withLock { allowsNotifications = newValue } }
  }
  public var authorization: UNAuthorizationOptions? {
    get { lock.withLock { asked } }
    set { lock.withLock { asked = newValue } }
  }
}

open class UNNotificationServiceExtension: NSObject {
  public override init() {}

  open func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {}

  open func serviceExtensionTimeWillExpire() {}
}

/// Of Foundation, on Apple's platforms only. Tests name the folder of all groups in the environment.
extension FileManager {
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    ProcessInfo.processInfo.environment["TEST_APP_GROUPS"].map {
      URL(fileURLWithPath: $0).appendingPathComponent(groupIdentifier)
    }
  }
}
