// swift-tools-version: 6.2
import PackageDescription

/// Set by Tests/Fuzz/run. The harnesses exist only then, since nobody may depend on a package with unsafe
/// flags.
let isFuzzing = Context.environment["BOREALIS_FUZZ"] != nil
/// Tells libFuzzer which ways the code goes.
let coverage: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : []

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
  plugins: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) },
    path: "Sources/\(folder ?? name)", exclude: exclude, swiftSettings: strict + coverage,
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
    // What everything is made of.
    module("BorealisBase", in: "Base", ["CLinux"]),
    module("BorealisProtocol", in: "DeviceProtocol", ["BorealisBase"]),
    module("BorealisCrypto", in: "Crypto", ["BorealisBase", "COpenSSL"]),
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
        "CZlib",
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
      "BorealisDevice", ["BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisNet"]),
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
    // Migrations, the description of the API and the console's assets become Swift files of the modules that
    // have them.
    .executableTarget(name: "embed-files", path: "Sources/EmbedFiles/Tool", swiftSettings: strict),
    .plugin(
      name: "EmbedFiles", capability: .buildTool(), dependencies: ["embed-files"],
      path: "Sources/EmbedFiles/Plugin"),
    // Tests.
    .target(
      name: "PushTesting",
      dependencies: [
        "BorealisBase", "BorealisCrypto", "HTTP", "Model", "Storage", "Core", "Channels", "Cluster", "CLinux",
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
        "borealis", "borealis-dev", "PushTesting", "Core", "Storage", "BorealisBase", "BorealisProtocol",
        "BorealisCrypto",
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
        "Cluster",
      ],
      path: "Tests/Fuzz", exclude: ["run", "corpus", "dictionaries"], swiftSettings: strict + coverage))
}
