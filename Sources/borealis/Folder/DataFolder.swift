import BorealisBase
import Console
import Glibc
import Storage

/// The files by which a server keeps others out of its folder, open and locked. Processes that have them open
/// together share the locks, which last until all of them have ended.
struct FolderLocks {
  let folder: Int32
  let database: Int32
}

/// The folder that holds all that a server keeps; of the database in PostgreSQL, if one is named, only what
/// belongs to it.
struct DataFolder {
  let path: String
  /// Where the database is.
  let location: Store.Location
  /// What the server on the folder has, if this process is it and carries out a command of another one.
  private(set) var served: ServedStore?

  /// The file of the database, if it is one.
  var file: String { path + "/borealis.sqlite" }

  static let settings = [
    SettingDefinition(
      name: "data", valueName: "DIR", help: "The folder of the database.", kind: .text),
    SettingDefinition(
      name: "store", valueName: "URL",
      help:
        "A database of PostgreSQL, such as postgres://borealis@db.example.com/borealis, instead of a file in DIR.",
      kind: .secret),
  ]

  /// A folder with a file, or with what belongs to a database elsewhere.
  init(path: String, location: Store.Location? = nil) {
    self.path = path
    self.location = location ?? .sqlite(path: path + "/borealis.sqlite")
  }

  /// The folder that `--data` names, with the database that `--store` names, if it does.
  init(_ input: Input) throws(Failure) {
    if let served = input.served {
      self = served
      return
    }
    var path = try input.required("data")
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
    guard let url = input.settings.text("store") else {
      location = .sqlite(path: path + "/borealis.sqlite")
      return
    }
    guard let database = Store.Location(url: url) else {
      throw .usage(
        "--store: expected a URL such as postgres://borealis@db.example.com/borealis; a password has %40 for @, %2F for /, %3F for ?"
      )
    }
    location = database
  }

  /// The same for commands that the server on the folder carries out.
  func served(by store: ServedStore) -> DataFolder {
    var folder = self
    folder.served = store
    return folder
  }

  /// Has the server apply what a command has changed, if it carries one out.
  func learnChanges() { served?.learnChanges() }

  /// What messages call the database.
  var database: String { location.name }

  /// Whether the database is a file in the folder.
  var holdsDatabase: Bool {
    if case .sqlite = location { true } else { false }
  }

  /// The size of the file of the database with its log, and the room that its disk has left; nil if there is
  /// no such file, or the system does not say.
  var fileSizes: ConsoleDatabase.File? {
    var (space, facts) = (statvfs(), stat())
    guard holdsDatabase, statvfs(path, &space) == 0, stat(file, &facts) == 0 else { return nil }
    let bytes = Int64(facts.st_size)
    let log = stat(file + "-wal", &facts) == 0 ? Int64(facts.st_size) : 0
    return ConsoleDatabase.File(
      bytes: bytes + log, freeBytes: Int64(clamping: UInt64(space.f_bavail) &* UInt64(space.f_frsize)))
  }

  /// Makes the folder, for its owner only, unless it is there.
  func create() throws(Failure) {
    guard mkdir(path, 0o700) != 0 else { return }
    let number = errno
    guard number == EEXIST, isFolder else {
      let reason = number == EEXIST ? "it is not a folder" : SystemCalls.reason(number)
      throw .failed("cannot create \(path): \(reason)")
    }
  }

  private var isFolder: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Makes the database unless it is there, and keeps other servers out of it until this process ends; one in
  /// PostgreSQL does that by itself when it is opened. The file `lock` keeps those out that make a database
  /// at the same time; the database itself is locked too, since `lock` may be removed. It also says which
  /// secret key file this server reads, for commands beside it.
  func lock(reading keys: SecretKeyFile) throws(Failure) -> FolderLocks? {
    let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .failed("cannot write in \(path): \(SystemCalls.reason(errno))") }
    // Never closed: the kernel lets go of the locks with the process, however it ends.
    try acquireLock { flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno }
    var locks: FolderLocks?
    if holdsDatabase {
      try makeDatabase()
      guard let lock = DatabaseLock(file) else {
        throw .failed("cannot open \(file): \(SystemCalls.reason(errno))")
      }
      try acquireLock { lock.acquire() }
      locks = FolderLocks(folder: descriptor, database: lock.descriptor)
    }
    note(keys, in: descriptor)
    return locks
  }

  /// Takes part in the locks of another server, whose place this process takes.
  func adopt(_ locks: FolderLocks, reading keys: SecretKeyFile) throws(Failure) {
    for (descriptor, path) in [(locks.folder, path + "/lock"), (locks.database, file)] {
      let (held, own) = (FileIdentity { fstat(descriptor, &$0) }, FileIdentity { stat(path, &$0) })
      guard held != nil, held == own else { throw .failed("the server has another folder than \(self.path)") }
    }
    DatabaseLock.share(locks.database, of: file)
  }

  /// Says which secret key file this server reads. Empty for the usual file, so that the folder may have
  /// another name elsewhere. Without room on the disk it says that, too.
  func note(_ keys: SecretKeyFile, in lock: Int32) {
    let name = keys.path == SecretKeyFile(in: self).path ? [] : Array(keys.absolutePath.utf8)
    guard ftruncate(lock, 0) == 0 else { return }
    _ = pwrite(lock, name, name.count, 0)
  }

  /// The secret key file that the server reads which uses the folder now, if one does.
  func servedKeyFile() -> SecretKeyFile? {
    if let served { return served.keys }
    guard isServed, let name = SmallFiles.read(path + "/lock") else { return nil }
    return name.isEmpty ? SecretKeyFile(in: self) : SecretKeyFile(path: name)
  }

  private func acquireLock(_ attempt: () -> Int32) throws(Failure) {
    BlockingCall.assertAllowed()
    for _ in 1...Self.lockAttempts {
      if try hasAcquired(attempt()) { return }
      // A look by `isServed` takes microseconds.
      usleep(10_000)
    }
    throw .failed("another server uses \(path); stop it first")
  }

  private static let lockAttempts = 3

  /// What an attempt to lock came to, 0 or a negated errno: false if another process has the lock.
  func hasAcquired(_ status: Int32) throws(Failure) -> Bool {
    guard status == 0 || status == -EWOULDBLOCK else {
      throw .failed("cannot lock \(path): \(SystemCalls.reason(-status))")
    }
    return status == 0
  }

  /// Whether a server uses the folder now.
  var isServed: Bool {
    if holdsDatabase, let lock = DatabaseLock(file), lock.isHeld { return true }
    let descriptor = open(path + "/lock", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    // Closing releases a lock that was free.
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// Whether a server may use the database: one in PostgreSQL may run on another machine.
  var mayBeServed: Bool { served != nil || !holdsDatabase || isServed }

  /// Makes the file of the database unless it is there.
  func makeDatabase() throws(Failure) {
    guard holdsDatabase else { return }
    do throws(StorageError) { try Store.make(path: file) } catch {
      throw Self.failure("cannot create \(file)", error)
    }
    try expectDatabase()
  }

  /// The file of the database must have the schema of this program.
  func expectSchema() throws(Failure) {
    try expectDatabase()
    do throws(StorageError) { try Store.expectSchema(ofFile: file) } catch {
      guard case .olderThanProgram(let found, let known) = error.kind else { throw openFailure(error) }
      throw .failed(
        "this version has another database schema (\(known) instead of \(found)), which an ordinary start brings: restart the server"
      )
    }
  }

  /// The file of the database must be there already.
  func expectDatabase() throws(Failure) {
    guard holdsDatabase else { return }
    var status = stat()
    guard stat(file, &status) == 0 else {
      throw .failed(
        "there is no database in \(path); \"borealis serve\" or \"borealis init\" makes one")
    }
    guard status.st_size > 0 else {
      throw .failed(
        "\(file) has 0 bytes, so it has lost all that it held: restore it from a backup, or remove it to begin anew"
      )
    }
  }

  func openStore(readers: Int, log: Log, options: Store.Options = Store.Options()) throws(Failure) -> Store {
    do throws(StorageError) {
      return try Store.open(location, readers: readers, log: log, options: options)
    } catch {
      // For a home beside others that passes, and nobody is to stop anything.
      if error.kind == .inUse, options.home != nil { throw .failed("for now \(error.message)") }
      throw openFailure(error)
    }
  }

  /// Why the database cannot be opened.
  func openFailure(_ error: StorageError) -> Failure {
    switch error.kind {
    case .inUse: .failed("another server uses \(database); stop it first")
    case .io where !holdsDatabase: .failed("cannot reach \(database): \(error.message)")
    default: Self.failure("cannot open \(database)", error)
    }
  }

  static func failure(_ what: String, _ error: StorageError) -> Failure {
    switch error.kind {
    case .newerThanProgram(let found, let known):
      .failed(
        "\(what): a newer version of Borealis wrote it (schema \(found); this version knows up to \(known)). Install that version"
      )
    case .olderThanProgram(let found, let known):
      .usage(
        "\(what): an older version of Borealis wrote it (schema \(found); this version needs \(known)). Use that version, or upgrade it with \"borealis serve\" of this one"
      )
    case .migrationChanged(let version):
      .failed("\(what): another build of Borealis created it (migration \(version) differs). Use that build")
    case .diskFull: .failed("\(what): the disk is full")
    case .readOnly: .failed("\(what): permission denied")
    default: .failed("\(what): \(error.message)")
    }
  }
}
