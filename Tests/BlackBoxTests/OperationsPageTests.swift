import BorealisBase
import PushTesting
import Testing

/// Docs/operations against the program: nothing is missing there, nothing is made up.
@Suite struct OperationsPageTests {
  let folder = TemporaryFolder()

  /// The lines of all its pages.
  static let page: [Substring] = {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let folder = "/\(root)/Docs/operations/"
    return TemporaryFolder.files(folder).flatMap { TemporaryFolder.read(folder + $0).split(separator: "\n") }
  }()

  /// First cells of table rows that start with a code span.
  static func rows(_ prefix: String) -> [Substring] { page.filter { $0.hasPrefix("| `\(prefix)") } }

  @Test func `The table of settings is what --help says`() throws {
    let help = try RunningProgram.run(["serve", "--help"]).output
    let lines = help.split(separator: "\n").map(String.init)
    var expected: [String] = []
    for (flag, text) in zip(lines, lines.dropFirst()) where flag.hasPrefix("  --") {
      var meaning = text.drop { $0 == " " }
      var value = ""
      if let start = meaning.firstRange(of: " Default: ") {
        value = "`\(meaning[start.upperBound...].dropLast())` "
        meaning = meaning[..<start.lowerBound]
      }
      expected.append("| `\(flag.drop { $0 == " " })` | \(value)| \(meaning) |")
    }
    #expect(expected.count > 20)
    #expect(Self.rows("--").map(String.init) == expected)
  }

  @Test func `The files in the data folder are those of the page`() throws {
    let data = folder.path + "/data"
    let server = try TestServer(data: data, ["--http-tls", "127.0.0.1:0"])
    _ = try server.makeApp()
    let explained = Self.page.filter {
      line in ["borealis.sqlite", "lock", "commands", "tls"].contains { line.hasPrefix("| `\($0)") }
    }
    .joined(separator: " ")
    for file in TemporaryFolder.files(data) { #expect(explained.contains("`\(file)`"), "\(file)") }
    #expect(TemporaryFolder.files(data).contains("tls/key.pem"))
  }
}
