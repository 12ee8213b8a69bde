import Foundation
import PushTesting
import Testing

@Suite struct ModuleTests {
  /// What any module may import besides its dependencies.
  static let system: Set<String> = ["Dispatch", "Glibc", "Synchronization"]

  let map: ModuleMap
  let manifest: String

  init() throws {
    manifest = try Repository.text("Package.swift")
    map = ModuleMap(manifest)
  }

  @Test func theMapIsRead() {
    #expect(map["PushJSON"]?.dependencies.contains("PushBase") == true)
    #expect(map["COpenSSL"]?.dependencies == [])
    #expect(map["borealis"]?.dependencies.contains("PushGateway") == true)
    #expect(map["PushStorage"]?.dependencies.contains("CSQLite") == true)
    #expect(map["TidyTests"]?.dependencies.isEmpty == false)
  }

  @Test func everyFolderIsATarget() throws {
    // The device library for Java is not built by SwiftPM.
    for folder in try Repository.names("Sources") where folder != "android" {
      #expect(map[folder] != nil, "Sources/\(folder)")
    }
  }

  @Test func importsFollowTheMap() throws {
    for folder in try Repository.names("Sources") {
      let allowed = Self.system.union(map[folder]?.dependencies ?? [])
      for path in try Repository.files(under: "Sources/" + folder, ending: ".swift") {
        for name in imports(try Repository.text(path)) {
          // The build plugin runs within SwiftPM, which hands it Foundation's types.
          if folder == "EmbedFiles", ["Foundation", "PackagePlugin"].contains(name) { continue }
          #expect(allowed.contains(name), "\(path) imports \(name)")
        }
      }
    }
  }

  /// Only PushStorage knows which database there is. Benchmarks open files of their own, and `borealis` tells people the
  /// name of the file.
  @Test func onlyStorageKnowsTheDatabase() throws {
    let exempt: Set = ["CSQLite", "PushStorage", "PushBench", "borealis"]
    for folder in try Repository.names("Sources") where !exempt.contains(folder) {
      #expect(map[folder]?.dependencies.contains("CSQLite") != true, "\(folder)")
      for path in try Repository.files(under: "Sources/" + folder, ending: ".swift") {
        let text = try Repository.text(path).lowercased()
        for word in ["sqlite", "pragma ", "rowid"] { #expect(!text.contains(word), "\(path) says \(word)") }
      }
    }
  }

  /// What the console says of a channel comes from the channel. `apns_collapse_id` is a field of JPush's API.
  @Test func theConsoleNamesNoChannel() throws {
    let services = try Repository.names("Sources").filter {
      map[$0]?.dependencies.contains("PushChannels") == true
    }
    #expect(services.contains("PushAPNs"))
    for service in services {
      #expect(map["PushConsole"]?.dependencies.contains(service) == false, "\(service)")
    }
    for path in try Repository.files(under: "Sources/PushConsole", ending: ".swift") {
      let text = try Repository.text(path).lowercased().replacing("apns_collapse_id", with: "")
      for word in ["apns", "apple", "苹果"] { #expect(!text.contains(word), "\(path) says \(word)") }
    }
  }

  /// Files and folders of `Sources` that may name APNs or Apple: its channel and the tools for it; the device protocol and the APIs
  /// of JPush and Getui, which speak of it and are older than other channels.
  private static let namingAPNs = [
    "APNsSimulator/", "PushAPNs/", "PushBench/", "apns-simulator/", "borealis/",
    "BorealisDevice/", "PushBase/APNsTokenSlot.swift", "PushBase/Identifiers.swift", "PushWire/ClientFrame",
    "PushDomain/AudienceParser.swift", "PushDomain/Channels/APNsTokens.swift",
    "PushDomain/Channels/ChannelID.swift", "PushDomain/PushContent.swift", "PushDomain/PushOptions.swift",
    "PushGateway/Controllers/PushReportController.swift",
    "PushGateway/MessageReports.swift", "PushGateway/ReportChannels.swift",
    "PushGetui/AppleNotification.swift", "PushGetui/Controllers/UserController.swift",
    "PushGetui/PushContentReader.swift", "PushGetui/TaskFigures.swift",
  ]

  /// The same of Google's service: its channel and the simulator, and names of fields in JPush's and Getui's APIs.
  private static let namingFCM = [
    "ChannelSimulator/", "PushBench/Channel", "PushDomain/ChannelWishes.swift", "PushVendors/FCM/",
    "borealis/Vendors.swift",
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
    #expect(picture.contains("PushRouter --> PushStorage\n"))
    #expect(
      try Repository.text("Docs/architecture.md").contains("--write -->\n\(picture)<!-- end"),
      "Run .ci/module-map --write")
  }

  @Test func theTableNamesEveryModule() throws {
    let page = try Repository.text("Docs/architecture.md")
    for target in map.targets where !target.name.hasSuffix("Tests") {
      // Tools of the build are no modules of the program.
      if target.name.lowercased().hasPrefix("embed") || target.name == "Fuzz" { continue }
      #expect(page.contains(target.name), "Docs/architecture.md does not name \(target.name)")
    }
  }

  /// Connections have one implementation. What the benchmark compares with does without it on purpose.
  @Test func onlyPushNetReadsAndWritesSockets() throws {
    let floor: Set = ["Sources/PushBench/FloorServer.swift", "Sources/PushBench/CallbackSink.swift"]
    let calls = [
      "cl_send(", "cl_shutdown_write(", "co_ssl_", " SSL_", "(SSL_", "TLSSession(", "cl_thread_start(",
    ]
    for folder in try Repository.names("Sources") where folder != "PushNet" {
      for path in try Repository.files(under: "Sources/" + folder, ending: ".swift")
      where !floor.contains(path) {
        let text = try Repository.text(path)
        for call in calls where text.contains(call) {
          #expect(path == "Sources/PushBase/SystemThread.swift", "\(path) calls \(call)")
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
