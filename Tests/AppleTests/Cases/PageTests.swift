import Foundation
import Testing

/// The apps on the pages are compiled.
@Suite struct PageTests {
  @Test(arguments: [("ios", "ios"), ("jpush", "ios-from-jpush"), ("getui", "ios-from-getui")])
  func thePageHasTheApp(folder: String, page: String) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }
    let app = try text(tests.appendingPathComponent("Pages/\(folder)/AppDelegate.swift"))
    let docs = try text(root.appendingPathComponent("Docs/\(page).md"))
    // A library has no program's beginning.
    #expect(docs.replacing("@main\n", with: "").contains("```swift\n\(app)```\n"))
  }

  /// Nothing is collected, and nobody is tracked.
  @Test func thePrivacyManifestSaysSo() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let bytes = try Data(
      contentsOf: root.appendingPathComponent("Sources/BorealisDevice/Apple/PrivacyInfo.xcprivacy"))
    let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
    let manifest = try #require(list as? [String: Any])
    #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
    #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    let reasons = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    #expect(reasons.count == 1)
    #expect(
      reasons.first?["NSPrivacyAccessedAPIType"] as? String == "NSPrivacyAccessedAPICategoryFileTimestamp")
  }
}
