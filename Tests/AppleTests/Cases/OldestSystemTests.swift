import Foundation
import PushTesting
import Testing

/// The library runs on the oldest systems that Package.swift names.
@Suite(.timeLimit(.minutes(10))) struct OldestSystemTests {
  private static let modules = [
    "BorealisBase", "BorealisProtocol", "BorealisCrypto", "BorealisDevice", "BorealisJPush",
    "BorealisGetui",
  ]

  /// They have all that it uses, or it asks first.
  @Test func theOldestSystemHasAllThatIsUsed() throws {
    let folder = TemporaryFolder()
    let compiler = try AppleCompiler(in: folder.path)
    for module in Self.modules {
      #expect(try compiler.problems(of: module, AppleCompiler.sources(of: module)) == [])
    }
    // What would be found.
    let file = folder.file("New.swift")
    try TemporaryFolder.write(
      """
      func asked(_ text: String) -> Int { if #available(iOS 26, *) { text.utf8.span.count } else { 0 } }
      func new(_ text: String) -> Int { text.utf8.span.count }
      """, to: file)
    let problems = try compiler.problems(of: "New", [file])
    #expect(problems.count == 1)
    #expect(problems.first?.contains("New.swift:2:") == true)
    #expect(problems.first?.contains("'span' is only available in iOS 26.0 or newer") == true)
  }

  /// What is asked of iOS is asked of macOS as well, for which the same files are compiled.
  @Test func bothSystemsAreAsked() throws {
    for file in try Self.modules.flatMap({ try AppleCompiler.sources(of: $0) }) {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      guard !text.hasPrefix("#if canImport(UIKit)") else { continue }
      for line in text.split(separator: "\n") where line.contains("#available(iOS") {
        #expect(line.contains(/#available\(iOS (\d+), macOS \d+, \*\)/), "\(file): \(line)")
      }
    }
  }
}
