#if canImport(UIKit)
  import BorealisBase
  import Foundation
  import UIKit
  import UserNotifications

  #if canImport(Glibc)
    import Glibc
  #else
    import Darwin
  #endif

  /// What the system knows of the device, each fact read only when the server asks for it.
  @MainActor
  enum PhoneFacts {
    /// Those of the wanted facts that the system knows. The app's version is not among them: the profile has
    /// it.
    static func read(_ wanted: DeviceFactSet) async -> [DeviceFact: String] {
      var facts: [DeviceFact: String] = [:]
      for fact in wanted.facts {
        switch fact {
        case .language: facts[fact] = Locale.preferredLanguages.first
        case .timeZone: facts[fact] = TimeZone.current.identifier
        case .system: facts[fact] = UIDevice.current.systemName
        case .systemVersion: facts[fact] = UIDevice.current.systemVersion
        case .model: facts[fact] = model
        case .notificationPermission: facts[fact] = await permission()
        case .appVersion, .storeChannel, .optedOut: break
        }
      }
      return facts
    }

    /// The maker's identifier of the model, such as `iPhone15,2`; nil if the system does not say.
    private static var model: String? {
      var system = utsname()
      guard uname(&system) == 0 else { return nil }
      return withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Whether the app may show notifications, in the words of the fact.
    private static func permission() async -> String {
      await withCheckedContinuation { continuation in
        UNUserNotificationCenter.current().getNotificationSettings { settings in
          switch settings.authorizationStatus {
          case .notDetermined: continuation.resume(returning: "not_asked")
          case .denied: continuation.resume(returning: "off")
          // Authorized, provisionally or for an app clip.
          default: continuation.resume(returning: "on")
          }
        }
      }
    }
  }
#endif
