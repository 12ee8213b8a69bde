import BorealisBase
import Glibc
import Synchronization

extension Store {
  /// Why the last commits failed, if an operator has to act; nil without a problem. It ends when `probe`
  /// finds that the database can be written again; damage stays until the store is opened again.
  package var failure: StorageError.Kind? { statistics.failure }

  /// Nanoseconds after which a transaction under way is one that takes too long: a commit without an answer
  /// is looked into then.
  static let mostTime: UInt64 = 10_000_000_000

  /// Why nothing can be stored at the moment, for people, without a path; nil if it can, as far as is known.
  package var obstacle: String? {
    let now = statistics
    if let failure = now.failure { return failure.explanation }
    guard let begun = now.begun, time.monotonic() &- begun > Self.mostTime else { return nil }
    return "the database takes longer than ten seconds"
  }

  /// Free space that ends the state of a full disk: with less, the next push to many would fail again.
  private static let roomNeeded = 1 << 20

  /// Calls of `probe` without a commit in between after which a connection is tried.
  private static let quietCalls = 5

  /// After a failed commit: tries whether the database can be written again. Call it once a second, as there
  /// may be no other work that would show it; nor would it show that a connection is lost, which is tried now
  /// and then.
  package func probe() {
    guard failure != .corrupt, failure != nil || isQuiet() else { return }
    let hasFailed = failure != nil
    write { [location] transaction throws(StorageError) in
      guard case .sqlite(let path) = location else {
        // The commit alone shows that the connection is there, and finds its few bytes on a full disk, too.
        return hasFailed ? try transaction.findRoom(Self.roomNeeded) : ()
      }
      try Self.findRoom(beside: path)
      try transaction.rewriteFirstMigration()
    } completion: { [weak self] result in
      if case .success = result { self?.noteGoodProbe() }
    }
  }

  /// Whether the connection, if there is one, was not used for some calls.
  private func isQuiet() -> Bool {
    guard case .postgres = location else { return false }
    let now = statistics
    return quiet.withLock { quiet in
      let tried = now.commits + now.failedCommits
      quiet = quiet.tried == tried ? (tried, quiet.calls + 1) : (tried, 0)
      return quiet.calls % Self.quietCalls == Self.quietCalls - 1 && now.waiting == 0
    }
  }

  /// Writes an unnamed temporary file: free space alone would not show quotas.
  private static func findRoom(beside path: String) throws(StorageError) {
    let name = path + "-probe"
    let descriptor = Glibc.open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StorageError(errno == EROFS ? .readOnly : .io, "cannot make a file (errno \(errno))")
    }
    defer { Glibc.close(descriptor) }
    unlink(name)
    let zeros = [UInt8](repeating: 0, count: 64 * 1024)
    for offset in stride(from: 0, to: roomNeeded, by: zeros.count)
    where pwrite(descriptor, zeros, zeros.count, off_t(offset)) != zeros.count {
      throw StorageError(.diskFull, "there is no room yet")
    }
  }
}

extension StorageError.Kind {
  /// Whether commits keep failing until an operator, or the disk, changes something.
  var isStoreFailure: Bool {
    switch self {
    case .diskFull, .readOnly, .io, .corrupt, .takenOver, .commitsLost: true
    default: false
    }
  }

  /// Whether only another start may change it.
  var isLasting: Bool { [.corrupt, .takenOver, .commitsLost].contains(self) }

  /// For people, without a path.
  package var explanation: String {
    switch self {
    case .diskFull: "the disk is full"
    case .readOnly: "the database cannot be written"
    case .corrupt: "the database is damaged"
    case .takenOver: "another server has taken over the database"
    case .commitsLost: "the database has lost what it had confirmed"
    default: "writing to the database fails"
    }
  }
}

extension WriteTransaction {
  /// Writes so many bytes and takes them back.
  fileprivate func findRoom(_ bytes: Int) throws(StorageError) {
    try database.run("SAVEPOINT room")
    // Random ones, which PostgreSQL can only store as they are.
    try database.run(
      "INSERT INTO delivered (msg_id, targets) VALUES (?, ?)", .integer(-1), .blob(SystemRandom.bytes(bytes)))
    try database.run("ROLLBACK TO SAVEPOINT room")
  }

  /// Changes nothing, and writes a page all the same.
  fileprivate func rewriteFirstMigration() throws(StorageError) {
    try database.run("UPDATE schema_migration SET name = name WHERE version = 1")
  }
}
