import Foundation

/// The Swift compiler as for the oldest iOS that Package.swift names. It reads the toolchain's interface of
/// the standard library, which says since when each member is there, the modules of these tests, and what is
/// in `Declarations`; so it checks what it does not check when it compiles for Linux.
struct AppleCompiler {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let root = tests.deletingLastPathComponent().deletingLastPathComponent()

  /// The version of iOS.
  let version: String
  private let target: String
  /// The toolchain's `lib/swift`.
  private let resources: String
  /// The modules of the standard library, which are made once.
  private let standard: URL
  /// All other modules.
  private let modules: URL

  /// Makes the modules that Apple's platforms have.
  init(in folder: String) throws {
    let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    guard let version = manifest.firstMatch(of: /\.iOS\(\.v(\d+)\)/)?.1 else {
      throw Failed(description: "Package.swift names no iOS")
    }
    self.version = String(version)
    target = "x86_64-apple-ios\(version).0-simulator"
    let compiler = (ProcessInfo.processInfo.environment["SWIFT"] ?? "swift") + "c"
    let about = try Self.run(["/usr/bin/env", compiler, "-print-target-info"])
    let info = try JSONSerialization.jsonObject(with: Data(about.utf8)) as? [String: Any]
    guard let paths = info?["paths"] as? [String: Any], let name = info?["compilerVersion"] as? String,
      let resources = paths["runtimeResourcePath"] as? String
    else { throw Failed(description: about) }
    self.resources = resources
    standard = Self.root.appendingPathComponent(
      ".build/apple/oldest/\(name.filter { $0.isLetter || $0.isNumber || $0 == "." })-\(target)")
    modules = URL(fileURLWithPath: folder)
    try makeStandard()
    try makeFrameworks()
  }

  /// What the compiler says against the files of a module, which others may import afterwards.
  func problems(of module: String, _ files: [String]) throws -> [String] {
    try compile(
      module,
      ["-emit-module", "-parse-as-library", "-swift-version", "6", "-package-name", "borealis"] + files)
  }

  /// The files of a module of the package, as they were built.
  static func sources(of module: String) throws -> [String] {
    guard let program = Bundle.main.executableURL else { throw Failed(description: "no program") }
    let list = program.deletingLastPathComponent().appendingPathComponent("\(module).build/sources")
    let own = root.appendingPathComponent("Sources/").path
    return try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix(own) }
  }

  private func makeStandard() throws {
    try FileManager.default.createDirectory(at: standard, withIntermediateDirectories: true)
    for name in ["Swift", "_Concurrency", "_StringProcessing", "SwiftOnoneSupport"] {
      let module = standard.appendingPathComponent("\(name).swiftmodule")
      guard !FileManager.default.fileExists(atPath: module.path) else { continue }
      let source = "\(resources)/linux/\(name).swiftmodule/x86_64-unknown-linux-gnu.swiftinterface"
      try compile(name, interface: try String(contentsOfFile: source, encoding: .utf8), to: standard)
    }
  }

  private func makeFrameworks() throws {
    for name in ["Foundation", "Darwin"] {
      let source = Self.tests.appendingPathComponent("Declarations/\(name).swiftinterface")
      try compile(name, interface: try String(contentsOf: source, encoding: .utf8), to: modules)
    }
    let compiler = (ProcessInfo.processInfo.environment["SWIFT"] ?? "swift") + "c"
    let linux = modules.appendingPathComponent("linux")
    try FileManager.default.createDirectory(at: linux, withIntermediateDirectories: true)
    for name in ["Security", "CryptoKit", "UIKit", "UserNotifications", "Network"] {
      let folder = Self.tests.appendingPathComponent("Modules/\(name)")
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        .map { folder.appendingPathComponent($0).path }
      let interface = linux.appendingPathComponent("\(name).swiftinterface").path
      let said = try Self.run(
        [
          "/usr/bin/env", compiler, "-swift-version", "6", "-suppress-warnings", "-enable-library-evolution",
          "-parse-as-library", "-module-name", name, "-emit-module", "-emit-module-path",
          linux.appendingPathComponent("\(name).swiftmodule").path, "-emit-module-interface-path", interface,
          "-I", linux.path, "-I", Self.root.appendingPathComponent("Sources/C/COpenSSL").path,
        ] + files)
      guard FileManager.default.fileExists(atPath: interface) else { throw Failed(description: said) }
      try compile(name, interface: try String(contentsOfFile: interface, encoding: .utf8), to: modules)
    }
  }

  /// Makes a module from its interface for Linux.
  private func compile(_ module: String, interface: String, to folder: URL) throws {
    let text = interface.replacing("-target x86_64-unknown-linux-gnu", with: "-target \(target)")
      .replacing("FoundationEssentials.", with: "Foundation.").replacing("Dispatch.", with: "Foundation.")
      .split(separator: "\n", omittingEmptySubsequences: false)
      // The interface for Linux has no bodies of what goes back to older systems; Apple's has.
      .filter { !$0.contains(/^ *@backDeployed|^import (COpenSSL|Dispatch)$/) }
      .joined(separator: "\n")
    let file = folder.appendingPathComponent("\(module).apple.swiftinterface")
    try text.write(to: file, atomically: true, encoding: .utf8)
    let output = folder.appendingPathComponent("\(module).swiftmodule")
    let problems = try compile(
      module,
      ["-compile-module-from-interface", "-disable-availability-checking"]
        + (module == "Swift" ? ["-parse-stdlib"] : []) + [file.path],
      to: output)
    guard FileManager.default.fileExists(atPath: output.path) else {
      throw Failed(description: "\(module): \(problems)")
    }
  }

  private func compile(_ module: String, _ arguments: [String], to output: URL? = nil) throws -> [String] {
    let output = output ?? modules.appendingPathComponent("\(module).swiftmodule")
    let said = try Self.run(
      [
        "\(resources)/../../bin/swift-frontend", "-target", target, "-disable-objc-interop", "-module-name",
        module, "-resource-dir", resources, "-I", standard.path, "-I", modules.path, "-I",
        Self.tests.appendingPathComponent("Declarations/CDarwin").path, "-module-cache-path",
        standard.appendingPathComponent("cache").path, "-enable-upcoming-feature", "ExistentialAny",
        "-enable-upcoming-feature", "MemberImportVisibility", "-o", output.path,
      ] + arguments)
    return said.split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("/") && $0.contains(#/: (error|warning): /#) || $0.hasPrefix("<unknown>") }
  }

  /// What a program prints.
  private static func run(_ command: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}
