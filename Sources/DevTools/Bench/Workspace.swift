import Glibc

/// A temporary folder that disappears with the last reference to it.
final class Workspace {
  let path: String

  /// Makes a folder within `parent`, by default $TMPDIR or /tmp.
  init(in parent: String? = nil) throws(BenchError) {
    let base = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((base + "/borealis-bench-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw .system(call: "mkdtemp in \(base)", number: errno) }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? base }
  }

  deinit { Self.remove(path) }

  /// Writes a small file and returns its path.
  func write(_ name: String, _ text: String) throws(BenchError) -> String {
    let file = path + "/" + name
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(call: "open \(file)", number: errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw .system(call: "write \(file)", number: errno) }
    return file
  }

  /// Makes an empty folder within this one and returns its path.
  func folder(_ name: String) throws(BenchError) -> String {
    let folder = path + "/" + name
    guard mkdir(folder, 0o700) == 0 else { throw .system(call: "mkdir \(folder)", number: errno) }
    return folder
  }

  private static func remove(_ folder: String) {
    for name in ProcessUsage.names(in: folder) {
      let path = folder + "/" + name
      var status = stat()
      if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        remove(path)
      } else {
        unlink(path)
      }
    }
    rmdir(folder)
  }
}
