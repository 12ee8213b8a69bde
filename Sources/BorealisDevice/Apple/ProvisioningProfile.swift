import BorealisBase
import Foundation

/// The provisioning profile in an app, which says for which of APNs' environments the app is signed.
enum ProvisioningProfile {
  /// The environment of this app's tokens. An app from the App Store or TestFlight has no profile:
  /// production.
  static var environment: APNsEnvironment {
    #if targetEnvironment(simulator)
      .sandbox
    #else
      environment(of: Bundle.main.bundleURL)
    #endif
  }

  /// The same of an app in a folder.
  static func environment(of bundle: URL) -> APNsEnvironment {
    let places = ["embedded.mobileprovision", "Contents/embedded.provisionprofile"]
    let profile = places.lazy.compactMap { try? Data(contentsOf: bundle.appendingPathComponent($0)) }.first
    return profile.flatMap { environment(in: $0) } ?? .production
  }

  /// The environment that a profile names; nil if it names none. It is a property list within a signature,
  /// which the system has checked.
  static func environment(in profile: Data) -> APNsEnvironment? {
    guard let start = profile.range(of: Data("<?xml".utf8)),
      let end = profile.range(of: Data("</plist>".utf8), in: start.lowerBound..<profile.endIndex),
      let list = try? PropertyListSerialization.propertyList(
        from: profile[start.lowerBound..<end.upperBound], format: nil),
      let entitlements = (list as? [String: Any])?["Entitlements"] as? [String: Any]
    else { return nil }
    let names = ["aps-environment", "com.apple.developer.aps-environment"]
    return switch names.lazy.compactMap({ entitlements[$0] as? String }).first {
    case "development": .sandbox
    case "production": .production
    default: nil
    }
  }
}
