import Glibc

/// A new folder that goes away, with all in it, with this object.
package final class TemporaryFolder: Sendable {
  /// A file could not be made.
  package struct Failed: Error, CustomStringConvertible {
    /// The file.
    package let path: String
    /// What failed, for the test's report.
    package var description: String { "cannot write \(path)" }
  }

  /// Where it is.
  package let path: String

  /// Makes a folder where `TMPDIR` says, as usual; without one, every use of its path fails.
  package init() {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/borealis-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
  }

  deinit { Self.remove(path) }

  /// A file in it for a database.
  package var database: String { file("test.sqlite") }

  /// The path of a file in it.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// What lies in it, in order.
  package var names: [String] { (Self.entries(path) ?? []).sorted() }

  /// All files below a folder, by their path from there.
  package static func files(_ path: String) -> [String] {
    (entries(path) ?? []).flatMap { name in
      entries("\(path)/\(name)") == nil ? [name] : files("\(path)/\(name)").map { "\(name)/\($0)" }
    }
  }

  /// Replaces a file's content.
  package static func write(_ text: String, to path: String) throws {
    try write(Array(text.utf8), to: path)
  }

  /// Replaces a file's content.
  package static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "we") else { throw Failed(path: path) }
    let count = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, count == bytes.count else { throw Failed(path: path) }
  }

  /// A file's content as text, empty if there is no such file.
  package static func read(_ path: String) -> String { String(decoding: bytes(path), as: UTF8.self) }

  /// A file's content, empty if there is no such file.
  package static func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }

  private static func entries(_ path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func remove(_ path: String) {
    for name in entries(path) ?? [] where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
