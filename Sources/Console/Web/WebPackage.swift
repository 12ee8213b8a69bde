import BorealisBase

/// The library for browsers, `Sources/web`: ES modules, classic scripts made of them, and a package for npm.
enum WebPackage {
  /// The version in its `package.json`.
  static let version: String = {
    let json = try? parseJSON(Array((embeddedWebFiles["package.json"] ?? "").utf8))
    return json?["version"]?.string ?? "0"
  }()

  /// The script for pages that load no modules, with the names by which they know its parts.
  static let pageScript = """
    "use strict";
    const { Borealis, BorealisContent, BorealisDevice, BorealisStore, BorealisWebPush } = (() => {
    \(functions(["encryption", "device", "store", "webpush", "borealis"]))
    return {
      Borealis: $borealis.Borealis, BorealisContent: $encryption, BorealisDevice: $device,
      BorealisStore: $store, BorealisWebPush: $webpush.WebPush,
    };
    })();

    """

  /// The script for service workers, most of which load no modules.
  static let workerScript = """
    "use strict";
    (() => {
    \(functions(["encryption", "store", "worker"]))
    })();

    """

  /// Modules as functions that return what they export, in an order in which each finds those that it
  /// imports. An import and an export are one line each. A module's own names have no dollar sign.
  private static func functions(_ names: [String]) -> String {
    names.map { name in
      var exported: [Substring] = []
      let body = (embeddedWebFiles["\(name).js"] ?? "").split(
        separator: "\n", omittingEmptySubsequences: false
      ).map { line -> String in
        if let (names, module) = imports(line) { return "const {\(names)} = $\(module);" }
        guard line.hasPrefix("export ") else { return String(line) }
        let declaration = line.dropFirst("export ".count)
        let words = declaration.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        if let name = words.first(where: { !["async", "class", "const", "function"].contains($0) }) {
          exported.append(name)
        }
        return String(declaration)
      }
      return """
        const $\(name) = (() => {
        \(body.joined(separator: "\n"))
        return { \(exported.joined(separator: ", ")) };
        })();
        """
    }.joined(separator: "\n")
  }

  /// The names and the module of `import { A, B } from "./module.js";`.
  private static func imports(_ line: Substring) -> (names: Substring, module: Substring)? {
    let (start, middle, end) = ("import {", "} from \"./", ".js\";")
    guard line.hasPrefix(start), line.hasSuffix(end), let range = line.firstRange(of: middle) else {
      return nil
    }
    return (line[..<range.lowerBound].dropFirst(start.count), line[range.upperBound...].dropLast(end.count))
  }

  // MARK: The package

  /// `borealis-VERSION.tgz`, as `npm pack` makes it; the same bytes from the same sources.
  static let archive: [UInt8] = {
    let files = embeddedWebFiles.sorted { $0.key < $1.key }
    var tar: [UInt8] = []
    for (name, text) in files { appendFile("package/\(name)", Array(text.utf8), to: &tar) }
    // Two empty blocks end an archive.
    tar += [UInt8](repeating: 0, count: 2 * blockSize)
    return Gzip.compress(tar)
  }()

  private static let blockSize = 512

  /// Appends a file in the form of POSIX.1-1988 (ustar).
  private static func appendFile(_ name: String, _ contents: [UInt8], to tar: inout [UInt8]) {
    func octal(_ value: Int, _ count: Int) -> [UInt8] {
      let digits = String(value, radix: 8)
      return Array((String(repeating: "0", count: max(0, count - 1 - digits.count)) + digits).utf8) + [0]
    }
    func padded(_ text: String, _ count: Int) -> [UInt8] {
      Array(text.utf8.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - text.utf8.count))
    }
    // Readable by all, of no user, and of the day that npm gives all files.
    let start = padded(name, 100) + octal(0o644, 8) + octal(0, 8) + octal(0, 8)
    let middle = octal(contents.count, 12) + octal(499_162_500, 12)
    let end = Array("0".utf8) + padded("", 100) + padded("ustar", 6) + Array("00".utf8)
    let rest = [UInt8](repeating: 0, count: blockSize - 265)
    // The sum is taken with blanks in its own place.
    let blanks = [UInt8](repeating: UInt8(ascii: " "), count: 8)
    let sum = (start + middle + blanks + end + rest).reduce(0) { $0 + Int($1) }
    tar += start + middle + octal(sum, 7) + [UInt8(ascii: " ")] + end + rest + contents
    tar += [UInt8](repeating: 0, count: (blockSize - contents.count % blockSize) % blockSize)
  }
}
