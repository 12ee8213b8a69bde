// swift-tools-version: 6.2
import PackageDescription

/// Set by Tests/Fuzz/run. The harnesses exist only then, since nobody may depend on a package with unsafe flags.
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

func module(
  _ name: String, _ dependencies: [String] = [], exclude: [String] = [], plugins: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) }, exclude: exclude,
    swiftSettings: strict + coverage, plugins: plugins.map { .plugin(name: $0) })
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) }, swiftSettings: strict)
}

let package = Package(
  name: "borealis",
  products: [
    .executable(name: "borealis", targets: ["borealis"]),
    // The other modules hold types of its interface.
    .library(name: "BorealisDevice", targets: ["BorealisDevice", "PushBase", "PushJSON", "PushWire"]),
  ],
  dependencies: [],
  targets: [
    // C edge.
    .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CRoaring", providers: [.apt(["libroaring-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    // Pure: no input or output.
    module("PushBase", ["CLinux"]),
    module("PushJSON", ["PushBase"]),
    module("PushWire", ["PushBase"]),
    module("PushHTTP", ["PushBase"]),
    module("PushDomain", ["PushBase", "PushJSON"]),
    // Edges of the system.
    module("PushCrypto", ["PushBase", "COpenSSL"]),
    module("PushWebSocket", ["PushBase", "PushHTTP", "PushCrypto"]),
    module("PushNet", ["PushBase", "CLinux", "COpenSSL"]),
    module("PushHTTPServer", ["PushBase", "PushHTTP", "PushNet"]),
    module("PushHTTP2", ["PushBase", "PushNet", "CNghttp2"]),
    module("PushHTTPClient", ["PushBase", "PushHTTP2", "PushNet", "CCurl"]),
    module("PushCluster", ["PushBase", "PushWire", "PushCrypto", "CNATS", "COpenSSL"]),
    module("PushForwarding", ["PushBase", "PushHTTP", "PushHTTPServer", "PushNet"]),
    module(
      "PushStorage",
      ["PushBase", "PushDomain", "PushCrypto", "CSQLite", "CPostgreSQL", "CLinux", "COpenSSL"],
      plugins: ["EmbedFiles"]
    ),
    // Migrations/*.sql become a Swift file of PushStorage, Docs/api/openapi.json one of PushGateway.
    .executableTarget(name: "embed-files", swiftSettings: strict),
    .plugin(
      name: "EmbedFiles", capability: .buildTool(), dependencies: ["embed-files"],
      path: "Sources/EmbedFiles"),
    // Services.
    module("PushRouter", ["PushBase", "PushDomain", "PushStorage", "PushCrypto", "CRoaring"]),
    module(
      "PushCallbacks",
      [
        "PushBase", "PushJSON", "PushDomain", "PushStorage", "PushRouter", "PushCrypto", "PushHTTPClient",
        "CLinux",
      ]),
    module(
      "PushPassthrough",
      ["PushBase", "PushWire", "PushDomain", "PushNet", "PushWebSocket", "PushRouter", "PushCrypto"]),
    module("PushNodes", ["PushBase", "PushWire", "PushDomain", "PushCluster", "PushRouter"]),
    module(
      "PushGateway",
      [
        "PushBase", "PushJSON", "PushHTTP", "PushHTTPServer", "PushDomain", "PushStorage", "PushRouter",
        "PushCrypto", "PushCallbacks",
      ], plugins: ["EmbedFiles"]),
    module("PushChannels", ["PushBase", "PushDomain", "PushStorage", "PushRouter", "PushCrypto"]),
    module(
      "PushGetui",
      [
        "PushBase", "PushJSON", "PushHTTP", "PushHTTPServer", "PushDomain", "PushStorage", "PushRouter",
        "PushCrypto", "PushGateway",
      ]),
    module(
      "PushAPNs",
      [
        "PushBase", "PushJSON", "PushChannels", "PushDomain", "PushStorage", "PushRouter", "PushCrypto",
        "PushHTTP2", "PushNet",
      ]),
    module(
      "PushVendors",
      [
        "PushBase", "PushJSON", "PushHTTP", "PushChannels", "PushDomain", "PushStorage", "PushRouter",
        "PushCrypto", "PushHTTPClient",
      ]),
    module("PushMembership", ["PushBase", "PushStorage", "CLinux"]),
    module("PushAccounts", ["PushBase", "PushStorage", "PushCrypto"]),
    module("PushMail", ["PushBase", "PushStorage", "CCurl"]),
    module("PushOps", ["PushBase", "PushJSON", "CLinux"]),
    module(
      "PushConsole",
      [
        "PushBase", "PushJSON", "PushHTTP", "PushHTTPServer", "PushDomain", "PushCrypto", "PushStorage",
        "PushRouter", "PushAccounts", "PushCallbacks", "PushGateway", "CQREncode",
      ], exclude: ["Assets"], plugins: ["EmbedFiles"]),
    // The device side.
    module("BorealisDevice", ["PushBase", "PushJSON", "PushWire", "PushNet", "PushCrypto"]),
    // The services' side, for tests and for trying things out.
    module(
      "APNsSimulator",
      [
        "PushBase", "PushJSON", "PushHTTP", "PushCrypto", "PushNet", "PushHTTPServer", "PushHTTP2", "PushOps",
        "CLinux",
      ]),
    module(
      "ChannelSimulator",
      [
        "PushBase", "PushJSON", "PushHTTP", "PushCrypto", "PushNet", "PushHTTPServer", "PushHTTPClient",
        "PushOps", "CLinux",
      ]),
    .executableTarget(name: "apns-simulator", dependencies: ["APNsSimulator"], swiftSettings: strict),
    // Measuring, and the program.
    module(
      "PushBench",
      [
        "PushBase", "PushJSON", "PushWire", "PushHTTP", "PushCrypto", "PushDomain", "PushNet",
        "PushHTTPServer",
        "PushHTTP2", "PushHTTPClient", "PushAPNs", "CLinux", "CSQLite",
      ]),
    .executableTarget(
      name: "borealis",
      dependencies: [
        "PushBase", "PushJSON", "PushWire", "PushHTTP", "PushDomain", "PushCrypto", "PushNet",
        "PushWebSocket", "PushHTTPServer", "PushHTTP2", "PushForwarding", "PushCluster", "PushNodes",
        "PushStorage", "PushRouter", "PushPassthrough", "PushGateway", "PushGetui", "PushConsole",
        "PushChannels",
        "PushAPNs", "PushVendors", "PushHTTPClient", "PushCallbacks", "PushMail", "PushMembership",
        "PushOps", "BorealisDevice", "APNsSimulator", "ChannelSimulator", "PushBench", "CLinux",
      ], swiftSettings: strict),
    // Tests.
    .target(
      name: "PushTesting",
      dependencies: [
        "PushBase", "PushDomain", "PushCrypto", "PushStorage", "PushRouter", "PushChannels", "PushCluster",
        "CLinux", "CPostgreSQL",
      ],
      path: "Tests/PushTesting",
      swiftSettings: strict),
    tests("PushBaseTests", ["PushTesting", "PushBase"]),
    tests("PushJSONTests", ["PushJSON", "PushBase"]),
    tests("PushWireTests", ["PushWire", "PushBase"]),
    tests("PushHTTPTests", ["PushHTTP", "PushBase"]),
    tests("PushDomainTests", ["PushTesting", "PushAPNs", "PushDomain", "PushJSON", "PushBase"]),
    tests("PushCryptoTests", ["PushTesting", "PushCrypto", "PushBase", "COpenSSL"]),
    tests("PushWebSocketTests", ["PushWebSocket", "PushHTTP", "PushBase"]),
    tests(
      "PushNetTests",
      [
        "PushTesting", "PushNet", "PushHTTPServer", "PushHTTP", "PushCrypto", "PushBase", "CLinux",
        "COpenSSL",
      ]),
    tests("PushHTTP2Tests", ["PushHTTP2", "PushNet", "PushCrypto", "PushBase", "CLinux"]),
    tests(
      "PushHTTPClientTests",
      [
        "PushTesting", "PushHTTPClient", "PushHTTPServer", "PushHTTP", "PushHTTP2", "PushNet", "PushCrypto",
        "PushBase", "CLinux",
      ]),
    tests("PushClusterTests", ["PushTesting", "PushCluster", "PushCrypto", "PushWire", "PushBase"]),
    tests(
      "PushForwardingTests",
      [
        "PushTesting", "PushForwarding", "PushHTTPServer", "PushHTTP", "PushNet", "PushCrypto", "PushBase",
        "CLinux",
      ]),
    tests("PushStorageTests", ["PushTesting", "PushStorage", "PushDomain", "PushBase", "CSQLite", "CLinux"]),
    tests(
      "PushRouterTests", ["PushTesting", "PushAPNs", "PushRouter", "PushStorage", "PushDomain", "PushBase"]),
    tests(
      "PushCallbacksTests",
      [
        "PushTesting", "PushCallbacks", "PushHTTPClient", "PushRouter", "PushStorage", "PushDomain",
        "PushCrypto", "PushJSON", "PushBase", "CLinux",
      ]),
    tests(
      "PushPassthroughTests",
      [
        "PushTesting", "PushPassthrough", "PushRouter", "PushNet", "PushWebSocket", "PushWire", "PushStorage",
        "PushDomain",
        "PushCrypto", "PushBase", "CLinux",
      ]),
    tests(
      "PushNodesTests",
      [
        "PushTesting", "PushNodes", "PushMembership", "PushCluster", "PushPassthrough", "PushRouter",
        "PushNet",
        "PushStorage", "PushDomain", "PushCrypto", "PushWire", "PushBase", "CLinux",
      ]),
    tests(
      "PushGatewayTests",
      [
        "PushTesting", "PushAPNs", "PushGateway", "PushCallbacks", "PushRouter", "PushHTTP", "PushJSON",
        "PushStorage",
        "PushDomain",
        "PushCrypto",
        "PushBase",
      ]),
    tests(
      "PushGetuiTests",
      [
        "PushTesting", "PushAPNs", "PushGetui", "PushGateway", "PushRouter", "PushHTTP", "PushJSON",
        "PushStorage",
        "PushDomain", "PushCrypto", "PushBase",
      ]),
    tests(
      "PushChannelsTests",
      [
        "PushTesting", "PushChannels", "PushRouter", "PushStorage", "PushDomain", "PushBase",
      ]),
    tests(
      "PushAPNsTests",
      [
        "PushTesting", "PushAPNs", "PushChannels", "PushRouter", "PushStorage", "PushHTTP2", "PushNet",
        "PushDomain",
        "PushCrypto", "PushJSON",
        "PushBase",
        "CLinux",
      ]),
    tests(
      "PushVendorsTests",
      [
        "PushTesting", "PushVendors", "PushChannels", "PushRouter", "PushStorage", "PushHTTPClient",
        "PushDomain", "PushCrypto", "PushJSON", "PushBase", "CLinux",
      ]),
    tests(
      "ChannelSimulatorTests", ["ChannelSimulator", "PushHTTP", "PushCrypto", "PushJSON", "PushBase"]),
    tests("APNsSimulatorTests", ["APNsSimulator", "PushHTTP", "PushCrypto", "PushJSON", "PushBase"]),
    tests("PushMembershipTests", ["PushTesting", "PushMembership", "PushStorage"]),
    tests("PushMailTests", ["PushTesting", "PushMail", "PushStorage", "PushDomain", "PushBase"]),
    tests("PushOpsTests", ["PushOps", "PushBase"]),
    tests(
      "PushConsoleTests",
      [
        "PushTesting", "PushConsole", "PushAccounts", "PushCallbacks", "PushGateway", "PushAPNs",
        "PushChannels", "PushRouter",
        "PushStorage", "PushHTTP",
        "PushJSON", "PushDomain", "PushCrypto", "PushBase", "CSQLite",
      ]),
    tests(
      "BorealisDeviceTests",
      [
        "PushTesting", "BorealisDevice", "PushNet", "PushCrypto", "PushJSON", "PushWire", "PushBase",
        "CLinux",
      ]),
    tests("PushBenchTests", ["PushBase", "PushBench"]),
    tests(
      "BlackBoxTests",
      [
        "borealis", "PushTesting", "PushRouter", "PushStorage", "PushBase", "PushJSON", "PushWire",
        "PushCrypto", "CLinux",
      ]),
    tests("TidyTests", ["PushTesting", "PushBase"]),
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
        "PushBase", "PushJSON", "PushWire", "PushHTTP", "PushWebSocket", "PushHTTP2", "PushDomain", "PushOps",
        "PushCrypto", "PushNet", "PushAPNs", "PushCluster",
      ],
      path: "Tests/Fuzz", exclude: ["run", "corpus", "dictionaries"], swiftSettings: strict + coverage))
}
