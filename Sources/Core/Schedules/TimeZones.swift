import BorealisBase
import Glibc

/// The zones that devices may be in, by their names in the IANA database. A device that reports anything else
/// is in none.
package struct TimeZones: Sendable {
  private let byName: [String: any Zone]
  /// Each once, whatever names it has.
  let all: [any Zone]

  /// Zones of a caller's.
  package init(_ zones: [String: any Zone]) {
    byName = zones
    all = Array(zones.values)
  }

  /// The zone of a name; nil if there is none.
  subscript(name: String) -> (any Zone)? { byName[name] }

  /// How many names there are.
  package var count: Int { byName.count }

  // MARK: The system's

  /// Those of the package tzdata, read once, when they are needed first: hundreds of small files. None
  /// without the package.
  package static let system = TimeZones(folder: "/usr/share/zoneinfo")

  /// Bounds of what is read: the package has 600 names, of files below 4 KB.
  private static let (mostNames, largestFile, deepest) = (2000, 64 << 10, 3)

  private init(folder: String) {
    BlockingCall.assertAllowed()
    var (named, files): ([String: any Zone], [[UInt8]: ZoneFile]) = ([:], [:])
    for name in Self.names(in: folder) {
      guard let bytes = Self.read("\(folder)/\(name)") else { continue }
      guard let zone = files[bytes] ?? ZoneFile(bytes) else { continue }
      files[bytes] = zone
      named[name] = zone
    }
    byName = named
    all = Array(files.values)
  }

  /// The files in a folder and the folders in it. Names of zones begin with a capital letter and have no dot;
  /// `posix` and `right` have the same ones again.
  private static func names(in folder: String, _ path: String = "", depth: Int = 1) -> [String] {
    guard let directory = opendir(path.isEmpty ? folder : "\(folder)/\(path)") else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory), names.count < mostNames {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let first = name.utf8.first, (65...90).contains(first), !name.contains(".") else { continue }
      let inner = path.isEmpty ? name : "\(path)/\(name)"
      var info = stat()
      guard stat("\(folder)/\(inner)", &info) == 0 else { continue }
      switch info.st_mode & S_IFMT {
      case S_IFREG: names.append(inner)
      case S_IFDIR where depth < deepest: names += self.names(in: folder, inner, depth: depth + 1)
      default: break
      }
    }
    return Array(names.prefix(mostNames))
  }

  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: largestFile)
    let count = Glibc.read(descriptor, &bytes, largestFile)
    return count > 0 && count < largestFile ? Array(bytes[0..<count]) : nil
  }
}
