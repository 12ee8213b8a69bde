// swift-tools-version: 6.2
import PackageDescription

/// Set by Tests/Fuzz/run. The harnesses exist only then, since nobody may depend on a package with unsafe
/// flags.
let isFuzzing = Context.environment["BOREALIS_FUZZ"] != nil
/// Tells libFuzzer which ways the code goes.
let coverage: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : []

/// On a Mac the package is the device library alone, with Apple's libraries in place of Linux's. Set by
/// Tests/AppleTests/run, which builds the same on Linux against modules with the names of Apple's.
#if os(Linux)
  let isForApple = Context.environment["BOREALIS_APPLE"] != nil
#else
  let isForApple = true
#endif

/// The map of the project: an arrow points only from a module to those named in its `dependencies`.
/// Docs/architecture.md says what each module is for; Tests/TidyTests checks every import against this file.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// A module; its folder in Sources is named like it, unless another one is given.
func module(
  _ name: String, in folder: String? = nil, _ dependencies: [String] = [], exclude: [String] = [],
  resources: [String] = [], plugins: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) },
    path: "Sources/\(folder ?? name)", exclude: exclude, resources: resources.map { .process($0) },
    swiftSettings: strict + coverage,
    plugins: plugins.map { .plugin(name: $0) })
}

/// A library of Debian.
func library(_ name: String, _ pkgConfig: String?, _ package: String) -> Target {
  .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) }, swiftSettings: strict)
}

let package = Package(
  name: "borealis",
  // The oldest systems of apps with the device library. Tests/AppleTests checks that all it uses is there.
  platforms: [.iOS(.v15), .macOS(.v12)],
  products: [
    .executable(name: "borealis", targets: ["borealis"]),
    // Simulators and benchmarks, which no server needs.
    .executable(name: "borealis-dev", targets: ["borealis-dev"]),
    // The other modules hold types of its interface. Modules that an app links have names of their own among
    // all packages.
    .library(name: "BorealisDevice", targets: ["BorealisDevice", "BorealisBase", "BorealisProtocol"]),
  ],
  dependencies: [],
  targets: [
    // C edge.
    .target(name: "CLinux", path: "Sources/C/CLinux", cSettings: [.define("_GNU_SOURCE")]),
    library("CSQLite", "sqlite3", "libsqlite3-dev"),
    library("CPostgreSQL", "libpq", "libpq-dev"),
    library("COpenSSL", "openssl", "libssl-dev"),
    library("CRoaring", nil, "libroaring-dev"),
    library("CNghttp2", "libnghttp2", "libnghttp2-dev"),
    library("CCurl", "libcurl", "libcurl4-openssl-dev"),
    library("CQREncode", "libqrencode", "libqrencode-dev"),
    library("CZlib", "zlib", "zlib1g-dev"),
    library("CNATS", "libnats", "libnats-dev"),
    library("CCommonMark", "libcmark-gfm", "libcmark-gfm-extensions-dev"),
    // What everything is made of.
    module("BorealisBase", in: "Base", ["CLinux"], exclude: ["Apple"]),
    module("BorealisProtocol", in: "DeviceProtocol", ["BorealisBase"]),
    module("BorealisCrypto", in: "Crypto", ["BorealisBase", "COpenSSL"], exclude: ["Apple"]),
    module("BorealisNet", in: "Net", ["BorealisBase", "CLinux", "COpenSSL"]),
    module("HTTP", ["BorealisBase", "BorealisCrypto", "BorealisNet", "CNghttp2", "CCurl"]),
    // What a push is, what is stored, and what happens to it.
    module("Model", ["BorealisBase"]),
    module(
      "Storage", ["BorealisBase", "BorealisCrypto", "Model", "CSQLite", "CPostgreSQL", "CLinux", "COpenSSL"],
      plugins: ["EmbedFiles"]),
    module(
      "Core", ["BorealisBase", "BorealisCrypto", "HTTP", "Model", "Storage", "CRoaring", "CLinux"]),
    // The ways out: services outside, and the connections of devices.
    module(
      "Channels", ["BorealisBase", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Storage", "Core"]),
    module(
      "DeviceGateway",
      ["BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Core"]),
    // The ways in.
    module(
      "API", ["BorealisBase", "BorealisCrypto", "HTTP", "Model", "Storage", "Core"], plugins: ["EmbedFiles"]),
    module(
      "Console",
      [
        "BorealisBase", "BorealisCrypto", "HTTP", "Model", "Storage", "Core", "API", "CQREncode", "CCurl",
        "CZlib", "CCommonMark",
      ],
      exclude: ["Assets"], plugins: ["EmbedFiles"]),
    // Several nodes.
    module(
      "Cluster",
      [
        "BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Storage",
        "Core",
        "CNATS", "COpenSSL", "CLinux",
      ]),
    // The device's side.
    module(
      "BorealisDevice", ["BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet"],
      exclude: ["Apple"]),
    // For tests, for trying things out and for measuring: the sides of the services outside, and benchmarks.
    module(
      "DevTools",
      [
        "BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Channels",
        "CLinux", "CSQLite",
      ]),
    .executableTarget(
      name: "borealis-dev", dependencies: ["BorealisBase", "Console", "DevTools"], swiftSettings: strict),
    // The program.
    .executableTarget(
      name: "borealis",
      dependencies: [
        "BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Storage",
        "Core",
        "Channels", "DeviceGateway", "API", "Console", "Cluster", "BorealisDevice", "CLinux",
      ], swiftSettings: strict),
    // Migrations, the description of the API, the documentation and the console's assets become Swift files
    // of the modules that have them.
    .executableTarget(name: "embed-files", path: "Sources/EmbedFiles/Tool", swiftSettings: strict),
    .plugin(
      name: "EmbedFiles", capability: .buildTool(), dependencies: ["embed-files"],
      path: "Sources/EmbedFiles/Plugin"),
    // Tests.
    .target(
      name: "PushTesting",
      dependencies: [
        "BorealisBase", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Storage", "Core", "Channels",
        "Cluster", "CLinux",
        "CPostgreSQL",
      ],
      path: "Tests/PushTesting",
      swiftSettings: strict),
    tests("BaseTests", ["PushTesting", "BorealisBase"]),
    tests("DeviceProtocolTests", ["BorealisProtocol", "BorealisBase"]),
    tests("CryptoTests", ["PushTesting", "BorealisCrypto", "BorealisBase", "COpenSSL"]),
    tests(
      "NetTests",
      ["PushTesting", "BorealisNet", "HTTP", "BorealisCrypto", "BorealisBase", "CLinux", "COpenSSL"]),
    tests("HTTPTests", ["PushTesting", "HTTP", "BorealisNet", "BorealisCrypto", "BorealisBase", "CLinux"]),
    tests("ModelTests", ["PushTesting", "Channels", "Model", "BorealisBase"]),
    tests("StorageTests", ["PushTesting", "Storage", "Model", "BorealisBase", "CSQLite", "CLinux"]),
    tests(
      "CoreTests",
      [
        "PushTesting", "Channels", "Core", "HTTP", "Storage", "Model", "BorealisCrypto", "BorealisBase",
        "CLinux",
      ]),
    tests(
      "ChannelsTests",
      [
        "PushTesting", "Channels", "Core", "Storage", "HTTP", "Model", "BorealisNet", "BorealisCrypto",
        "BorealisBase", "CLinux",
      ]),
    tests(
      "DeviceGatewayTests",
      [
        "PushTesting", "DeviceGateway", "Core", "HTTP", "Storage", "Model", "BorealisNet", "BorealisProtocol",
        "BorealisCrypto", "BorealisBase", "CLinux",
      ]),
    tests(
      "APITests",
      [
        "PushTesting", "Channels", "API", "Core", "HTTP", "Storage", "Model", "BorealisCrypto",
        "BorealisBase",
      ]),
    tests(
      "GetuiTests",
      [
        "PushTesting", "Channels", "API", "Core", "HTTP", "Storage", "Model", "BorealisCrypto",
        "BorealisBase",
      ]),
    tests(
      "ConsoleTests",
      [
        "PushTesting", "Console", "API", "Channels", "Core", "HTTP", "Storage", "Model", "BorealisCrypto",
        "BorealisBase", "CSQLite",
      ]),
    tests(
      "ClusterTests",
      [
        "PushTesting", "Cluster", "DeviceGateway", "Core", "HTTP", "Storage", "Model", "BorealisNet",
        "BorealisProtocol", "BorealisCrypto", "BorealisBase", "CLinux",
      ]),
    tests(
      "BorealisDeviceTests",
      [
        "PushTesting", "BorealisDevice", "BorealisNet", "BorealisProtocol", "BorealisCrypto", "BorealisBase",
        "CLinux",
      ]),
    tests("DevToolsTests", ["DevTools", "Channels", "Model", "HTTP", "BorealisCrypto", "BorealisBase"]),
    tests(
      "BlackBoxTests",
      [
        "borealis", "borealis-dev", "PushTesting", "Core", "Storage", "DeviceGateway", "HTTP", "BorealisBase",
        "BorealisProtocol", "BorealisCrypto",
        "CLinux",
      ]),
    tests("TidyTests", ["PushTesting", "BorealisBase"]),
  ],
  swiftLanguageModes: [.v6]
)

// Set by `Tests/Sanitize/run quick`: builds no other tests, and only what they need.
if let kept = Context.environment["BOREALIS_TESTS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !kept.contains($0.name) }
}

if isFuzzing {
  package.products.append(.library(name: "Fuzz", type: .static, targets: ["Fuzz"]))
  package.targets.append(
    .target(
      name: "Fuzz",
      dependencies: [
        "BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet", "HTTP", "Model", "Channels",
        "Cluster", "COpenSSL",
      ],
      path: "Tests/Fuzz", exclude: ["run", "corpus", "dictionaries"], swiftSettings: strict + coverage))
}

if isForApple {
  // What a Mac builds: the folders for Apple's platforms, and none for Linux.
  package.products = [
    .library(name: "BorealisDevice", targets: ["BorealisDevice", "BorealisBase", "BorealisProtocol"]),
    .library(name: "BorealisJPush", targets: ["BorealisJPush"]),
    .library(name: "BorealisGetui", targets: ["BorealisGetui"]),
  ]
  package.targets = [
    module(
      "BorealisBase", in: "Base",
      exclude: [
        "Addresses", "Linux", "Logging", "Settings", "Text/Phrase.swift", "Threads", "Time/LocalTime.swift",
        "Time/Zone.swift", "Time/ZoneFile.swift",
      ]),
    module("BorealisProtocol", in: "DeviceProtocol", ["BorealisBase"]),
    module(
      "BorealisCrypto", in: "Crypto", ["BorealisBase"],
      exclude: ["Certificates", "CryptoError.swift", "CryptoLibrary.swift", "Hashes", "Keys", "Linux"]),
    module(
      "BorealisDevice", ["BorealisBase", "BorealisProtocol", "BorealisCrypto"], exclude: ["Linux"],
      resources: ["Apple/PrivacyInfo.xcprivacy"]),
    // The calls of JPush's library, and of Getui's.
    module("BorealisJPush", ["BorealisDevice", "BorealisBase", "BorealisProtocol"]),
    module("BorealisGetui", ["BorealisDevice", "BorealisBase", "BorealisProtocol"]),
  ]
}

#if os(Linux)
  // Tests/AppleTests/run: modules with the names of Apple's, and the tests that run with them.
  if isForApple {
    let modules = ["Security", "Network", "CryptoKit", "UIKit", "UserNotifications"]
    for target in package.targets where target.name != "BorealisBase" && target.name != "BorealisProtocol" {
      target.dependencies += modules.map { .init(stringLiteral: $0) }
    }
    package.targets +=
      [
        library("COpenSSL", "openssl", "libssl-dev"),
        .target(name: "PushTesting", path: "Tests/AppleTests/PushTesting", swiftSettings: strict),
        // The apps in Docs/ios.md, Docs/ios-from-jpush.md and Docs/ios-from-getui.md.
        .target(
          name: "AppOnPage", dependencies: ["BorealisDevice", "BorealisBase", "UIKit"],
          path: "Tests/AppleTests/Pages/ios", swiftSettings: [.swiftLanguageMode(.v6)]),
        .target(
          name: "AppOnJPushPage", dependencies: ["BorealisJPush", "UIKit", "UserNotifications"],
          path: "Tests/AppleTests/Pages/jpush", swiftSettings: [.swiftLanguageMode(.v6)]),
        .target(
          name: "AppOnGetuiPage", dependencies: ["BorealisGetui", "UIKit", "UserNotifications"],
          path: "Tests/AppleTests/Pages/getui", swiftSettings: [.swiftLanguageMode(.v6)]),
        // The devices that KillTests kills.
        .executableTarget(
          name: "borealis-fleet", dependencies: ["BorealisDevice", "BorealisProtocol", "BorealisBase"],
          path: "Tests/AppleTests/Fleet", swiftSettings: strict),
        .testTarget(
          name: "AppleTests",
          dependencies: [
            "BorealisJPush", "BorealisGetui", "BorealisDevice", "BorealisCrypto", "BorealisProtocol",
            "BorealisBase", "PushTesting", "AppOnPage", "AppOnJPushPage", "AppOnGetuiPage", "borealis-fleet",
          ]
            + modules.map { .init(stringLiteral: $0) },
          // What the tests of the device library on Linux share with these: all but those of our own loop.
          exclude: [
            "Declarations", "Fleet", "Modules", "Pages", "PushTesting", "Shared/DeviceTLSTests.swift",
            "Shared/TestServer.swift", "getui-signatures.txt", "jpush-signatures.txt", "run",
          ],
          swiftSettings: strict),
      ]
      + modules.map { name in
        .target(
          name: name, dependencies: ["COpenSSL"] + (name == "Network" ? ["Security"] : []),
          path: "Tests/AppleTests/Modules/\(name)", swiftSettings: strict)
      }
  }
#endif
