import Foundation
import PushTesting
import Testing

@Suite struct ModuleTests {
  /// What any module may import besides its dependencies.
  static let system: Set<String> = ["Dispatch", "Glibc", "Synchronization"]

  /// What folders named Apple, which Linux does not compile, may import besides.
  static let apple: Set<String> = [
    "CryptoKit", "Darwin", "Foundation", "FoundationNetworking", "Network", "Security", "UIKit",
    "UserNotifications",
  ]

  let map: ModuleMap
  let manifest: String

  init() throws {
    manifest = try Repository.text("Package.swift")
    map = ModuleMap(manifest)
  }

  @Test func theMapIsRead() {
    #expect(map["BorealisCrypto"]?.dependencies.contains("BorealisBase") == true)
    #expect(map["BorealisCrypto"]?.folder == "Crypto")
    #expect(map["CSQLite"]?.folder == "C/CSQLite")
    #expect(map["COpenSSL"]?.dependencies == [])
    #expect(map["borealis"]?.dependencies.contains("API") == true)
    #expect(map["Storage"]?.dependencies.contains("CSQLite") == true)
    #expect(map["TidyTests"]?.dependencies.isEmpty == false)
  }

  @Test func everyFolderIsATarget() throws {
    // The device libraries for Java and for browsers are not built by SwiftPM, and some modules on Macs only.
    let others = ["android", "web", "BorealisJPush", "BorealisGetui"]
    for folder in try Repository.names("Sources") where !others.contains(folder) {
      let targets = map.targets(in: folder)
      #expect(!targets.isEmpty, "Sources/\(folder)")
      // A folder of several targets has nothing beside them.
      guard targets.allSatisfy({ $0.folder != folder }) else { continue }
      for name in try Repository.names("Sources/" + folder) {
        #expect(targets.contains { $0.folder == "\(folder)/\(name)" }, "Sources/\(folder)/\(name)")
      }
    }
  }

  /// What a newcomer sees at a glance. A module of one kind of thing, such as the device protocol, needs no
  /// folders inside.
  @Test func noFolderIsCrowded() throws {
    var counts: [Substring: Int] = [:]
    for path in try Repository.files(under: "Sources", ending: ".swift") {
      counts[path[..<(path.lastIndex(of: "/") ?? path.startIndex)], default: 0] += 1
    }
    for (folder, count) in counts { #expect(count <= 25, "\(folder) has \(count) files") }
  }

  @Test func importsFollowTheMap() throws {
    for target in map.targets where Repository.exists("Sources/" + target.folder) {
      let allowed = Self.system.union(target.dependencies)
      for path in try Repository.files(under: "Sources/" + target.folder, ending: ".swift") {
        for name in imports(try Repository.text(path)) {
          if path.contains("/Apple/"), Self.apple.contains(name) { continue }
          // Beside Glibc, in the one file that both platforms compile.
          if path == "Sources/BorealisDevice/Storage/StateFile.swift", name == "Darwin" { continue }
          // The build plugin runs within SwiftPM, which hands it Foundation's types.
          if target.name == "EmbedFiles", ["Foundation", "PackagePlugin"].contains(name) { continue }
          #expect(allowed.contains(name), "\(path) imports \(name)")
        }
      }
    }
  }

  /// Only Storage knows which database there is. Benchmarks open files of their own, and `borealis` tells
  /// people the name of the file.
  @Test func onlyStorageKnowsTheDatabase() throws {
    let exempt: Set = [
      "CSQLite", "Storage", "DevTools", "borealis", "borealis-dev", "StorageTests", "ConsoleTests",
    ]
    for target in map.targets where !exempt.contains(target.name) {
      #expect(!target.dependencies.contains("CSQLite"), "\(target.name)")
      guard Repository.exists("Sources/" + target.folder) else { continue }
      for path in try Repository.files(under: "Sources/" + target.folder, ending: ".swift") {
        let text = try Repository.text(path).lowercased()
        for word in ["sqlite", "pragma ", "rowid"] { #expect(!text.contains(word), "\(path) says \(word)") }
      }
    }
  }

  /// What the console says of a channel comes from the channel. `apns_collapse_id` is a field of JPush's API,
  /// and `apple-touch-icon` the icon on a phone's home screen.
  @Test func theConsoleNamesNoChannel() throws {
    #expect(map["Console"]?.dependencies.contains("Channels") == false)
    for path in try Repository.files(under: "Sources/Console", ending: ".swift") {
      let text = try Repository.text(path).lowercased().replacing("apns_collapse_id", with: "")
        .replacing("apple-touch-icon", with: "")
      for word in ["apns", "apple", "苹果"] { #expect(!text.contains(word), "\(path) says \(word)") }
    }
  }

  /// Files and folders of `Sources` that may name APNs or Apple: its channel and the tools for it; the device
  /// protocol and the APIs of JPush and Getui, which speak of it and are older than other channels.
  private static let namingAPNs = [
    "Channels/APNs/", "Channels/ChannelRegistry.swift", "DevTools/APNsSimulator/", "DevTools/Bench/",
    "borealis/", "borealis-dev/",
    "BorealisDevice/", "BorealisJPush/", "Base/Identifiers/APNsTokenSlot.swift",
    "Base/Identifiers/Identifiers.swift",
    "DeviceProtocol/ClientFrame", "Model/Audience/AudienceParser.swift", "Model/Channels/APNsTokens.swift",
    "Model/Channels/ChannelID.swift", "Model/Push/PushContent.swift", "Model/Push/PushOptions.swift",
    "API/Controllers/Reports/PushReportController.swift",
    "API/MessageReports.swift", "API/ReportChannels.swift",
    "API/Getui/AppleNotification.swift", "API/Getui/Controllers/UserController.swift",
    "API/Getui/PushContentReader.swift", "API/Getui/TaskFigures.swift",
  ]

  /// The same of Google's service: its channel and the simulator, and names of fields in JPush's and Getui's
  /// APIs.
  private static let namingFCM = [
    "DevTools/ChannelSimulator/", "DevTools/Bench/", "Model/Push/ChannelWishes.swift", "Channels/FCM/",
    "Channels/ChannelRegistry.swift", "borealis/Server/Vendors.swift",
  ]

  @Test func `Only what is about FCM names it`() throws {
    var used: Set<String> = []
    for path in try Repository.files(under: "Sources", ending: ".swift") {
      let code = code(try Repository.text(path)).lowercased()
      guard ["fcm", "firebase"].contains(where: { code.contains($0) }) else { continue }
      let place = Self.namingFCM.first { path.hasPrefix("Sources/\($0)") }
      #expect(place != nil, "\(path) names FCM")
      if let place { used.insert(place) }
    }
    #expect(used == Set(Self.namingFCM), "what no longer names FCM leaves the list")
  }

  @Test func `Only what is about APNs names it`() throws {
    var used: Set<String> = []
    for path in try Repository.files(under: "Sources", ending: ".swift") {
      let code = code(try Repository.text(path)).lowercased()
      guard code.contains("apns") || code.contains("apple") else { continue }
      let place = Self.namingAPNs.first { path.hasPrefix("Sources/\($0)") }
      #expect(place != nil, "\(path) names APNs")
      if let place { used.insert(place) }
    }
    #expect(used == Set(Self.namingAPNs), "what no longer names APNs leaves the list")
  }

  @Test func arrowsPointOnlyDown() {
    var known: Set<String> = []
    for target in map.targets {
      for name in target.dependencies where map[name] != nil {
        #expect(
          known.contains(name), "\(target.name) depends on \(name), which stands below it in Package.swift")
      }
      known.insert(target.name)
    }
  }

  @Test func thePictureIsThatOfTheManifest() throws {
    let folder = TemporaryFolder()
    let script = try ChildProcess.start(
      Repository.root.appending(path: ".ci/module-map").path, [], output: .appending(folder.file("picture")))
    #expect(ChildProcess.wait(for: script) == 0)
    let picture = TemporaryFolder.read(folder.file("picture"))
    #expect(picture.contains("Core --> Storage\n"))
    #expect(
      try Repository.text("Docs/architecture.md").contains("--write -->\n\(picture)<!-- end"),
      "Run .ci/module-map --write")
  }

  @Test func theTableNamesEveryModule() throws {
    let page = try Repository.text("Docs/architecture.md")
    for target in map.targets where !target.name.hasSuffix("Tests") {
      // Tools of the build are not modules of the program.
      if target.name.lowercased().hasPrefix("embed") || target.name == "Fuzz" { continue }
      #expect(page.contains(target.name), "Docs/architecture.md does not name \(target.name)")
    }
  }

  /// Connections have one implementation. What the benchmark compares with does without it on purpose.
  @Test func onlyNetReadsAndWritesSockets() throws {
    let floor: Set = [
      "Sources/DevTools/Bench/Peers/FloorServer.swift", "Sources/DevTools/Bench/Scenes/CallbackSink.swift",
    ]
    let calls = [
      "cl_send(", "cl_shutdown_write(", "co_ssl_", " SSL_", "(SSL_", "TLSSession(", "cl_thread_start(",
    ]
    for folder in try Repository.names("Sources") where folder != "Net" {
      for path in try Repository.files(under: "Sources/" + folder, ending: ".swift")
      where !floor.contains(path) {
        let text = try Repository.text(path)
        for call in calls where text.contains(call) {
          #expect(path == "Sources/Base/Threads/SystemThread.swift", "\(path) calls \(call)")
        }
      }
    }
  }

  @Test func thereAreNoPackages() {
    #expect(manifest.contains("\n  dependencies: [],\n"))
    #expect(!manifest.contains(".package("))
    #expect(!Repository.exists("Package.resolved"))
  }

  @Test(arguments: [
    ("import A", ["A"]), ("@testable import A\nimport struct B.C", ["A", "B"]), ("  public import A", ["A"]),
    ("// import A", []), ("important = 1", []), ("@preconcurrency internal import A_b", ["A_b"]),
  ])
  func importsAreFound(source: String, expected: [String]) {
    #expect(imports(source) == expected)
  }
}
