import Glibc
import PushBase
import PushOps
import PushStorage

/// The folder that holds all that a server keeps.
struct DataFolder {
  let path: String

  /// Where the database is.
  var database: String { path + "/borealis.sqlite" }

  static let setting = SettingDefinition(
    name: "data", valueName: "DIR", help: "The folder that holds the database.", kind: .text)

  /// The folder that `--data` names.
  init(_ input: Input) throws(Failure) {
    var path = try input.required("data")
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
  }

  /// Makes the folder, for its owner only, unless it is there.
  func create() throws(Failure) {
    guard mkdir(path, 0o700) != 0 else { return }
    let number = errno
    guard number == EEXIST, isFolder else {
      let reason = number == EEXIST ? "it is no folder" : SystemCalls.reason(number)
      throw .failed("cannot make \(path): \(reason)")
    }
  }

  private var isFolder: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Keeps other servers out of the folder until this process ends.
  func lock() throws(Failure) {
    let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .failed("cannot write in \(path): \(SystemCalls.reason(errno))") }
    // Never closed: the kernel lets go of the lock with the process, however it ends.
    for _ in 1...Self.lockAttempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      let number = errno
      guard number == EWOULDBLOCK else {
        close(descriptor)
        throw .failed("cannot lock \(path): \(SystemCalls.reason(number))")
      }
      // A look by `isServed` takes microseconds.
      usleep(10_000)
    }
    close(descriptor)
    throw .failed("another server uses \(path)")
  }

  private static let lockAttempts = 3

  /// Whether a server uses the folder now.
  var isServed: Bool {
    let descriptor = open(path + "/lock", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    // Closing gives back a lock that was free.
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// The database must be there already.
  func expectDatabase() throws(Failure) {
    guard access(database, F_OK) == 0 else {
      throw .failed(
        "there is no database in \(path); \"borealis app create\" or \"borealis serve\" makes one")
    }
  }

  func openStore(readers: Int, log: Log, options: Store.Options = Store.Options()) throws(Failure) -> Store {
    do throws(StorageError) {
      return try Store.open(path: database, readers: readers, log: log, options: options)
    } catch {
      throw Self.failure("cannot open \(database)", error)
    }
  }

  static func failure(_ what: String, _ error: StorageError) -> Failure {
    switch error.kind {
    case .newerThanProgram(let found, let known):
      .failed("\(what): a newer program wrote it (schema \(found), this program knows \(known))")
    case .migrationChanged(let version):
      .failed("\(what): it was made by another build (migration \(version) differs)")
    case .diskFull: .failed("\(what): the disk is full")
    case .readOnly: .failed("\(what): permission denied")
    default: .failed("\(what): \(error.message)")
    }
  }
}
