import Glibc

/// A new folder that goes away, with all in it, with this object.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/borealis-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
  }

  deinit { Self.remove(path) }

  /// What lies in a folder.
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

  /// All files below a folder, by their path from there.
  static func files(_ path: String) -> [String] {
    (entries(path) ?? []).flatMap { name in
      entries("\(path)/\(name)") == nil ? [name] : files("\(path)/\(name)").map { "\(name)/\($0)" }
    }
  }

  /// Replaces a file's content.
  static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "we") else {
      throw RunningProgram.Failure(description: "cannot write \(path)")
    }
    fputs(text, file)
    fclose(file)
  }

  /// A file's content, empty if there is no such file.
  static func read(_ path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
