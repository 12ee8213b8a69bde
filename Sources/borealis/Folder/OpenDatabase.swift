import Glibc

/// Which file something is, whatever its name.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// `look` is `stat` or `fstat`; nil if it fails (`errno` says why).
  init?(_ look: (inout stat) -> Int32) {
    var status = stat()
    guard look(&status) == 0 else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }
}

/// The files that this process has open as its database. SQLite does not notice when they are removed or
/// replaced under a running server, as by a restore without a stop: it writes on into files that no path
/// leads to, and what was answered with 200 is lost.
struct OpenDatabase: Sendable {
  private let files: [(path: String, identity: FileIdentity)]

  /// Of a database that this process has locked and has open in WAL mode: while it is open, SQLite replaces
  /// none of them.
  init(_ path: String) {
    files = [path, path + "-wal", path + "-shm"].compactMap { name in
      let identity = name == path ? DatabaseLock(path)?.identity : FileIdentity { stat(name, &$0) }
      return identity.map { (name, $0) }
    }
  }

  /// The first one whose path leads elsewhere by now, or nowhere.
  var lostFile: String? {
    files.first { file in
      guard let now = FileIdentity({ stat(file.path, &$0) }) else {
        return errno == ENOENT || errno == ENOTDIR
      }
      return now != file.identity
    }?.path
  }
}
