import BorealisBase
import Foundation
import PushTesting
import Testing

@testable import Console

/// The library for browsers, as it is delivered.
@Suite struct WebPackageTests {
  /// The lines of a module that begin with a word.
  private static func lines(of name: String, from start: String) -> [Substring] {
    (embeddedWebFiles[name] ?? "").split(separator: "\n").filter { $0.hasPrefix(start) }
  }

  @Test func `The package is what npm makes of the folder, and small`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("package.tgz")
    try Data(WebPackage.archive).write(to: URL(filePath: path))
    #expect(WebPackage.archive.count < 25 * 1024)
    #expect(ChildProcess.wait(for: try ChildProcess.start("tar", ["xzf", path, "-C", folder.path])) == 0)
    for (name, text) in embeddedWebFiles {
      #expect(try String(contentsOfFile: folder.file("package/\(name)"), encoding: .utf8) == text, "\(name)")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("package"))
    #expect(files.sorted() == embeddedWebFiles.keys.sorted())
  }

  @Test func `Its files refer to each other and to nothing else`() throws {
    let modules = embeddedWebFiles.keys.filter { $0.hasSuffix(".js") }
    #expect(modules.count > 5)
    for name in modules {
      for line in Self.lines(of: name, from: "import ") {
        let found = try #require(
          line.firstMatch(of: /^import \{ [\w, ]+ \} from "\.\/(\w+\.js)";$/), "\(line)")
        #expect(embeddedWebFiles[String(found.1)] != nil, "\(line)")
      }
      #expect(embeddedWebFiles[name]?.contains(/https?:\/\//) == false, "\(name) names a host")
    }
  }

  @Test func `What is exported is declared`() throws {
    let exported = Self.lines(of: "index.js", from: "export ").flatMap { line in
      line.split(separator: "{")[1].split(separator: "}")[0].split { !$0.isLetter }
    }
    let declared = Self.lines(of: "index.d.ts", from: "export class ").map { $0.split(separator: " ")[2] }
    #expect(exported.sorted() == declared.sorted())
    let members = /^  (?:static |readonly |async |get )*(\w+)(?:\(.*|: .*)$/
    func names(_ file: String, _ start: String) -> Set<Substring> {
      let text = embeddedWebFiles[file] ?? ""
      guard let from = text.firstRange(of: start), let to = text[from.upperBound...].firstRange(of: "\n}")
      else {
        return []
      }
      return Set(
        text[from.upperBound..<to.lowerBound].split(separator: "\n").compactMap {
          $0.firstMatch(of: members)?.1
        })
    }
    let declarations = names("index.d.ts", "export class Borealis {")
    #expect(declarations.count > 15)
    #expect(declarations == names("borealis.js", "export class Borealis {"))
  }

  @Test func `Classic scripts have no line that only modules have`() {
    for script in [WebPackage.pageScript, WebPackage.workerScript] {
      let lines = script.split(separator: "\n")
      #expect(lines.count > 300)
      #expect(!lines.contains { $0.hasPrefix("import ") || $0.hasPrefix("export ") })
    }
  }
}
