import BorealisBase
import Foundation
import PushTesting
import Testing

@testable import BorealisDevice

@Suite struct ProvisioningProfileTests {
  private static func profile(_ entitlements: String) -> Data {
    // A signature around it, as in the real ones.
    Data([0x30, 0x82, 0x1f, 0x00, 0xff])
      + Data(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>Name</key><string>Team</string><key>Entitlements</key><dict>
        \(entitlements)</dict></dict></plist>
        """.utf8) + Data([0, 1, 2, 0xfe])
  }

  @Test(arguments: [
    ("<key>aps-environment</key><string>development</string>", APNsEnvironment.sandbox),
    ("<key>aps-environment</key><string>production</string>", .production),
    ("<key>com.apple.developer.aps-environment</key><string>development</string>", .sandbox),
    ("<key>aps-environment</key><string>else</string>", nil),
    ("<key>get-task-allow</key><true/>", nil),
  ])
  func theProfileNamesTheEnvironment(entitlements: String, environment: APNsEnvironment?) {
    #expect(ProvisioningProfile.environment(in: Self.profile(entitlements)) == environment)
  }

  @Test(arguments: [Data(), Data("<?xml".utf8), Data("</plist><?xml".utf8), Data("<?xml </plist>".utf8)])
  func whatIsNotAProfileNamesNone(bytes: Data) {
    #expect(ProvisioningProfile.environment(in: bytes) == nil)
  }

  @Test(arguments: ["embedded.mobileprovision", "Contents/embedded.provisionprofile"])
  func theProfileLiesInTheApp(place: String) throws {
    let folder = TemporaryFolder()
    let app = URL(fileURLWithPath: folder.path)
    #expect(ProvisioningProfile.environment(of: app) == .production, "an app of the App Store")
    let file = app.appendingPathComponent(place)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Self.profile("<key>aps-environment</key><string>development</string>").write(to: file)
    #expect(ProvisioningProfile.environment(of: app) == .sandbox)
  }
}
